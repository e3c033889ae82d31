"""/memories: what holds across chats, for the user to see, correct and delete (R44)."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from ..chats.export.trajectory import json_without
from ..config import Settings
from ..errors import Conflict, InvalidRequest, NotFound
from ..memory.known import Known, newest_first
from ..memory.memory import (
    LONGEST_TEXT,
    SUMMARY,
    Kind,
    Memory,
    Mode,
    Statement,
    entities_of,
    kind_of,
    memory_lines,
    source_of,
)
from ..validation import (
    NOT_GIVEN,
    Body,
    Changes,
    Flag,
    NoFields,
    Query,
    QueryFlag,
    described_length,
)
from .answers import answer, nothing
from .chats import Limit
from .route import PlainRequest, Request, Route

DEFAULT_PAGE: Final = 50
MOST_PAGE: Final = 500
MOST_LINES: Final = 10_000
LONGEST_LINE: Final = 20_000
"""Characters of a line of an import."""
Text = Annotated[str, described_length(LONGEST_TEXT)]
"""The store checks the length."""


class NewMemory(Body):
    text: Text
    kind: Kind = "fact"
    pinned: Flag = False


class MemoryChanges(Changes):
    text: Text = NOT_GIVEN
    kind: Kind = NOT_GIVEN
    pinned: Flag = NOT_GIVEN


class MemoryQuery(Query):
    kind: Kind | None = None
    q: str = Field("", max_length=1_000, description="Words to search for; the best hits first.")
    limit: Limit = DEFAULT_PAGE
    before: str | None = Field(None, description="The last id of the page before.")
    superseded: QueryFlag = Field(False, description="Also the memories that another one replaced.")


class MemoryLines(Body):
    lines: Annotated[
        list[Annotated[str, Field(max_length=LONGEST_LINE)]], Field(max_length=MOST_LINES)
    ]


class Extraction(Body):
    chat_id: Annotated[str, described_length(200)]


class MemorySettings(Body):
    mode: Mode


async def list_memories(request: Request[None, MemoryQuery]) -> web.Response:
    """The memories, newest first; with `q`, those that fit it best."""
    query = request.query
    known = Known(memories=await request.space.memories.all())
    limit = min(query.limit, MOST_PAGE)
    wanted = await asyncio.to_thread(_wanted, known, query)
    if query.before is not None:
        ids = [memory.id for memory in wanted]
        if query.before not in ids:
            raise NotFound("There is no such memory in this list.")
        wanted = wanted[ids.index(query.before) + 1 :]
    page = [memory.to_json() for memory in wanted[:limit]]
    return answer({"memories": page, "has_more": len(wanted) > limit})


def _wanted(known: Known, query: MemoryQuery) -> list[Memory]:
    if query.q.strip():
        found = known.matching(query.q, MOST_PAGE, superseded=query.superseded)
    else:
        found = newest_first(known.memories if query.superseded else known.current)
    return [memory for memory in found if query.kind in (None, memory.kind)]


async def add_memory(request: Request[NewMemory, None]) -> web.Response:
    """Remember a statement. What it replaces is superseded."""
    await _check_on(request)
    body = request.body
    _check_kind(body.kind)
    statement = Statement(body.text, body.kind, pinned=body.pinned)
    kept = await request.space.memories.keep(statement)
    return answer(kept.memory.to_json(), status=201)


async def change_memory(request: Request[MemoryChanges, None]) -> web.Response:
    """Give a memory another text, kind or pin."""
    store, changes = request.space.memories, request.body.changes
    _check_kind(changes.get("kind"))
    changed = await store.change(request.variable("id"), **changes)
    return answer(changed.to_json())


async def delete_memory(request: PlainRequest) -> web.Response:
    """Forget a memory. It can be restored for a minute."""
    if not await request.space.memories.delete([request.variable("id")]):
        raise NotFound("There is no such memory.")
    return nothing()


async def restore_memory(request: Request[NoFields, None]) -> web.Response:
    """Bring back a memory that was deleted less than a minute ago."""
    restored = await request.space.memories.restore([request.variable("id")])
    if not restored:
        raise NotFound("There is no such memory that can be restored.")
    return answer(restored[0].to_json())


async def read_entity(request: PlainRequest) -> web.Response:
    """What is known of a name: memories and relations, one step on."""
    name = request.variable("name")
    known = await request.space.memories.read()
    return answer(await asyncio.to_thread(_entity, known, name))


def _entity(known: Known, name: str) -> dict[str, Any]:
    found, relations = known.entity(name)
    return {
        "name": name,
        "memories": [memory.to_json() for memory in found],
        "relations": [relation.to_json() for relation in relations],
    }


async def export_memories(request: PlainRequest) -> web.Response:
    """All memories, superseded ones included, as JSON Lines, without any key that the assistant
    knows."""
    found = await request.space.memories.all()
    secrets = await asyncio.to_thread(request.installation.secrets)
    lines = await asyncio.to_thread(lambda: json_without(memory_lines(found), secrets))
    headers = {"Content-Disposition": 'attachment; filename="memories.jsonl"'}
    return web.Response(
        text=lines, content_type="application/jsonl", charset="utf-8", headers=headers
    )


async def import_memories(request: Request[MemoryLines, None]) -> web.Response:
    """Add the lines of an export. What is known is not added again. Where this breaks off, lines
    that were added stay, and the same lines again add the rest."""
    await _check_on(request)
    statements = await asyncio.to_thread(_statements, request.body.lines)
    added = await request.space.memories.add_lines(statements)
    return answer({"added": added.added, "known": added.known, "refused": added.refused})


async def extract_memories(request: Request[Extraction, None]) -> web.Response:
    """Look for what to remember in a chat, with one request to its model."""
    await _check_on(request)
    await request.space.extract(request.body.chat_id)
    return answer({"chat_id": request.body.chat_id}, status=202)


async def read_memory_settings(request: PlainRequest) -> web.Response:
    """What is remembered: everything, only what the user asks for, or nothing."""
    known = await request.space.memories.read()
    return answer({"mode": mode_now(known, request.installation.settings)})


async def set_memory_settings(request: Request[MemorySettings, None]) -> web.Response:
    """Set what is remembered; `ASSISTANT_MEMORY` is the most that is allowed."""
    await request.space.memories.set_mode(request.body.mode)
    known = await request.space.memories.read()
    return answer({"mode": mode_now(known, request.installation.settings)})


def mode_now(known: Known, settings: Settings) -> Mode:
    return known.mode_within(settings.memory)


def _check_kind(kind: Kind | None) -> None:
    if kind == SUMMARY:
        raise InvalidRequest("only the assistant writes summaries of chats", where="kind")


async def _check_on(request: Request[Any, Any]) -> None:
    known = await request.space.memories.read()
    if mode_now(known, request.installation.settings) == "off":
        raise Conflict("Memory is switched off.", code="memory_off")


def _statements(lines: list[str]) -> list[Statement | None]:
    return [_statement_of(line) for line in lines]


def _statement_of(line: str) -> Statement | None:
    """The statement in a line of an export; None for a line that holds none, and for a memory that
    another one replaced."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return None
    kind = kind_of(value.get("kind", "fact"))
    if kind is None or value.get("superseded_by") is not None:
        return None
    return Statement(
        value["text"],
        kind,
        entities_of(value.get("entities")),
        source_of(value.get("source")),
        value.get("pinned") is True,
    )


_MEMORIES: Final = "/memories"
_ONE: Final = f"{_MEMORIES}/{{id}}"
ROUTES: Final = (
    Route("GET", _MEMORIES, list_memories, {200: "MemoryList"}, errors=(404,)),
    Route("POST", _MEMORIES, add_memory, {201: "Memory"}, errors=(409,)),
    Route("GET", f"{_MEMORIES}/export", export_memories, {200: "MemoryExport"}),
    Route("POST", f"{_MEMORIES}/import", import_memories, {200: "MemoryImport"}, errors=(409,)),
    Route(
        "POST",
        f"{_MEMORIES}/extract",
        extract_memories,
        {202: "MemoryExtraction"},
        errors=(404, 409),
    ),
    Route("GET", f"{_MEMORIES}/settings", read_memory_settings, {200: "MemorySettings"}),
    Route("PUT", f"{_MEMORIES}/settings", set_memory_settings, {200: "MemorySettings"}),
    Route("GET", f"{_MEMORIES}/entities/{{name}}", read_entity, {200: "MemoryEntity"}),
    Route("PATCH", _ONE, change_memory, {200: "Memory"}, errors=(404, 409)),
    Route("DELETE", _ONE, delete_memory, {204: "Nothing"}, errors=(404,)),
    Route("POST", f"{_ONE}/restore", restore_memory, {200: "Memory"}, errors=(404,)),
)
