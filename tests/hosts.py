"""Servers that tests talk to: the preview with the assistant in it, in a thread of this process.

    with running_preview({"OPENAI_BASE_URL": provider.url}, tmp_path) as url:
        ...  # url is "http://127.0.0.1:<port>", the page of the stock front end

The assistant sees only the environment that it is given, and no `.env`, so a test never meets the
developer's keys. Everything it stores goes below the given folder.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

from aiohttp import web
from plugin.preview import frontend
from plugin.preview.catalog import Catalog
from plugin.preview.comfyui import PreviewComfyUI
from plugin.preview.server import create_app, serve
from plugin.preview.site import create_site
from plugin.tests.links import link_folder

NO_COMFYUI = PreviewComfyUI(Catalog("", {}))
"""A port to a ComfyUI that has no nodes, no models and no queue."""
ROOT = Path(__file__).resolve().parent.parent
SERVED = ("web", "system_context", "user_context")
START_LIMIT = 30.0  # seconds until a start counts as failed
STOP_LIMIT = 15.0  # seconds


@contextmanager
def running_preview(environ: Mapping[str, str], folder: Path, port: int = 0) -> Iterator[str]:
    """Serve the preview; yields its URL and stops it, with all that it started.

    `port` 0 chooses a free port; the port of a stopped preview makes this preview its restart.
    """
    root = plugin_without_settings(folder / "plugin")
    with running_app(lambda: create_app(root, folder / "data", environ), port) as url:
        yield url


@contextmanager
def running_canvas(catalog: Catalog, folder: Path) -> Iterator[str]:
    """Serve the stock front end with these node definitions and without our panel and routes."""
    root = folder / "no-plugin"

    def make() -> web.Application:
        site = create_site(root, folder / "user", folder / "files", catalog)
        site.add_routes(frontend.routes(root))
        return site

    with running_app(make) as url:
        yield url


@contextmanager
def running_app(make: Callable[[], web.Application], port: int = 0) -> Iterator[str]:
    """Serve an application in a thread; yields its URL and stops it."""
    ready: Future[int] = Future()
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = loop.create_task(serve(make(), "127.0.0.1", port, ready.set_result))
        running.set_result((loop, server))
        with suppress(asyncio.CancelledError):
            await server

    def thread_body() -> None:
        try:
            asyncio.run(run())
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = threading.Thread(target=thread_body, name="preview", daemon=True)
    thread.start()
    served = ready.result(START_LIMIT)
    try:
        yield f"http://127.0.0.1:{served}"
    finally:
        loop, server = running.result()
        loop.call_soon_threadsafe(server.cancel)
        thread.join(STOP_LIMIT)
        assert not thread.is_alive(), "The preview did not stop."


def plugin_without_settings(root: Path) -> Path:
    """A plugin folder with the files of this checkout that the preview serves or reads, without its
    `.env`."""
    root.mkdir(parents=True, exist_ok=True)
    for name in SERVED:
        link = root / name
        if not link.exists() and (ROOT / name).exists():
            link_folder(link, ROOT / name)
    return root
