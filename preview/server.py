"""The preview's server: the routes of `site`, `frontend` and the assistant on one port.

`scripts/run.py` starts it for users, and tests start it in a thread.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from ..assistant.startup import Startup
from . import frontend
from .catalog import load_catalog
from .comfyui import PreviewComfyUI
from .site import create_site, under_api

USER = "default"  # ComfyUI's name for the one user of an installation without --multi-user
ASSISTANT_FOLDER = "__assistant"  # ComfyUI's own name for a folder that its routes never serve
SHUTDOWN_SECONDS = 2.0  # time for open streams to end when the server stops


def create_app(root: Path, data: Path, environ: Mapping[str, str]) -> web.Application:
    """The whole preview for the plugin at `root`. Settings, files and chats go to `data`."""
    catalog = load_catalog()
    user_folder = data / "user"
    app = create_site(root, user_folder / USER, data / "files", catalog)

    def make() -> Any:
        # Imported when the server starts, as in ComfyUI.
        from ..assistant.app import Host, create_assistant

        host = Host(
            root=root,
            user_directory=user_folder / ASSISTANT_FOLDER,
            user_of=lambda request: USER,
            comfyui=PreviewComfyUI(catalog, user_folder / USER),
            comfyui_version=catalog.version,
            preview=True,
        )
        return create_assistant(host, environ)

    startup = Startup(make)

    async def start(app: web.Application) -> None:
        startup.start()

    async def close(app: web.Application) -> None:
        await startup.close()

    app.on_startup.append(start)
    # Before the server waits for open responses: closing the turns ends their streams.
    app.on_shutdown.append(close)
    app.add_routes(under_api(startup.routes))
    app.add_routes(frontend.routes(root))
    return app


async def serve(
    app: web.Application, host: str, port: int, on_ready: Callable[[int], None]
) -> None:
    """Serve until cancelled. `on_ready` gets the port (chosen by the system if `port` is 0).

    Raises `OSError` when the port cannot be opened.
    """
    # A packed body reaches its handler as it is: aiohttp would answer one that it cannot unpack
    # (brotli) before our routes see it, and not with JSON.
    runner = web.AppRunner(
        app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, auto_decompress=False
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        on_ready(runner.addresses[0][1])
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
