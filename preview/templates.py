"""Workflow templates for the preview's template browser, from `comfyui-workflow-templates-json`.

That package has the workflows and their index. Their pictures are in other, large packages, so a
request for a picture gets a plain tile.
"""

from importlib import resources
from pathlib import Path

from aiohttp import web

from .frontend import file_below

PACKAGE = "comfyui_workflow_templates_json"
PICTURES = frozenset({".webp", ".png", ".jpg", ".jpeg", ".gif", ".avif"})
TILE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 160">'
    '<rect width="160" height="160" fill="#2a2b30"/>'
    '<g fill="none" stroke="#6f727b" stroke-width="3" stroke-linecap="round">'
    '<rect x="30" y="46" width="34" height="28" rx="6"/>'
    '<rect x="96" y="86" width="34" height="28" rx="6"/>'
    '<path d="M64 60c24 0 8 40 32 40"/></g></svg>'
)


def templates_folder() -> Path:
    """The installed package's folder of templates. Raises `ModuleNotFoundError` without it."""
    return Path(str(resources.files(PACKAGE))) / "templates"


def routes() -> list[web.RouteDef]:
    """The route `/templates/...` for the index, workflows and pictures."""
    folder = templates_folder()

    async def template(request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        try:
            return await file_below(folder, name)
        except web.HTTPNotFound:
            if Path(name).suffix.lower() not in PICTURES:
                raise
            return web.Response(text=TILE, content_type="image/svg+xml")

    return [web.get("/templates/{name:.+}", template)]
