"""Answers slash commands without a model (R41).

    reply = await replies.to(Slash("search", "red fox"), "c1", history)

Some commands change the chat (its title, its model), some have an action for the client's screen
(`Reply.action`), the others only answer. Answers are Markdown.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from ....user_context_loader import UserContext
from ...chats import Chat, ChatStore, ChatSummary
from ...chats.identity import may_name_a_chat
from ...chats.search.history_search import HistorySearch
from ...chats.search.word_search import WordHit
from ...memory.store import MemoryStore
from ...messages.parts import Message
from ...user_context.skills import Match, SkillLibrary, SkillSummary
from ..turn_services import Providers, Reply
from .clean_up_command import OldChats, clean_up_answer
from .memory_commands import MemoryCommands
from .model_command import ModelCommand
from .nearest import nearest
from .slash_commands import NAMES, Slash, help_text, tokens_text

LISTED: Final = 20
"""Chats, messages or results in one answer."""
LOOKED_AT: Final = 200
"""Chats whose titles `/open` compares before it searches messages."""
LONGEST_LINE: Final = 160
"""Characters of a message in `/history`."""
SAID: Final = 10
"""Messages in `/history` without a number."""
MOST_SAID: Final = 200
SHORTEST_BEGINNING: Final = 4
"""Characters of an id's beginning that names a chat to open."""
NOTHING_KEPT: Final = (
    "Nothing is kept about you yet: no rules, goals or preferences, and nothing from other chats."
)
_NO_CHAT = "That needs a chat that is kept."
_FILES: Final = {"Markdown": "markdown", "JSON Lines": "jsonl", "trajectory": "trajectory"}
_FORMATS: Final = {
    "markdown": "markdown",
    "md": "markdown",
    "jsonl": "jsonl",
    "trajectory": "trajectory",
    "json": "trajectory",
}
"""What `/export` takes as a format, and as the ending of a file's name."""
_FILE_NAME: Final = re.compile(r"(?P<stem>[\w-][\w.-]{0,79})\.(?P<ending>\w{2,10})")
_OFTEN_MEANT: Final = {
    "clear": "new",
    "reset": "new",
    "find": "search",
    "list": "chats",
    "load": "open",
    "resume": "open",
    "remove": "delete",
    "save": "export",
    "title": "rename",
    "usage": "tokens",
    "cost": "tokens",
    "commands": "help",
    "preferences": "settings",
}
"""Names of commands in other programs, and ours for the same."""


class SlashReplies:
    """For one event loop and one ComfyUI user. `kept` reads the user's rules, goals and
    preferences, `memories` what holds across chats, `old_chats` are for `/cleanup`. Methods may
    raise StoreError."""

    def __init__(
        self,
        store: ChatStore,
        search: HistorySearch,
        skills: SkillLibrary,
        providers: Providers,
        kept: Callable[[], Awaitable[UserContext]],
        old_chats: Callable[[], OldChats],
        memories: MemoryStore,
        memory_mode: str = "auto",
    ) -> None:
        self._store = store
        self._search = search
        self._skills = skills
        self._models = ModelCommand(store, providers, _plain)
        self._kept = kept
        self._old_chats = old_chats
        self._memories = MemoryCommands(memories, memory_mode, _plain)

    async def to(self, slash: Slash, chat_id: str | None, history: Sequence[Message]) -> Reply:
        """The answer to a command. `history` are the chat's messages, the command last."""
        chat = await self._store.get(chat_id) if chat_id is not None else None
        words = slash.argument
        if not slash.known:
            return Reply(await asyncio.to_thread(self._unknown, slash.name))
        match slash.name:
            case "new":
                return Reply("A new chat.", {"action": "new_chat"})
            case "settings":
                return Reply("The settings are in the panel, behind `/settings`.")
            case "open":
                return await self._open(words, chat_id)
            case "delete":
                return _delete(await self._named(words) if words else chat, words)
            case "rename":
                return Reply(await self._rename(chat, words))
            case "model":
                return Reply(await self._models.answer(chat, words))
            case "chats":
                return Reply(_chat_lines(await self._store.list(LISTED)) or "There are no chats.")
            case "search":
                return Reply(await self._found(words, history[-1].id))
            case "cleanup":
                return Reply(await clean_up_answer(self._old_chats(), words, _chat_line))
            case "skills":
                return Reply(await asyncio.to_thread(self._skill_lines))
            case "memory":
                return Reply(await self._all_kept(words))
            case "remember":
                return Reply(await self._memories.remember(words, chat_id, history[-1].id))
            case "forget":
                return Reply(await self._memories.forget(words, chat_id, history[:-1]))
            case "export":
                return _export(chat, words)
            case "history":
                return Reply(_said(history[:-1], words))
            case "tokens":
                return _tokens(history, words)
            case _:
                return Reply(help_text())

    async def _open(self, words: str, here: str | None) -> Reply:
        """Opens the chat with this id, or another chat that has the words in its title or
        messages."""
        if not words:
            return Reply(
                "Which chat? `/open <id>` takes an id of `/chats`, `/open <words>` looks for words"
                " in titles and messages."
            )
        named = await self._named(words)
        if named is not None:
            return _opened(named)
        last = await self._store.list(LOOKED_AT)
        begun = [chat for chat in last if chat.id.startswith(words)]
        if len(begun) == 1 and len(words) >= SHORTEST_BEGINNING:
            return _opened(begun[0])
        wanted = words.lower().split()
        for chat in last:
            if chat.id != here and all(word in chat.title.lower() for word in wanted):
                return _opened(chat)
        for hit in await self._search.find_words(words, LISTED):
            found = await self._store.get(hit.chat_id) if hit.chat_id != here else None
            if found is not None:
                return _opened(found)
        return Reply(f"No other chat has {_plain(words)} in it.")

    async def _all_kept(self, words: str) -> str:
        """What is remembered about these words; without any, rules and preferences, too."""
        if words:
            return await self._memories.list(words)
        memories = await self._memories.list("")
        rules = _kept_lines(await self._kept())
        if not memories:
            return rules
        remembered = f"**Remembered**\n\n{memories}"
        return f"{rules}\n\n{remembered}" if rules != NOTHING_KEPT else remembered

    async def _rename(self, chat: Chat | None, title: str) -> str:
        if chat is None:
            return _NO_CHAT
        if not title:
            return "Which title? `/rename <title>`"
        renamed = await self._store.change(chat.id, title)
        return f"This chat is called {_plain(renamed.title)} now."

    async def _named(self, identity: str) -> Chat | None:
        """The chat with exactly this id."""
        return await self._store.get(identity) if may_name_a_chat(identity) else None

    def _unknown(self, name: str) -> str:
        """The answer to a command that does not exist. Reads files."""
        meant = _OFTEN_MEANT.get(name) or nearest(name, NAMES)
        if meant is None and isinstance(found := self._skills.resolve(name), Match):
            meant = f"skill {found.skill.slug}"
        offer = "" if meant is None else f" Did you mean `/{meant}`?"
        return (
            f"There is no command `/{name}`.{offer} `/help` lists all commands. To ask the model"
            " this, write a word before the slash."
        )

    async def _found(self, words: str, asked_id: str) -> str:
        if not words:
            return "Which words? `/search <words>`"
        lines: dict[str, list[str]] = {}
        for hit in await self._search.find_words(words, LISTED):
            if hit.message_id != asked_id:
                lines.setdefault(hit.chat_id, []).append(_hit_line(hit))
        parts = []
        for chat_id, found in lines.items():
            if (chat := await self._store.get(chat_id)) is not None:
                parts.append("\n".join([f"**{_plain(chat.title)}**", "", *found]))
        return "\n\n".join(parts) or f"No message has all the words of {_plain(words)}."

    def _skill_lines(self) -> str:
        parts = []
        for title, skills in (
            ("Your skills", self._skills.list_user()),
            ("Model guides", self._skills.list_system()),
        ):
            if skills:
                parts.append("\n".join([f"**{title}**", "", *map(_skill_line, skills)]))
        return "\n\n".join([*parts, "`/skill <name>` uses one."] if parts else ["No skills yet."])


def _opened(chat: ChatSummary) -> Reply:
    return Reply(f"Opens {_plain(chat.title)}.", {"action": "open_chat", "chat_id": chat.id})


def _delete(chat: Chat | None, wanted: str) -> Reply:
    if chat is None:
        unknown = f"There is no chat with the id {_plain(wanted)}; `/chats` lists the ids."
        return Reply(unknown if wanted else _NO_CHAT)
    text = f"Deletes {_plain(chat.title)}; for a minute it can be brought back."
    return Reply(text, {"action": "delete_chat", "chat_id": chat.id})


def _chat_lines(chats: Sequence[ChatSummary]) -> str:
    return "\n".join(
        f"- `{chat.id}`, {chat.created:%Y-%m-%d}, {_count(chat.messages)}: {_plain(chat.title)}"
        for chat in chats
    )


def _count(messages: int) -> str:
    return "1 message" if messages == 1 else f"{messages:,} messages"


def _chat_line(chat: ChatSummary) -> str:
    return f"- {chat.updated:%Y-%m-%d}: {_plain(chat.title)}"


def _hit_line(hit: WordHit) -> str:
    """The snippet of a hit with its words in bold, after who said it."""
    text, end = "", 0
    for start, stop in hit.marks:
        text += f"{_plain(hit.snippet[end:start], False)}**{_plain(hit.snippet[start:stop])}**"
        end = stop
    text += _plain(hit.snippet[end:], False)
    return f"- {'You' if hit.role == 'user' else 'Assistant'}: {text.strip()}"


def _skill_line(skill: SkillSummary) -> str:
    about = f": {_plain(skill.description)}" if skill.description else ""
    return f"- `{skill.slug}`{about}"


def _export(chat: Chat | None, wanted: str) -> Reply:
    """Links to the chat as a file; with a format or a file's name, the client saves it at once."""
    if chat is None:
        return Reply(_NO_CHAT)
    path = f"/api/chats/{chat.id}/export?format="
    if not wanted:
        links = ", ".join(f"[{name}]({path}{form})" for name, form in _FILES.items())
        return Reply(f"This chat as a file: {links}.")
    file = _FILE_NAME.fullmatch(wanted)
    form = _FORMATS.get((file["ending"] if file else wanted).lower())
    if form is None:
        return Reply(
            "As what? `/export markdown`, `/export jsonl`, `/export trajectory`, or the name of a"
            " file that ends in `.md`, `.jsonl` or `.json`."
        )
    action = {"action": "export_chat", "chat_id": chat.id, "format": form}
    name = {"name": wanted} if file else {}
    return Reply(f"This chat as a file: [{_plain(wanted)}]({path}{form}).", {**action, **name})


def _said(messages: Sequence[Message], wanted: str) -> str:
    """The last messages, without slash commands and their answers; `wanted` is how many."""
    count = int(wanted) if wanted.isdecimal() and len(wanted) <= len(str(MOST_SAID)) else 0
    if wanted and not 1 <= count <= MOST_SAID:
        return f"How many? `/history {SAID}` shows the last {SAID} messages; 1 to {MOST_SAID}."
    most = count or SAID
    lines = []
    for message in messages:
        is_command = message.data("command") is not None or "command" in message.metadata
        text = "" if is_command else _plain(message.text)
        if message.role != "system" and text:
            short = text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE].rstrip() + "\u2026"
            lines.append(f"- **{'You' if message.role == 'user' else 'Assistant'}**: {short}")
    older = len(lines) - most
    before = [f"{older} older messages are above.", ""] if older > 1 else []
    before = before or (["1 older message is above.", ""] if older == 1 else [])
    return "\n".join([*before, *lines[-most:]]) or "Nothing was said in this chat yet."


def _tokens(history: Sequence[Message], wanted: str) -> Reply:
    match wanted.lower():
        case "":
            return Reply(tokens_text(history))
        case "on":
            shown = "From now on each answer says how many tokens were read and written for it."
            return Reply(f"{shown} `/tokens off` hides them.", {"action": "show_tokens"})
        case "off":
            return Reply("Answers do not say their tokens any more.", {"action": "hide_tokens"})
        case _:
            return Reply("`/tokens on` shows the tokens under each answer, `/tokens off` does not.")


def _kept_lines(kept: UserContext) -> str:
    parts = {
        "Rules": [f"- {_plain(rule.text)}" for rule in kept.rules],
        "Goals": [kept.goals] if kept.goals else [],
        "Preferences": [f"- {one.key}: {_plain(one.value)}" for one in kept.preferences],
    }
    said = ["\n".join([f"**{name}**", "", *lines]) for name, lines in parts.items() if lines]
    return "\n\n".join(said) or NOTHING_KEPT


def _plain(text: str, strips: bool = True) -> str:
    """The text on one line, with Markdown's characters escaped."""
    line = _SPACES.sub(" ", text).translate(_ESCAPES)
    return line.strip() if strips else line


_SPACES: Final = re.compile(r"\s+")
_ESCAPES: Final = {ord(mark): f"\\{mark}" for mark in "\\`*_[]<>#|"}
