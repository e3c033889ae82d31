"""ComfyUI imports this file: it names the panel's folder and adds the nodes and the routes.

Outside ComfyUI (pytest imports this file too) there is no module `server`, and nothing is added. A
failure while the plugin loads becomes one line in ComfyUI's log and leaves ComfyUI running.
"""

import importlib.util
import logging
import os
import sys
from pathlib import Path
from typing import Any

WEB_DIRECTORY = "./web"
NODE_CLASS_MAPPINGS: dict[str, Any] = {}
NODE_DISPLAY_NAME_MAPPINGS: dict[str, str] = {}

__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS", "WEB_DIRECTORY"]


def _comfyui_version() -> str | None:
    try:
        from comfyui_version import __version__
    except ImportError:
        return None
    return str(__version__)


def _logger() -> Any:
    """ComfyUI's module that keeps its log; None where this ComfyUI has none."""
    try:
        from app import logger
    except ImportError:
        return None
    return logger


def _connect() -> None:
    import folder_paths
    import nodes as comfyui_nodes
    from server import PromptServer

    from .assistant.startup import Startup
    from .nodes import node_mappings

    server = PromptServer.instance

    def make() -> Any:
        from .assistant.comfyui import ComfyUI, assistant_in

        comfyui = ComfyUI(server, folder_paths, comfyui_nodes, _comfyui_version(), _logger())
        return assistant_in(comfyui, Path(__file__).resolve().parent, os.environ, startup.routes)

    startup = Startup(make)

    async def start(app: Any) -> None:
        startup.start()

    async def close(app: Any) -> None:
        await startup.close()

    for route in startup.routes:
        # Method, path and handler only: ComfyUI does not start when a route has more than these.
        # ComfyUI itself adds `/api` to the paths.
        server.routes.route(route.method, route.path)(route.handler)
    server.app.on_startup.append(start)
    server.app.on_cleanup.append(close)
    classes, display_names = node_mappings(startup)
    NODE_CLASS_MAPPINGS.update(classes)
    NODE_DISPLAY_NAME_MAPPINGS.update(display_names)


if __package__ and ("server" in sys.modules or importlib.util.find_spec("server")):
    try:
        _connect()
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        logging.getLogger("comfyui_assistant").error(
            "ComfyUI Assistant could not load and stays off: %s",
            reason.encode("ascii", "replace").decode(),
        )
