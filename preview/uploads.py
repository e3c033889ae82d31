"""ComfyUI's routes for files that the front end uploads, for the preview.

`Load3D` uploads pictures of its scene whenever a prompt is made, and its prompt names them, so
without these routes a workflow with that node has no prompt. Files lie in one folder per type
(`input`, `temp`), as in ComfyUI. Temporary files are removed when the server starts.
"""

import asyncio
import contextlib
import mimetypes
from pathlib import Path

from aiohttp import web

from ..assistant import files
from .frontend import file_below
from .userdata import in_thread

TYPES = ("input", "temp", "output")
SHOWN = ("image/", "audio/", "video/", "model/")
"""Content types that a page may show. SVG may hold scripts, so it is downloaded."""
DOWNLOAD = "application/octet-stream"
TRUE = frozenset(("true", "1"))


class Uploads:
    """Uploaded files below `folder`; no name that a client sends may leave it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def routes(self) -> list[web.RouteDef]:
        """All routes, without `/api`."""
        return [web.post("/upload/image", self.upload), web.get("/view", self.view)]

    async def remove_temporary(self, app: web.Application) -> None:
        """Removes what an earlier start left. A file that somebody holds stays."""
        with contextlib.suppress(OSError):
            await asyncio.to_thread(files.remove_folder, self._folder / "temp")
        await asyncio.to_thread(files.remove_leftovers, self._folder)

    async def upload(self, request: web.Request) -> web.Response:
        """Stores the field `image`, of any kind of file, and answers with the name it got.

        Another file of the same name stays: the new one gets a number, unless `overwrite` is set.
        """
        form = await request.post()
        sent = form.get("image")
        kind = str(form.get("type", "input"))
        if not isinstance(sent, web.FileField) or not sent.filename or kind not in TYPES:
            raise web.HTTPBadRequest(text="An upload needs a file, and a type that ComfyUI knows.")
        subfolder = str(form.get("subfolder", ""))
        path = self._path(kind, subfolder, sent.filename)
        overwrite = form.get("overwrite") in TRUE
        stored = await in_thread(lambda: store(path, sent.file.read(), overwrite))
        return web.json_response({"name": stored.name, "subfolder": subfolder, "type": kind})

    async def view(self, request: web.Request) -> web.StreamResponse:
        """An uploaded file. Nothing that could run a script is shown as a page."""
        query = request.query
        name, kind = query.get("filename", ""), query.get("type", "output")
        if kind not in TYPES:
            raise web.HTTPNotFound
        if query.get("subfolder"):
            name = f"{query['subfolder']}/{name}"
        response = await file_below(self._folder / kind, name)
        content_type = mimetypes.guess_type(name)[0] or DOWNLOAD
        if not content_type.startswith(SHOWN) or content_type == "image/svg+xml":
            content_type = DOWNLOAD
            response.headers["Content-Disposition"] = "attachment"
        response.headers["Content-Type"] = content_type
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    def _path(self, kind: str, subfolder: str, name: str) -> Path:
        """The file's path. 400 where it would leave the folder of its type."""
        folder = self._folder / kind
        if "\0" not in subfolder + name:
            path = (folder / subfolder / name).resolve()
            if folder in path.parents:
                return path
        raise web.HTTPBadRequest(text="Invalid path")


def store(path: Path, content: bytes, overwrite: bool) -> Path:
    """Writes the file and returns its path, which has a number where the name was taken."""
    free, number = path, 1
    while not overwrite and free.exists():
        if files.read(free) == content:
            return free
        free = path.with_name(f"{path.stem} ({number}){path.suffix}")
        number += 1
    files.make_folder(free.parent)
    files.write(free, content)
    return free
