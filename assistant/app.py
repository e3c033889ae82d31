"""The composition root: builds the parts and hands each what it needs.

    assistant = create_assistant(host, os.environ)
    app.add_routes(assistant.routes())      paths without /api, which ComfyUI adds
    await assistant.start()                 before the first request; close() after the last

Nothing here is a module-level singleton: each call builds an assistant of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from aiohttp import web

from . import __version__, files
from .comfy_port import ComfyPort
from .config import Settings
from .environment import load_settings
from .errors import Conflict, Problem, Refused
from .llm.book import ProviderBook
from .llm.client import Client
from .llm.network import Network
from .llm.redaction import SHORTEST_SECRET
from .llm.resolver import Resolver
from .node_index import NodeIndex
from .routes.guard import Gate
from .routes.route import Installation, served
from .routes.table import ROUTES
from .space import UserSpace
from .tools.toolset import standard_toolset
from .turn.one_shot import one_shot
from .turn.turn_places import Places
from .user_data.usage import Usage

logger = logging.getLogger("comfyui_assistant")

PROVIDERS_FILE = "providers.json"
USUAL_USER = "default"
"""ComfyUI's one user, where it was not started with --multi-user."""
RETRY_SECONDS = 1
PLAIN_USER = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Host:
    """What the embedding server gives the assistant.

    `root` is the plugin's folder and `user_directory` the assistant's own (ASSISTANT_USER_DIR
    overrides it). `user_of` names the ComfyUI user of a request. `comfyui` is what tools read of
    ComfyUI.
    """

    root: Path
    user_directory: Path
    user_of: Callable[[web.Request], str]
    comfyui: ComfyPort
    comfyui_version: str | None
    preview: bool = False


class Assistant:
    """One installation: settings and providers for all, and a space for each ComfyUI user."""

    def __init__(self, host: Host, settings: Settings, problems: tuple[Problem, ...]) -> None:
        self.host = host
        self.settings = settings
        self.folder = settings.user_dir or host.user_directory
        self.gate = Gate(settings)
        self.problems = (*problems, *self.gate.problems)
        self._book = ProviderBook(
            self.folder / PROVIDERS_FILE, allow_link_local=settings.allow_link_local
        )
        network = Network(settings)
        self.resolver = Resolver(self._book, settings, problems, network=network)
        self.client = Client(
            settings,
            prepare=self.resolver.prepare,
            place_of=self.resolver.place_of,
            network=network,
        )
        self.toolset = standard_toolset()
        self.node_index = NodeIndex(host.comfyui)
        self._places = Places(settings.max_turns)
        self._spaces: dict[str, UserSpace] = {}
        # The users whose data are being deleted.
        self._emptying: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def routes(self) -> list[web.RouteDef]:
        """All routes, each behind the guard."""
        installation = Installation(
            gate=self.gate,
            space_of=self.space,
            settings=self.settings,
            book=self._book,
            resolver=self.resolver,
            client=self.client,
            secrets=self._secrets,
            empty_data=self.empty_data,
            problems=lambda: self.problems,
            node_definitions=self.node_index.current,
            comfyui_version=self.host.comfyui_version,
            preview=self.host.preview,
        )
        return served(ROUTES, installation)

    def space(self, request: web.Request) -> UserSpace:
        """The space of the user who sends the request; made on that user's first request."""
        space = self.space_of(self.host.user_of(request))
        if (address := _address(request)) is not None:
            space.reached_at(address)
        return space

    def space_of(self, user: str) -> UserSpace:
        """The space of a user. Raises Refused (503) while the user's data are being deleted."""
        if user in self._emptying:
            raise Refused(
                "Your data are being deleted; try again.",
                code="deleting",
                status=503,
                retry_after=RETRY_SECONDS,
            )
        space = self._spaces.get(user)
        if space is None:
            space = UserSpace(
                self.folder / folder_name(user, self._folder_names()),
                self.host.root / "system_context",
                self.host.root / "user_context",
                self.settings,
                self.toolset,
                self.resolver,
                self.client,
                self.host.comfyui,
                self._places,
            )
            self._spaces[user] = space
            if self._loop is not None:
                self._in_background(self._open(space))
        return space

    async def empty_data(self, request: web.Request, chats: int) -> Usage:
        """Delete all data of the user who sends the request, and return how much it was. `chats` is
        how many chats that user was told of.

        Turns are stopped first. From then on the user begins anew. Raises Conflict
        (`data_changed`, with the numbers as they are now) for another number of chats,
        (`runs_elsewhere`) while another process answers in a chat, and StoreError when a file
        cannot be removed: then everything is as it was.
        """
        user = self.host.user_of(request)
        space = self.space_of(user)
        found = await space.usage()
        if found.chats != chats:
            raise Conflict(
                f"There are {found.chats} chats now, not {chats}; look again.",
                code="data_changed",
                extra={"data": found.to_json()},
            )
        await space.chats.check_all_here()
        # In a task of its own: a client that goes away must not leave half of it.
        work = asyncio.get_running_loop().create_task(self._empty(user, space))
        self._tasks.add(work)
        work.add_done_callback(self._tasks.discard)
        await asyncio.shield(work)
        return found

    async def _empty(self, user: str, space: UserSpace) -> None:
        if user in self._emptying or self._spaces.get(user) is not space:
            raise Conflict("Your data are being deleted already.", code="deleting")
        self._emptying.add(user)
        try:
            await space.empty()
        finally:
            del self._spaces[user]
            self._emptying.discard(user)

    def _folder_names(self) -> set[str]:
        """The names of all users' folders: those that are there and those of this run's spaces."""
        names = {space.folder.name for space in self._spaces.values()}
        try:
            return names.union(os.listdir(self.folder))
        except OSError:
            return names

    async def start(self) -> None:
        """Opens the space of ComfyUI's usual user, if it was used before, and prepares the client
        for the first request. Never raises for a folder that cannot be read or written."""
        self._loop = asyncio.get_running_loop()
        self._in_background(self._load_client())
        if (self.folder / folder_name(USUAL_USER)).is_dir():
            self.space_of(USUAL_USER)
        for problem in self.problems:
            logger.warning("%s", ascii(problem.message)[1:-1])

    async def complete(self, prompt: str, *, system: str = "", seed: int | None = None) -> str:
        """The active provider's answer to one prompt, for nodes. Raises ProviderError."""
        return await one_shot(
            self.resolver, self.client, self.settings, prompt, system=system, seed=seed
        )

    async def close(self) -> None:
        """Stops the turns (their unfinished answers are kept), and closes files, clients and child
        processes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(space.close() for space in self._spaces.values()))
        await self.client.close()
        await self.resolver.close()

    def _secrets(self) -> frozenset[str]:
        """The texts that no export may hold: the token, and the API keys of the environment and the
        panel."""
        keys = (provider.api_key for provider in self._book.list())
        known = (self.settings.token, self.settings.openai_api_key, *keys)
        return frozenset(key for key in known if key and len(key) >= SHORTEST_SECRET)

    async def _load_client(self) -> None:
        # Without the library each turn says what is missing.
        with contextlib.suppress(ImportError):
            await self.client.load()

    async def _open(self, space: UserSpace) -> None:
        await space.open()
        self._in_background(self._scan(space))

    async def _scan(self, space: UserSpace) -> None:
        try:
            nodes = await asyncio.to_thread(self.host.comfyui.node_definitions)
            folders = await asyncio.to_thread(self.host.comfyui.model_folders)
            await space.scan(len(nodes), tuple(chain.from_iterable(folders.values())))
        except Exception as error:
            logger.warning("The environment could not be counted: %s", ascii(str(error))[1:-1])

    def _in_background(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _address(request: web.Request) -> str | None:
    """The server's own address on which the request arrived, such as `127.0.0.1:8188`."""
    found = request.transport.get_extra_info("sockname") if request.transport else None
    return f"{found[0]}:{found[1]}" if isinstance(found, tuple) else None


def folder_name(user: str, taken: Collection[str] = ()) -> str:
    """The name of the folder of a ComfyUI user: the user's id, or a hash of an id that cannot name
    a folder of its own on every system.

    Such an id has other characters, is the name of a device on Windows, or differs only in upper
    and lower case from a name in `taken`, the folders that are there: Windows and macOS have one
    folder for both. A folder that has the id as its name already stays the user's folder.
    """
    if PLAIN_USER.fullmatch(user):
        if user in taken:
            return user
        folded = {name.casefold() for name in taken}
        if not files.is_device_name(user) and user.casefold() not in folded:
            return user
    return "user-" + hashlib.sha256(user.encode("utf-8", "replace")).hexdigest()[:24]


def create_assistant(host: Host, environ: Mapping[str, str]) -> Assistant:
    """The assistant of an installation, configured by `environ` and the `.env` beside the
    plugin."""
    loaded = load_settings(environ, host.root / ".env")
    return Assistant(host, loaded.settings, loaded.problems)


__all__ = ["Assistant", "Host", "__version__", "create_assistant"]
