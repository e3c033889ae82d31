"""ComfyUI's way in: the panel's folder, the nodes, and the routes on ComfyUI's own server.

Wiring only. Outside ComfyUI (pytest imports this file, too) there is no module `server`, and
nothing happens. Whatever fails while we load is one line in ComfyUI's log and leaves it running.
"""

import importlib.util
import logging
from typing import Any

WEB_DIRECTORY = "./web"
NODE_CLASS_MAPPINGS: dict[str, Any] = {}
NODE_DISPLAY_NAME_MAPPINGS: dict[str, str] = {}

__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS", "WEB_DIRECTORY"]

if __package__ and importlib.util.find_spec("server"):
    try:
        from .assistant.host import connect

        classes, names = connect()
        NODE_CLASS_MAPPINGS.update(classes)
        NODE_DISPLAY_NAME_MAPPINGS.update(names)
    except Exception as error:
        logging.getLogger("comfyui_assistant").error(
            "ComfyUI Assistant could not load and stays off: %s",
            ascii(f"{type(error).__name__}: {error}")[1:-1],
        )
