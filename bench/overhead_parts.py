"""The other processes of `overhead.py`: the model's server, and the preview as users run it.

    python bench/overhead_parts.py provider
    python bench/overhead_parts.py server FOLDER PROVIDER_URL

Each prints its port when it answers, and runs until it is killed.
"""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()

import asyncio  # noqa: E402  the package has its name only now
import importlib  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

from aiohttp import web  # noqa: E402

HOST_LIBRARIES = (
    "aiohttp.web",
    "sqlalchemy.orm",
    "sqlalchemy.dialects.sqlite",
    "pydantic.main",
    "pydantic.type_adapter",
    "PIL.Image",
    "alembic.command",
    "alembic.config",
    "jinja2",
    "yaml",
)
"""What ComfyUI 0.33 has imported before it imports its plugins, of what the assistant needs or
what takes time; looked up in `sys.modules` of a plugin that was imported there."""
CHUNK_WORD = "word "
STALL_STEP = 0.005
"""Seconds between two looks at the clock of the loop."""


async def complete(request: web.Request) -> web.StreamResponse:
    """An answer whose first word is the time at which the request was read, in nanoseconds of the
    monotonic clock. A prompt that ends in `chunks=N` gets N words."""
    body = await request.json()
    read_at = time.monotonic_ns()
    asked = str(body["messages"][-1]["content"])
    count = int(asked.rpartition("chunks=")[2].split()[0]) if "chunks=" in asked else 1
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(_chunk({"role": "assistant", "content": f"{read_at} "}))
    for _ in range(count - 1):
        await response.write(_chunk({"content": CHUNK_WORD}))
    await response.write(_chunk({}, "stop") + b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    body = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def provider() -> web.Application:
    app = web.Application(client_max_size=64 * 1024**2)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get(
        "/v1/models", lambda request: _json({"data": [{"id": "scripted", "object": "model"}]})
    )
    return app


async def _json(body: Any) -> web.Response:
    return web.json_response(body)


def server(folder: Path, provider_url: str) -> web.Application:
    """The preview, and what the benchmark asks of its process: CPU seconds, and the longest time
    for which the loop did not run."""
    for name in HOST_LIBRARIES:
        importlib.import_module(name)
    from plugin.preview.server import create_app

    environ = {
        "OPENAI_BASE_URL": provider_url,
        "OPENAI_MODEL": "scripted",
        "ASSISTANT_DISCOVER": "0",
    }
    app = create_app(ROOT, folder, environ)
    worst = [0.0]

    async def watch() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(STALL_STEP)
            worst[0] = max(worst[0], time.monotonic() - before - STALL_STEP)

    async def begin(app: web.Application) -> None:
        app["watch"] = asyncio.get_running_loop().create_task(watch())

    async def process(request: web.Request) -> web.Response:
        stall, worst[0] = worst[0], 0.0
        return web.json_response({"cpu": time.process_time(), "stall": stall})

    app.on_startup.insert(0, begin)
    app.router.add_get("/bench/process", process)
    return app


async def main(app: web.Application) -> None:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


PARTS: dict[str, Callable[..., web.Application]] = {"provider": provider, "server": server}

if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    made = server(Path(arguments[0]), arguments[1]) if name == "server" else provider()
    asyncio.run(main(made))
