"""A ComfyUI extension for tests: answers what the plugin's port to ComfyUI gives inside ComfyUI."""

import sys
from typing import Any

from aiohttp import web

NODE_CLASS_MAPPINGS: dict[str, Any] = {}


def _port() -> Any:
    import folder_paths
    import nodes
    from app import logger
    from server import PromptServer

    name = next(name for name in sys.modules if name.endswith(".assistant.comfyui"))
    return sys.modules[name].ComfyUI(PromptServer.instance, folder_paths, nodes, None, logger)


async def probe(request: web.Request) -> web.Response:
    port = _port()
    run = port.run(request.query.get("run", ""))
    return web.json_response(
        {
            "definition": port.node_definitions()["KSampler"],
            "folders": sorted(port.model_folders()),
            "files": list(port.model_files("checkpoints")),
            "waiting": list(port.queue().waiting),
            "running": list(port.queue().running),
            "run": run and {"state": run.state, "outputs": run.outputs},
            "log": list(port.log() or ()),
        }
    )


def _serve() -> None:
    from server import PromptServer

    PromptServer.instance.routes.get("/port-probe")(probe)


if "server" in sys.modules:
    _serve()
