"""The routes of the engine that the preview lacks: an empty queue, no models, an error for a run.

The front end requests these routes when it starts and when the user presses Run. The responses have
the shapes of ComfyUI 0.33. `userdata` has the routes of files and settings, `catalog` the node
definitions.
"""

import json
import platform
import uuid
from typing import Any

import psutil
from aiohttp import WSCloseCode, WSMsgType, web

NO_ENGINE = (
    "The preview cannot run workflows: it has ComfyUI's canvas but not its engine."
    " Install the plugin into ComfyUI to run this one."
)
HEARTBEAT = 30  # seconds between pings, so that a sleeping laptop's socket is noticed
MODEL_FOLDERS = (
    "checkpoints",
    "clip_vision",
    "controlnet",
    "diffusion_models",
    "embeddings",
    "loras",
    "style_models",
    "text_encoders",
    "upscale_models",
    "vae",
)
UPLOAD_LIMIT = 100 * 1024 * 1024  # bytes; ComfyUI's own default, which the front end shows
JOBS_PER_PAGE = 200  # as the front end requests; it refuses a page without a number
EMPTY_QUEUE = {"exec_info": {"queue_remaining": 0}}
# Routes whose response is constant here: nothing is installed and nothing has run.
CONSTANT: dict[str, Any] = {
    "/prompt": EMPTY_QUEUE,
    "/queue": {"queue_running": [], "queue_pending": []},
    "/history": {},
    "/embeddings": [],
    "/i18n": {},
    "/models": list(MODEL_FOLDERS),
    "/experiment/models": [{"name": name, "folders": []} for name in MODEL_FOLDERS],
    "/workflow_templates": {},
    "/node_replacements": {},
    "/global_subgraphs": {},
    "/features": {"supports_preview_metadata": True, "max_upload_size": UPLOAD_LIMIT},
    "/internal/folder_paths": {},
    **{f"/internal/files/{folder}": [] for folder in ("input", "output", "temp")},
    "/internal/logs/raw": {"entries": [], "size": {"cols": 80, "rows": 24}},
}


OPEN_SOCKETS = web.AppKey("open_sockets", set[web.WebSocketResponse])


async def connect(request: web.Request) -> web.WebSocketResponse:
    """ComfyUI's socket: sends one `status`, and answers the front end's feature flags."""
    socket = web.WebSocketResponse(heartbeat=HEARTBEAT)
    await socket.prepare(request)
    request.app[OPEN_SOCKETS].add(socket)
    try:
        await converse(request, socket)
    finally:
        request.app[OPEN_SOCKETS].discard(socket)
    return socket


async def converse(request: web.Request, socket: web.WebSocketResponse) -> None:
    session = request.query.get("clientId") or uuid.uuid4().hex
    await socket.send_json({"type": "status", "data": {"status": EMPTY_QUEUE, "sid": session}})
    async for message in socket:
        if message.type is WSMsgType.TEXT and asks_for_features(message.data):
            await socket.send_json({"type": "feature_flags", "data": CONSTANT["/features"]})


async def close_sockets(app: web.Application) -> None:
    """Closes all sockets when the server stops, so that an open page does not delay the stop."""
    for socket in app[OPEN_SOCKETS].copy():
        await socket.close(code=WSCloseCode.GOING_AWAY)


def asks_for_features(text: str) -> bool:
    try:
        message = json.loads(text)
    except ValueError:
        return False
    return isinstance(message, dict) and message.get("type") == "feature_flags"


async def refuse_to_run(request: web.Request) -> web.Response:
    """Answers every run with the error that the front end shows, in ComfyUI's own shape."""
    error = {
        "type": "preview_has_no_engine",
        "message": NO_ENGINE,
        "details": "",
        "extra_info": {},
    }
    return web.json_response({"error": error, "node_errors": {}}, status=400)


async def list_jobs(request: web.Request) -> web.Response:
    page = {"offset": 0, "limit": JOBS_PER_PAGE, "total": 0, "has_more": False}
    return web.json_response({"jobs": [], "pagination": page})


async def list_models(request: web.Request) -> web.Response:
    """The model files of a folder: no files in a known folder, 404 for an unknown folder, as in
    ComfyUI."""
    if request.match_info["folder"] not in MODEL_FOLDERS:
        raise web.HTTPNotFound
    return web.json_response([])


async def nothing_to_stop(request: web.Request) -> web.Response:
    return web.Response()


def system_stats(comfyui_version: str) -> dict[str, Any]:
    """The facts for the front end's About page. The preview has no compute device."""
    memory = psutil.virtual_memory()
    return {
        "system": {
            "os": platform.system().lower(),
            "ram_total": memory.total,
            "ram_free": memory.available,
            "comfyui_version": f"{comfyui_version} (preview)",
            "python_version": platform.python_version(),
            "pytorch_version": "none",
            "embedded_python": False,
            "argv": [],
        },
        "devices": [],
    }


def routes(comfyui_version: str, nodes: dict[str, Any]) -> list[web.RouteDef]:
    """All routes of the missing engine, without `/api`."""

    async def stats(request: web.Request) -> web.Response:
        return web.json_response(system_stats(comfyui_version))

    async def object_info(request: web.Request) -> web.Response:
        return web.json_response(nodes)

    async def one_object_info(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        return web.json_response({name: nodes[name]} if name in nodes else {})

    return [
        web.get("/ws", connect),
        web.get("/system_stats", stats),
        web.get("/object_info", object_info),
        web.get("/object_info/{name}", one_object_info),
        web.get("/jobs", list_jobs),
        web.get("/models/{folder}", list_models),
        web.get("/experiment/models/{folder}", list_models),
        web.post("/prompt", refuse_to_run),
        *(
            web.post(path, nothing_to_stop)
            for path in ("/interrupt", "/queue", "/history", "/free")
        ),
        *(constant(path, value) for path, value in CONSTANT.items()),
    ]


def constant(path: str, value: Any) -> web.RouteDef:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(value)

    return web.get(path, answer)
