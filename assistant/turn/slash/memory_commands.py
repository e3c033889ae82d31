"""`/memory [words]`, `/remember <text>` and `/forget <words>` (R41, R44)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...errors import Conflict, InvalidRequest
from ...memory.known import Known, newest_first
from ...memory.memory import LONGEST_TEXT, Memory, Source, Statement, checked_text
from ...memory.store import MemoryStore
from ...memory.wording import is_secret, plain
from ...messages.parts import DataPart, Message
from ..chat_memories import KEPT

LISTED: Final = 20
OFF: Final = "Memory is switched off, so nothing was remembered."
LEAST_SHARE: Final = 0.5
"""The share of the words of `/forget` that a memory must have."""
LAST: Final = frozenset(("that", "it", "this", "the last one"))
"""Words of `/forget` for what was remembered or used last."""


class MemoryCommands:
    """Answers for one user. `allowed` is the mode of the installation; `escaped` escapes Markdown.
    Methods raise StoreError."""

    def __init__(self, memories: MemoryStore, allowed: str, escaped: Callable[[str], str]) -> None:
        self._memories = memories
        self._allowed = allowed
        self._escaped = escaped
        self._forgotten: tuple[str, ...] = ()

    async def list(self, words: str) -> str:
        """The memories that have these words, the best first, or the newest ones; empty where
        there are none."""
        known = await self._memories.read()
        words = words[:LONGEST_TEXT]
        if words:
            scored = await asyncio.to_thread(known.search, words, LISTED)
            found = [one.memory for one in scored]
            return self._lines(found) or f"Nothing is remembered about {self._escaped(words)}."
        lines = self._lines(newest_first(known.current)[:LISTED])
        more = len(known.current) - LISTED
        return lines + (f"\n- and {more:,} more" if more > 0 else "")

    async def remember(self, text: str, chat_id: str | None, message_id: str) -> str:
        if not text:
            return "What should be remembered? `/remember I always want 4:5 portraits`"
        known = await self._memories.read()
        if known.mode_within(self._allowed) == "off":
            return OFF
        try:
            checked = checked_text(text)
        except InvalidRequest as error:
            return error.message
        if is_secret(checked):
            return "Passwords and keys are not remembered."
        source = Source(chat_id, message_id, text) if chat_id is not None else None
        try:
            kept = await self._memories.keep(Statement(text, source=source))
        except Conflict:
            return "That is remembered already."
        except InvalidRequest as error:
            return error.message
        replaced = f" It replaces {_count(len(kept.superseded))}." if kept.superseded else ""
        said = self._escaped(kept.memory.text)
        return f"Remembered: {said}.{replaced} `/forget that` takes it back."

    async def forget(self, words: str, chat_id: str | None, history: Sequence[Message]) -> str:
        """Forgets the one memory that the words name; of several it shows which there are. "that"
        is what was remembered or used last in this chat, whose messages are `history`."""
        words = words[:LONGEST_TEXT]
        if not words:
            return "What should be forgotten? `/forget <words>`, `/forget that`, `/forget undo`"
        if words.lower() == "undo":
            restored = await self._memories.restore(self._forgotten)
            return f"Brought back: {_count(len(restored))}." if restored else _NOTHING_TO_UNDO
        known = await self._memories.read()
        if words.lower().rstrip(".!") in LAST:
            found = await asyncio.to_thread(_last, known, chat_id, history)
        else:
            found = await asyncio.to_thread(_meant, known, words)
        if len(found) != 1:
            named = "\n".join(("Which of them? Name more of its words.", "", self._lines(found)))
            return named if found else f"Nothing is remembered about {self._escaped(words)}."
        self._forgotten = (found[0].id,)
        await self._memories.delete(self._forgotten)
        said = self._escaped(found[0].text)
        return f"Forgotten: {said}. `/forget undo` brings it back within a minute."

    def _lines(self, found: Sequence[Memory]) -> str:
        return "\n".join(f"- {self._escaped(memory.text)}" for memory in found)


def _meant(known: Known, words: str) -> list[Memory]:
    same = [memory for memory in known.current if plain(memory.text) == plain(words)]
    named = [memory for memory in known.current if f" {plain(words)} " in f" {plain(memory.text)} "]
    found = [one.memory for one in known.search(words, LISTED) if one.share >= LEAST_SHARE]
    return same or named or found


def _last(known: Known, chat_id: str | None, history: Sequence[Message]) -> list[Memory]:
    """What was remembered in the chat last, or what its last answer with memories was given,
    whichever is later; else what was remembered last in any chat."""
    current = known.current_by_id
    from_message: dict[str, list[Memory]] = {}
    for memory in newest_first(known.current):
        if memory.source is not None and memory.source.chat_id == chat_id:
            from_message.setdefault(memory.source.message_id, []).append(memory)
    for message in reversed(history):
        kept = [current[one] for one in _told_ids(message) if one in current]
        if newest := kept[-1:] or from_message.get(message.id, [])[:1]:
            return newest
        given = message.metadata.get("memories")
        found = [current[one] for one in given if one in current] if given else []
        if found:
            return found
    return newest_first(known.current)[:1]


def _told_ids(message: Message) -> list[str]:
    """The ids of the memories that an answer says were kept."""
    told: list[Any] = [
        part.data for part in message.parts if isinstance(part, DataPart) and part.name == KEPT
    ]
    return [str(data.get("id")) for data in told if isinstance(data, dict)]


def _count(number: int) -> str:
    return "1 memory" if number == 1 else f"{number:,} memories"


_NOTHING_TO_UNDO: Final = "Nothing was forgotten by `/forget` within the last minute."
