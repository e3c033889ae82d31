"""Tools that keep and find what holds across chats (R44)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..errors import ToolError
from .parameters import Arguments
from .ports import ChatMemories
from .tool import FULL_WINDOW, Asking, Tool, ToolContext

MEMORY_WRITE = "memory_write"
MOST_HITS = 20
USUAL_HITS = 5
Kind = Literal["preference", "fact", "entity", "relation", "session_summary"]


class NewMemory(Arguments):
    text: str = Field(description="One short statement, in the user's own words and language.")
    quote: str | None = Field(
        default=None, description="The user's words in this chat that say it, letter by letter."
    )
    kind: Kind = "fact"
    entities: list[str] = Field(default=[], max_length=20, description="Names in the text.")
    pinned: bool = False


class MemoryQuery(Arguments):
    query: str
    k: int = Field(default=USUAL_HITS, ge=1, le=MOST_HITS)


class Entity(Arguments):
    entity: str = Field(description="A name: a person, project, model file, setting.")


async def _asks(arguments: NewMemory, context: ToolContext) -> Asking:
    """A memory that quotes a person's words in this chat can be undone, and need not ask; every
    other one is shown to the user first, each time."""
    memories = _memories(context)
    await memories.check_on()
    said = memories.said(arguments.quote) if arguments.quote else False
    special = arguments.pinned or arguments.kind == "session_summary"
    text = memories.text_of(arguments.text, arguments.quote if said else None)
    return Asking(f"Remembers in all chats: {text}", each_time=special or not said)


async def _write(arguments: NewMemory, context: ToolContext) -> Any:
    return await _memories(context).write(
        arguments.text,
        arguments.quote,
        arguments.kind,
        tuple(arguments.entities),
        pinned=arguments.pinned,
    )


async def _search(arguments: MemoryQuery, context: ToolContext) -> Any:
    return await _memories(context).search(arguments.query, arguments.k)


async def _recall(arguments: Entity, context: ToolContext) -> Any:
    return await _memories(context).recall(arguments.entity)


def _memories(context: ToolContext) -> ChatMemories:
    if context.memories is None:
        raise ToolError("This chat has no memory.")
    return context.memories


MEMORY_TOOLS = (
    Tool(
        name=MEMORY_WRITE,
        title="Remembered",
        description=(
            "Keeps a statement of the user for all chats: what they always want, have or call "
            "something. Quote their words, else they are asked first. Only the user deletes "
            "memories, by typing `/forget that`."
        ),
        kind="edits",
        run=_write,
        asks=_asks,
        window=FULL_WINDOW,
        group="memory",
    ),
    Tool(
        name="memory_search",
        title="Looked through what is remembered",
        description="Finds what the user said in other chats.",
        kind="reads",
        run=_search,
        parallel=True,
        window=FULL_WINDOW,
        group="memory",
    ),
    Tool(
        name="memory_recall",
        title="Recalled what is known of a name",
        description="All that is remembered of one name, and of what it is related to.",
        kind="reads",
        run=_recall,
        parallel=True,
        window=FULL_WINDOW,
        group="memory",
    ),
)
