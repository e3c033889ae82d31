"""Answers slash commands without a model (R41).

    reply = await replies.to(Slash("search", "red fox"), "c1", history)

Some commands change the chat (its title, its model), some have an action for the client's screen
(`Reply.action`), the others only answer. Answers are Markdown.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from ....user_context_loader import UserContext
from ...chats import Chat, ChatParams, ChatStore, ChatSummary
from ...chats.search.history_search import HistorySearch
from ...chats.search.word_search import WordHit
from ...errors import AssistantError, ProviderError
from ...messages.parts import Message
from ...user_context.skills import SkillLibrary, SkillSummary
from ..turn import NO_PARAMS
from ..turn_services import Providers, Reply, provider_for
from .clean_up_command import OldChats, clean_up_answer
from .slash_commands import Slash, help_text, tokens_text

LISTED: Final = 20
"""Chats, messages or results in one answer."""
LOOKED_AT: Final = 200
"""Chats whose titles `/open` compares before it searches messages."""
LONGEST_LINE: Final = 160
"""Characters of a message in `/history`."""
LONGEST_NAME: Final = 200
USUAL: Final = "default"
"""`/model default` returns to the model of the settings."""
_NO_CHAT = "That needs a chat that is kept."
_FILES: Final = {"Markdown": "markdown", "JSON Lines": "jsonl", "trajectory": "trajectory"}


class SlashReplies:
    """For one event loop and one ComfyUI user. `kept` reads the user's rules, goals and
    preferences, `old_chats` are for `/cleanup`. Methods may raise StoreError."""

    def __init__(
        self,
        store: ChatStore,
        search: HistorySearch,
        skills: SkillLibrary,
        providers: Providers,
        kept: Callable[[], Awaitable[UserContext]],
        old_chats: Callable[[], OldChats],
    ) -> None:
        self._store = store
        self._search = search
        self._skills = skills
        self._providers = providers
        self._kept = kept
        self._old_chats = old_chats

    async def to(self, slash: Slash, chat_id: str | None, history: Sequence[Message]) -> Reply:
        """The answer to a command. `history` are the chat's messages, the command last."""
        chat = await self._store.get(chat_id) if chat_id is not None else None
        words = slash.argument
        match slash.name:
            case "new":
                return Reply("A new chat.", {"action": "new_chat"})
            case "settings":
                return Reply("The settings are in the panel, behind `/settings`.")
            case "open":
                return await self._open(words, chat_id)
            case "delete":
                return _delete(chat)
            case "rename":
                return Reply(await self._rename(chat, words))
            case "model":
                return Reply(await self._model(chat, words))
            case "chats":
                return Reply(_chat_lines(await self._store.list(LISTED)) or "There are no chats.")
            case "search":
                return Reply(await self._found(words, history[-1].id))
            case "cleanup":
                return Reply(await clean_up_answer(self._old_chats(), words, _chat_line))
            case "skills":
                return Reply(await asyncio.to_thread(self._skill_lines))
            case "memory":
                return Reply(_kept_lines(await self._kept()))
            case "export":
                return Reply(_links(chat))
            case "history":
                return Reply(_said(history[:-1]))
            case "tokens":
                return Reply(tokens_text(history))
            case _:
                return Reply(help_text())

    async def _open(self, words: str, here: str | None) -> Reply:
        """Opens another chat that has the words in its title or messages."""
        if not words:
            return Reply("Which chat? `/open <words>` looks for words in titles and messages.")
        wanted = words.lower().split()
        for chat in await self._store.list(LOOKED_AT):
            if chat.id != here and all(word in chat.title.lower() for word in wanted):
                return _opened(chat)
        for hit in await self._search.find_words(words, LISTED):
            found = await self._store.get(hit.chat_id) if hit.chat_id != here else None
            if found is not None:
                return _opened(found)
        return Reply(f"No other chat has {_plain(words)} in it.")

    async def _rename(self, chat: Chat | None, title: str) -> str:
        if chat is None:
            return _NO_CHAT
        if not title:
            return "Which title? `/rename <title>`"
        renamed = await self._store.change(chat.id, title)
        return f"This chat is called {_plain(renamed.title)} now."

    async def _model(self, chat: Chat | None, name: str) -> str:
        """Without a name: which model answers. A provider's name chooses the provider and its
        model."""
        params = chat.params if chat is not None else NO_PARAMS
        if not name:
            return await self._answers(params, "This chat is answered by")
        if chat is None:
            return _NO_CHAT
        if len(name) > LONGEST_NAME:
            return "No model has so long a name."
        if name == USUAL:
            params = replace(params, provider=None, model=None)
        elif await self._is_provider(name):
            params = replace(params, provider=name, model=None)
        elif others := await self._other_models(params, name):
            listed = ", ".join(f"`{other}`" for other in others)
            return f"There is no model {_plain(name)}. There are: {listed}."
        else:
            params = replace(params, model=name)
        await self._store.set_params(chat.id, params)
        return await self._answers(params, "From the next message on this chat is answered by")

    async def _answers(self, params: ChatParams, words: str) -> str:
        try:
            provider = await provider_for(self._providers, params)
        except ProviderError as error:
            return error.message
        own = params.provider is not None or params.model is not None
        usual = " `/model default` goes back to the usual one." if own else ""
        return f"{words} `{provider.model}` of {_plain(provider.name)}.{usual}"

    async def _other_models(self, params: ChatParams, name: str) -> Sequence[str]:
        """The models that the chat's provider lists, those most like `name` first; empty where
        `name` is one of them, or where the provider lists none."""
        try:
            provider = await provider_for(self._providers, replace(params, model=None))
            models = [model.id for model in await self._providers.models(provider)]
        except ProviderError:
            return ()
        if not models or name in models:
            return ()
        near = get_close_matches(name, models, n=LISTED, cutoff=0.3)
        return [*near, *(model for model in models if model not in near)][:LISTED]

    async def _is_provider(self, name: str) -> bool:
        """Whether a provider has this name, also where it does not answer now."""
        try:
            await self._providers.named(name)
        except AssistantError as error:
            return error.code != "no_provider"
        return True

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


def _delete(chat: Chat | None) -> Reply:
    if chat is None:
        return Reply(_NO_CHAT)
    text = f"Deletes {_plain(chat.title)}; for a minute it can be brought back."
    return Reply(text, {"action": "delete_chat", "chat_id": chat.id})


def _chat_lines(chats: Sequence[ChatSummary]) -> str:
    return "\n".join(map(_chat_line, chats))


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


def _links(chat: Chat | None) -> str:
    if chat is None:
        return _NO_CHAT
    path = f"/api/chats/{chat.id}/export?format="
    links = ", ".join(f"[{name}]({path}{form})" for name, form in _FILES.items())
    return f"This chat as a file: {links}."


def _said(messages: Sequence[Message]) -> str:
    lines = []
    for message in messages:
        text = _plain(message.text)
        if message.role != "system" and text:
            short = text if len(text) <= LONGEST_LINE else text[:LONGEST_LINE].rstrip() + "\u2026"
            lines.append(f"- **{'You' if message.role == 'user' else 'Assistant'}**: {short}")
    older = len(lines) - LISTED
    before = [f"{older} older messages are above.", ""] if older > 0 else []
    return "\n".join([*before, *lines[-LISTED:]]) or "Nothing was said in this chat yet."


def _kept_lines(kept: UserContext) -> str:
    parts = {
        "Rules": [f"- {_plain(rule.text)}" for rule in kept.rules],
        "Goals": [kept.goals] if kept.goals else [],
        "Preferences": [f"- {one.key}: {_plain(one.value)}" for one in kept.preferences],
    }
    said = ["\n".join([f"**{name}**", "", *lines]) for name, lines in parts.items() if lines]
    return "\n\n".join(said) or "Nothing is kept about you yet: no rules, goals or preferences."


def _plain(text: str, strips: bool = True) -> str:
    """The text on one line, with Markdown's characters escaped."""
    line = _SPACES.sub(" ", text).translate(_ESCAPES)
    return line.strip() if strips else line


_SPACES: Final = re.compile(r"\s+")
_ESCAPES: Final = {ord(mark): f"\\{mark}" for mark in "\\`*_[]<>#|"}
