"""What belongs to one ComfyUI user: folder, database, skills, rules, chats and their sessions.

Users are separated, not protected from each other: ComfyUI does not authenticate them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from ..user_context_loader import Defaults, UserContext, load_defaults, load_user_context
from . import files
from .chats import ChatStore
from .chats.export.archive import Archive
from .chats.search.history_search import HistorySearch
from .chats.trash import Trash
from .comfy_port import ComfyPort
from .config import Settings
from .context.tokens import text_tokens
from .database import Database
from .database.sqlite import SqliteDatabase
from .database.sqlite.temporary import TemporaryDatabase
from .errors import AssistantError, Conflict, NotFound, StoreError
from .memory.draft import Kept
from .memory.learned import Learned
from .memory.pending import PendingStore
from .memory.store import MemoryStore
from .prompts.composition import SystemPrompts
from .sessions.clean_up import CleanUp
from .sessions.sessions import Sessions
from .sessions.temporary_chats import TemporaryChats
from .tools.ports import Definitions
from .tools.toolset import Toolset
from .tools.workflow_library import WorkflowLibrary
from .turn.chat_memories import kept_part
from .turn.conversations import nothing_first
from .turn.idle.after_turn import AfterTurn
from .turn.idle.indexing import Indexing
from .turn.idle.job import IdleChat
from .turn.idle.remembering import Remembering
from .turn.idle.summariser import Summariser
from .turn.idle.titling import Titling
from .turn.service import TurnService
from .turn.slash.replies import SlashReplies
from .turn.turn_places import Places
from .turn.turn_services import Model, Providers, Services
from .user_context.environment_summary import refresh_environment
from .user_context.rules import UserContextStore
from .user_context.skills import SkillLibrary
from .user_context.sources import SourceCache
from .user_data.archive import UserArchive
from .user_data.usage import Usage, usage

logger = logging.getLogger("comfyui_assistant")

DATABASE = "assistant.db"
PRIVATE = ("environment", "skills")
"""Folders in the user's folder whose content is its owner's only. `attachments` is made so."""


class UserSpace:
    """One user's parts, built on the first request of that user. `user` is ComfyUI's id, whose
    saved workflows tools may read; `definitions` are those of ComfyUI's nodes."""

    def __init__(
        self,
        folder: Path,
        system_path: Path,
        defaults_path: Path,
        settings: Settings,
        toolset: Toolset,
        providers: Providers,
        model: Model,
        comfyui: ComfyPort,
        places: Places,
        definitions: Definitions | None = None,
        user: str = "",
        beside: UserSpace | None = None,
    ) -> None:
        self.folder = folder
        self.database: Database = (
            SqliteDatabase(folder / DATABASE) if beside is None else TemporaryDatabase()
        )
        self._beside: Final = beside
        self._make_temporary = partial(
            UserSpace,
            folder,
            system_path,
            defaults_path,
            settings,
            toolset,
            providers,
            model,
            comfyui,
            places,
            definitions,
            user,
            beside=self,
        )
        self._temporary: UserSpace | None = None
        self._cache = cache = SourceCache()
        self._defaults_path = defaults_path
        self.skills = SkillLibrary(system_path, folder, cache, defaults_path)
        if beside is None:
            self.user_context = UserContextStore(self.database)
            self.memories = MemoryStore(self.database)
        else:
            self.user_context, self.memories = beside.user_context, beside.memories
        self.chats = ChatStore(self.database)
        prompts = SystemPrompts(
            system_path,
            folder,
            self.user_context,
            self.skills,
            settings,
            text_tokens,
            cache,
            defaults_path,
        )
        summariser = Summariser(providers, model, settings)
        self.search = HistorySearch(self.database, self.chats.failover)

        async def kept() -> UserContext:
            statements = await self.user_context.read()
            return await asyncio.to_thread(
                load_user_context, folder, statements, cache, defaults_path
            )

        replies = SlashReplies(
            self.chats,
            self.search,
            self.skills,
            providers,
            kept,
            lambda: self.clean_up,
            self.memories,
            "off" if beside else settings.memory,
        )
        services = Services(
            providers,
            model,
            prompts,
            toolset,
            settings,
            summariser,
            replies.to,
            comfyui=comfyui,
            places=places,
            definitions=definitions,
            library=WorkflowLibrary(comfyui, user),
            memories=self.memories,
            remembers=beside is None,
        )
        self.archive = Archive(self.chats, added=self.search.index_soon)
        self.trash = Trash(self.database, self.chats, self.search)
        titling = Titling(providers, model, settings, self.chats, self._name)
        pending = PendingStore(self.database)
        self.remembering = Remembering(
            providers, model, settings, self.memories, pending, self._tell_kept
        )
        self.learned = Learned(self.memories, pending, self.remembering.forget)
        # Nothing of a temporary chat is remembered.
        idle = (summariser, titling, self.remembering) if beside is None else (summariser, titling)
        noted = self.remembering.note if beside is None else nothing_first
        after_turn = AfterTurn(idle, before=noted)
        jobs = (after_turn, Indexing(self.search.index_soon))
        self.turns = TurnService(services, self.chats, self.skills, jobs, self.search, noted)
        self.sessions = Sessions(self.turns, self.chats)
        self.clean_up = CleanUp(self.sessions, self.trash)
        self.temporary_chats = TemporaryChats(
            self.sessions, self._end, settings.max_temporary_chats
        )
        if beside is not None:
            # A branch of a temporary chat is one, too.
            self.sessions.made = self.temporary_chats.add
        self.user_archive = UserArchive(
            folder, self.chats, self.archive, self.user_context, self.memories
        )

    async def usage(self) -> Usage:
        """How much data there is. Raises StoreError."""
        database = self.folder / DATABASE
        return await usage(
            self.folder, database, self.chats, self.user_context, self.skills, self.memories
        )

    async def empty(self) -> None:
        """Stop all turns, close, and remove everything in the user's folder: all of it or, where
        it raises StoreError because a file is held, nothing. The space cannot be used after."""
        await self.close()
        try:
            await asyncio.to_thread(files.empty_folder, self.folder)
        except OSError as error:
            raise StoreError(f"Nothing was deleted: {files.reason_of(error)}.") from error

    async def _name(self, chat_id: str, title: str) -> None:
        """Gives the chat a title that a model wrote."""
        if await self.chats.set_title(chat_id, title, "model"):
            chat = await self.chats.get(chat_id)
            if chat is not None:
                await self.sessions.changed(chat)

    def of_chat(self, chat_id: str | None) -> UserSpace:
        """The space that has the chat: that of the temporary chats, or this one."""
        temporary = self._temporary
        return temporary if temporary and chat_id in temporary.temporary_chats else self

    async def begin_temporary(self, chat_id: str) -> UserSpace:
        """The space of the temporary chats, which has this chat from now on: all of it is in memory
        only, beside the user's rules, skills and memories. Raises Conflict for the id of a chat
        that is kept, and Refused (`busy`) for one too many."""
        if await self.chats.get(chat_id) is not None:
            raise Conflict("There is a chat with this id already.", code="exists")
        if self._temporary is None:
            self._temporary = self._make_temporary()
        await self._temporary.temporary_chats.begin(chat_id)
        return self._temporary

    async def _end(self, chat_id: str) -> None:
        """Deletes a temporary chat."""
        await self.sessions.delete(chat_id, partial(self.trash.delete, chat_id))

    async def _tell_kept(self, chat: IdleChat, kept: Sequence[Kept]) -> None:
        """Shows under the chat's last answer what was remembered of it. A failure is logged only:
        the list of memories has it."""
        parts = tuple(map(kept_part, kept))
        try:
            await self.sessions.add_parts(chat.chat_id, chat.path[-1].id, parts)
        except AssistantError as error:
            logger.info("What was remembered is not shown: %s", ascii(error.message)[1:-1])

    async def extract(self, chat_id: str) -> None:
        """Begins to look for what to remember in a chat. Raises NotFound and StoreError."""
        chat = await self.chats.get(chat_id)
        if chat is None:
            raise NotFound("There is no such chat.")
        self.remembering.begin_now(await self.turns.idle_chat(chat_id, chat.params))

    def defaults(self) -> Defaults:
        """The defaults in the plugin's `user_context/`. Reads files."""
        return load_defaults(self._defaults_path, self.folder, self.skills, self._cache)

    async def open(self) -> None:
        """Creates the tables, and marks the answers that a crash interrupted as cut. Raises
        nothing: a database that fails raises errors when it is used, and health reports it."""
        await asyncio.to_thread(self._tidy)
        try:
            await self.user_context.open()
            await self.memories.open()
            await self.chats.recover()
        except StoreError as error:
            logger.error("%s", ascii(error.message)[1:-1])
        await self.trash.open()

    def _tidy(self) -> None:
        """Takes the rights of other users from files that an older version or the user's editor
        made, and removes what an earlier run could not."""
        files.keep_private(self.folder, *PRIVATE)
        files.remove_leftovers(self.folder)
        self.skills.tidy()

    def reached_at(self, address: str) -> None:
        """Stores the `address` of this ComfyUI, which another ComfyUI with the same database names
        in its errors about a chat that is answered here."""
        if self.chats.owner.address != address:
            self.chats.owner = replace(self.chats.owner, address=address)

    async def scan(self, node_types: int, model_folders: Sequence[Path]) -> None:
        """Counts the packages, node types and models of this ComfyUI for the environment line
        (R7)."""
        try:
            await refresh_environment(self.folder, node_types, model_folders)
        except OSError as error:
            reason = ascii(files.reason_of(error))[1:-1]
            logger.warning("The environment could not be stored: %s.", reason)

    async def close(self) -> None:
        if self._temporary is not None:
            await self._temporary.close()
        await self.temporary_chats.close()
        await self.sessions.close()
        await self.trash.close()
        await self.search.close()
        if self._beside is None:
            await self.memories.close()
        await self.chats.close()
        await self.database.close()
