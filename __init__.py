"""ComfyUI imports this file: it names the panel's folder and adds the nodes and the routes.

Outside ComfyUI (pytest imports this file too) there is no module `server`, and nothing is added. A
failure while the plugin loads becomes one line in ComfyUI's log and leaves ComfyUI running.
"""

import importlib.util
import logging
import os
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

    from .assistant.comfyui import ComfyUI, connect
    from .nodes import node_mappings

    comfyui = ComfyUI(
        PromptServer.instance, folder_paths, comfyui_nodes, _comfyui_version(), _logger()
    )
    assistant = connect(Path(__file__).resolve().parent, comfyui, os.environ)
    classes, display_names = node_mappings(assistant)
    NODE_CLASS_MAPPINGS.update(classes)
    NODE_DISPLAY_NAME_MAPPINGS.update(display_names)


if __package__ and importlib.util.find_spec("server"):
    try:
        _connect()
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        logging.getLogger("comfyui_assistant").error(
            "ComfyUI Assistant could not load and stays off: %s",
            reason.encode("ascii", "replace").decode(),
        )
