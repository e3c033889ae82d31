"""ComfyUI's stock front end from `comfyui-frontend-package`, and the plugin's panel beside it.

Serves the page, its files, and the list of modules that the page imports: the front end's own
extensions and every `.js` below the plugin's `web/` folder, as ComfyUI does.
"""

from importlib import resources
from pathlib import Path
from urllib.parse import quote

from aiohttp import web

PACKAGE = "comfyui_frontend_package"
NO_STORE = "no-store, must-revalidate"


def frontend_folder() -> Path:
    """The installed package's static files. Raises `ModuleNotFoundError` without it."""
    return Path(str(resources.files(PACKAGE))) / "static"


def module_paths(folder: Path, url: str) -> list[str]:
    """URLs of all modules below `folder`, which is served at `url`; sorted, URL-quoted."""
    return sorted(
        f"{url}/{quote(path.relative_to(folder).as_posix())}" for path in folder.rglob("*.js")
    )


def routes(plugin_root: Path) -> list[web.AbstractRouteDef]:
    """Page, modules and files. The last route takes every path: add these routes last."""
    static = frontend_folder()
    web_folder = plugin_root / "web"
    # The path is matched as the client sends it, so that a folder's name may hold a space.
    plugin_url = f"/extensions/{quote(plugin_root.name)}"

    async def page(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(static / "index.html", headers={"Cache-Control": NO_STORE})

    async def extensions(request: web.Request) -> web.Response:
        core = module_paths(static / "extensions", "/extensions")
        return web.json_response([*core, *module_paths(web_folder, plugin_url)])

    async def no_user_style(request: web.Request) -> web.Response:
        return web.Response(content_type="text/css")

    return [
        web.get("/", page),
        web.get("/extensions", extensions),
        web.get("/api/extensions", extensions),
        web.get("/user.css", no_user_style),
        web.get("/api/userdata/user.css", no_user_style),
        web.static(f"/extensions/{plugin_root.name}", web_folder),
        web.static("/", static),
    ]
