"""ComfyUI's stock front end from `comfyui-frontend-package`, and the plugin's panel beside it.

Serves the page, its files, and the list of modules that the page imports: the front end's own
extensions and every `.js` below the plugin's `web/` folder, as ComfyUI does.
"""

import asyncio
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
    """Page, modules and files. The last route matches every path, so add these routes last."""
    static = frontend_folder()
    web_folder = plugin_root / "web"

    async def page(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(static / "index.html", headers={"Cache-Control": NO_STORE})

    async def extensions(request: web.Request) -> web.Response:
        core = module_paths(static / "extensions", "/extensions")
        ours = module_paths(web_folder, f"/extensions/{quote(plugin_root.name)}")
        return web.json_response([*core, *ours])

    async def extension_file(request: web.Request) -> web.StreamResponse:
        # `web.static` does not match a prefix that has quoted characters.
        owner, name = request.match_info["owner"], request.match_info["name"]
        folder = web_folder if owner == plugin_root.name else static / "extensions" / owner
        return await file_below(folder, name)

    async def no_user_style(request: web.Request) -> web.Response:
        return web.Response(content_type="text/css")

    return [
        web.get("/", page),
        web.get("/extensions", extensions),
        web.get("/api/extensions", extensions),
        web.get("/extensions/{owner}/{name:.+}", extension_file),
        web.get("/user.css", no_user_style),
        web.get("/api/userdata/user.css", no_user_style),
        web.static("/", static),
    ]


async def file_below(folder: Path, name: str) -> web.FileResponse:
    """The file `name` of that folder; 404 when there is none or it would lie elsewhere."""
    path = await asyncio.to_thread(find_below, folder, name)
    if path is None:
        raise web.HTTPNotFound
    return web.FileResponse(path)


def find_below(folder: Path, name: str) -> Path | None:
    if "\0" in name:
        return None
    path = (folder / name).resolve()
    return path if folder.resolve() in path.parents and path.is_file() else None
