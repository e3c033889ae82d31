"""Makes an aiohttp application with ComfyUI's routes, without ComfyUI's engine.

`server` adds the assistant's routes. As in ComfyUI, requests of foreign origins are refused, and a
content security policy keeps the page from calling other hosts.
"""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from aiohttp import web

from . import engine, frontend, templates
from .catalog import Catalog
from .uploads import Uploads
from .userdata import UserData

BODY_LIMIT = 100 * 1024 * 1024  # bytes, ComfyUI's own default
# ComfyUI's policy, except that images and videos may come from other hosts: the panel must load
# them only when the user allows it, and a stricter policy would hide a fault of the panel.
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob: http: https:",
        "media-src 'self' data: blob: http: https:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self'",
        "object-src 'none'",
    ]
)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def refuse_foreign_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses requests that a page of another site makes in the user's browser."""
    if request.headers.get("Sec-Fetch-Site") == "cross-site" and not is_navigation(request):
        raise web.HTTPForbidden(text="Requests from other sites are refused.")
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"{request.scheme}://{request.host}":
        raise web.HTTPForbidden(text="Requests from other sites are refused.")
    return await handler(request)


def is_navigation(request: web.Request) -> bool:
    """True for a page that is opened by a link of another site, which is allowed."""
    return request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.setdefault("Content-Security-Policy", POLICY)
    if request.path.startswith("/extensions/"):
        response.headers["Cache-Control"] = frontend.NO_STORE


def create_site(
    plugin_root: Path, user_folder: Path, uploads_folder: Path, catalog: Catalog
) -> web.Application:
    """ComfyUI's pages and routes for the plugin at `plugin_root`; settings and saved workflows go
    to `user_folder`, uploaded files to `uploads_folder`."""
    uploads = Uploads(uploads_folder)
    site = web.Application(middlewares=[refuse_foreign_pages], client_max_size=BODY_LIMIT)
    site[engine.OPEN_SOCKETS] = set()
    site.on_response_prepare.append(add_headers)
    site.on_startup.append(uploads.remove_temporary)
    site.on_shutdown.append(engine.close_sockets)
    bare = [
        *engine.routes(catalog.version, catalog.nodes),
        *UserData(user_folder).routes(),
        *uploads.routes(),
        *templates.routes(),
    ]
    site.add_routes(under_api(bare))
    site.add_routes(bare)
    return site


def under_api(bare: Iterable[web.RouteDef]) -> list[web.RouteDef]:
    """The same routes below `/api`, as ComfyUI serves each of its routes a second time."""
    return [
        web.RouteDef(route.method, f"/api{route.path}", route.handler, route.kwargs)
        for route in bare
    ]
