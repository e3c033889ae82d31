"""ComfyUI's routes for settings and the user's files (saved workflows), for the preview.

There is one user with one folder. The assistant's own data lie in another folder, because these
routes must not serve them.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from ..assistant import files

Result = TypeVar("Result")

SETTINGS_FILE = "comfy.settings.json"
FIRST_SETTINGS: dict[str, Any] = {
    # A new user should see the canvas, not a tour of the front end.
    "Comfy.TutorialCompleted": True,
    # The minimap would cover much of a small window.
    "Comfy.Minimap.Visible": False,
    # The look-up of ComfyUI's releases would be a request that leaves the machine.
    "Comfy.Notification.ShowVersionUpdates": False,
}


class UserData:
    """Files below `folder`. The path of a name that a client sends must lie below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._settings_lock = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """All routes, without `/api`."""
        return [
            web.get("/users", self.users),
            web.get("/settings", self.settings),
            web.post("/settings", self.change_settings),
            web.get("/settings/{id}", self.setting),
            web.post("/settings/{id}", self.change_setting),
            web.get("/userdata", self.list_files),
            web.get("/v2/userdata", self.list_entries),
            web.get("/userdata/{file}", self.read_file),
            web.post("/userdata/{file}", self.write_file),
            web.delete("/userdata/{file}", self.delete_file),
            web.post("/userdata/{file}/move/{target}", self.move_file),
        ]

    async def users(self, request: web.Request) -> web.Response:
        return web.json_response({"storage": "server", "migrated": True})

    async def settings(self, request: web.Request) -> web.Response:
        return web.json_response(await in_thread(self._read_settings))

    async def setting(self, request: web.Request) -> web.Response:
        settings = await in_thread(self._read_settings)
        return web.json_response(settings.get(request.match_info["id"]))

    async def change_settings(self, request: web.Request) -> web.Response:
        changes = await json_body(request)
        if not isinstance(changes, dict):
            raise web.HTTPBadRequest(text="Settings must be a JSON object.")
        await self._store_settings(changes)
        return web.Response()

    async def change_setting(self, request: web.Request) -> web.Response:
        await self._store_settings({request.match_info["id"]: await json_body(request)})
        return web.Response()

    async def list_files(self, request: web.Request) -> web.Response:
        """Files of one folder: as paths, as split paths, or with size and times.

        A folder that does not exist yet is empty: nothing has been saved so far.
        """
        folder = self._path(request.query.get("dir", ""))
        deep = request.query.get("recurse", "").lower() == "true"
        found = await asyncio.to_thread(files_below, folder, deep)
        if request.query.get("full_info", "").lower() == "true":
            return web.json_response([describe(path, folder) for path in found])
        names = [path.relative_to(folder).as_posix() for path in found]
        if request.query.get("split", "").lower() == "true":
            return web.json_response([[name, *name.split("/")] for name in names])
        return web.json_response(names)

    async def list_entries(self, request: web.Request) -> web.Response:
        """Files and folders directly below one folder."""
        folder = self._path(request.query.get("path", ""), allow_root=True)
        if not await asyncio.to_thread(folder.is_dir):
            raise web.HTTPNotFound(text="Directory not found")
        entries = await asyncio.to_thread(lambda: sorted(folder.iterdir()))
        return web.json_response([self._entry(path) for path in entries])

    async def read_file(self, request: web.Request) -> web.StreamResponse:
        path = self._path(request.match_info["file"])
        if not await asyncio.to_thread(path.is_file):
            raise web.HTTPNotFound
        return web.FileResponse(path)

    async def write_file(self, request: web.Request) -> web.Response:
        path = self._path(request.match_info["file"])
        if request.query.get("overwrite", "true").lower() == "false" and path.exists():
            raise web.HTTPConflict(text="File already exists")
        body = await request.read()
        await in_thread(lambda: files.write(path, body))
        return self._stored(path, request)

    async def delete_file(self, request: web.Request) -> web.Response:
        path = self._path(request.match_info["file"])
        if not path.is_file():
            raise web.HTTPNotFound
        await in_thread(lambda: files.remove(path))
        return web.Response(status=204)

    async def move_file(self, request: web.Request) -> web.Response:
        source = self._path(request.match_info["file"])
        target = self._path(request.match_info["target"])
        if not source.is_file():
            raise web.HTTPNotFound
        if request.query.get("overwrite", "true").lower() == "false" and target.exists():
            raise web.HTTPConflict(text="File already exists")
        await in_thread(lambda: move(source, target))
        return self._stored(target, request)

    def _path(self, name: str, *, allow_root: bool = False) -> Path:
        """`name` below the folder. 400 when it is empty, 403 when it would leave the folder."""
        if not name and not allow_root:
            raise web.HTTPBadRequest(text="A path is needed.")
        if "\0" in name:
            raise web.HTTPForbidden(text="Invalid path")
        path = (self._folder / name).resolve()
        if path != self._folder and self._folder not in path.parents:
            raise web.HTTPForbidden(text="Invalid path")
        if path == self._folder and not allow_root:
            raise web.HTTPForbidden(text="Invalid path")
        return path

    def _entry(self, path: Path) -> dict[str, Any]:
        kind = "directory" if path.is_dir() else "file"
        entry = {"name": path.name, "path": path.relative_to(self._folder).as_posix(), "type": kind}
        return entry if kind == "directory" else {**describe(path, self._folder), **entry}

    def _stored(self, path: Path, request: web.Request) -> web.Response:
        if request.query.get("full_info", "").lower() == "true":
            return web.json_response(describe(path, self._folder))
        return web.json_response(path.relative_to(self._folder).as_posix())

    def _read_settings(self) -> dict[str, Any]:
        """Raises OSError for a file that is there and cannot be read: nothing may replace it."""
        try:
            stored = json.loads(files.read(self._folder / SETTINGS_FILE).decode("utf-8"))
        except (FileNotFoundError, ValueError):
            stored = {}
        return {**FIRST_SETTINGS, **stored} if isinstance(stored, dict) else FIRST_SETTINGS

    async def _store_settings(self, changes: dict[str, Any]) -> None:
        async with self._settings_lock:
            settings = {**await in_thread(self._read_settings), **changes}
            text = json.dumps(settings, indent=2)
            await in_thread(lambda: files.write_text(self._folder / SETTINGS_FILE, text))


async def json_body(request: web.Request) -> Any:
    try:
        return await request.json()
    except ValueError as error:
        raise web.HTTPBadRequest(text="The body is not JSON.") from error


def files_below(folder: Path, deep: bool) -> list[Path]:
    """All files in `folder`, sorted; with `deep` also the files of its folders."""
    return sorted(path for path in folder.glob("**/*" if deep else "*") if path.is_file())


def describe(path: Path, folder: Path) -> dict[str, Any]:
    """A file's path, size in bytes, and times in milliseconds since 1970."""
    status = path.stat()
    return {
        "path": path.relative_to(folder).as_posix(),
        "size": status.st_size,
        "modified": int(status.st_mtime * 1000),
        "created": int(status.st_ctime * 1000),
    }


def move(source: Path, target: Path) -> None:
    """Rename the file; a file at the target is replaced. Raises OSError."""
    files.make_folder(target.parent)
    files.rename(source, target)


async def in_thread(use: Callable[[], Result]) -> Result:
    """Use a file in a thread. 503 with one sentence when that fails; then nothing changed."""
    try:
        return await asyncio.to_thread(use)
    except OSError as error:
        text = f"The file could not be used: {files.reason_of(error)}."
        raise web.HTTPServiceUnavailable(text=text) from error
