"""The library of chats: create, search, rename, pin, branch, delete, restore, clean up."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import AfterValidator, BeforeValidator, Field

from ..chats import Branches, WorkflowName, titles
from ..chats.chat_json import chat_json, entry_json, time_json
from ..chats.export.trajectory import LONGEST_NAME
from ..chats.identity import chat_id as check_chat_id
from ..chats.identity import new_chat_id
from ..chats.search.word_search import WordHit
from ..validation import (
    NOT_GIVEN,
    Body,
    Changes,
    Flag,
    NoFields,
    Query,
    QueryFlag,
    Whole,
    schema_named,
)
from .answers import answer, nothing
from .chats import Limit
from .route import Request, Route
from .turns import LONGEST_ID

LONGEST_TITLE: Final = 200
"""Characters of a title, as the store keeps it."""
LONGEST_QUERY: Final = 1_000
"""Characters; of a question as long as this, the words that count are looked for."""
RESULTS: Final = 20
"""Results of a search without a `limit`."""
MOST_DAYS: Final = 36_500


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a title, got only spaces")
    return text


Title = Annotated[str, Field(min_length=1, max_length=LONGEST_TITLE), AfterValidator(_not_blank)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class NamedWorkflow(Body):
    id: Name
    name: Name


class NewChat(Body):
    id: Annotated[str | None, schema_named("ChatId", null=True)] = None
    title: Title | None = None
    workflow: NamedWorkflow | None = None
    temporary: Flag = Field(False, description="Kept in memory only, in no list, search or memory.")


class BranchAt(Body):
    message_id: Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]


class CleanUp(Body):
    older_than_days: Annotated[Whole, Field(ge=0, le=MOST_DAYS)]
    dry_run: Flag = True


class ChatChanges(Changes):
    title: Title = NOT_GIVEN
    pinned: Flag = NOT_GIVEN


class DeletionQuery(Query):
    memories: QueryFlag = Field(False, description="Also what was remembered from it.")


class SearchQuery(Query):
    q: Annotated[
        str,
        BeforeValidator(lambda text: text.strip()),
        Field(min_length=1, max_length=LONGEST_QUERY),
    ]
    limit: Limit = RESULTS


async def create_chat(request: Request[NewChat, None]) -> web.Response:
    """Make an empty chat."""
    body, space = request.body, request.space
    identity = new_chat_id() if body.id is None else body.id
    if body.temporary:
        space = await request.own_space.begin_temporary(check_chat_id(identity))
    chat = await space.chats.create(
        identity,
        titles.NEW_CHAT if body.title is None else body.title,
        None if (named := body.workflow) is None else WorkflowName(named.id, named.name),
        "rule" if body.title is None else "user",
    )
    space.sessions.created(chat)
    return answer(chat_json(chat), status=201)


async def branch_chat(request: Request[BranchAt, None]) -> web.Response:
    """A new chat with this one's path up to and including a message."""
    space = request.space
    branches = Branches(space.chats)
    chat = await branches.branch(request.variable("id"), request.body.message_id, new_chat_id())
    space.sessions.created(chat)
    return answer({"id": chat.id}, status=201)


async def clean_up_chats(request: Request[CleanUp, None]) -> web.Response:
    """Delete the chats in which nothing happened for so long.

    Pinned chats stay, and chats that are being answered. Each of the others can be brought back
    within a minute.
    """
    clean_up, dry_run = request.space.clean_up, request.body.dry_run
    days = request.body.older_than_days
    found = await (clean_up.old(days) if dry_run else clean_up.delete(days))
    chats = [
        {"id": chat.id, "title": chat.title, "updated": time_json(chat.updated)} for chat in found
    ]
    deleted = 0 if dry_run else len(found)
    return answer({"chats": chats, "deleted": deleted, "dry_run": dry_run})


async def search_chats(request: Request[None, SearchQuery]) -> web.Response:
    """Messages that hold all these words, in all chats, the best first."""
    space, query = request.space, request.query
    hits = await space.search.find_words(query.q, query.limit)
    named = {}
    for identity in {hit.chat_id for hit in hits}:
        if (chat := await space.chats.get(identity)) is not None:
            named[identity] = chat.title
    # A chat that was deleted since the search has no title any more.
    found = [hit for hit in hits if hit.chat_id in named]
    return answer({"results": [_result(hit, named[hit.chat_id]) for hit in found]})


async def change_chat(request: Request[ChatChanges, None]) -> web.Response:
    """Rename or pin."""
    space, body = request.space, request.body
    chat = await space.chats.change(request.variable("id"), body.title, body.pinned)
    await space.sessions.changed(chat)
    return answer(space.sessions.entry(chat))


async def delete_chat(request: Request[None, DeletionQuery]) -> web.Response:
    """Hide the chat at once, and remove it for good a minute later."""
    space, identity = request.space, request.variable("id")
    await space.sessions.delete(identity, partial(space.trash.delete, identity))
    await space.learned.chat_deleted(identity, memories=request.query.memories)
    space.temporary_chats.forget(identity)
    return nothing()


async def restore_chat(request: Request[NoFields, None]) -> web.Response:
    """Bring a deleted chat back, within a minute, with the memories that went with it."""
    space = request.space
    chat = await space.trash.restore(request.variable("id"))
    await space.learned.chat_restored(chat.id)
    space.sessions.created(chat)
    return answer(entry_json(chat))


ROUTES = (
    Route("POST", "/chats", create_chat, {201: "Chat"}, errors=(409, 429)),
    Route("POST", "/chats/cleanup", clean_up_chats, {200: "CleanedUp"}),
    Route("GET", "/chats/search", search_chats, {200: "SearchResults"}),
    Route("PATCH", "/chats/{id}", change_chat, {200: "ChatEntry"}, errors=(404,)),
    Route("DELETE", "/chats/{id}", delete_chat, {204: "Nothing"}, errors=(404, 409)),
    Route("POST", "/chats/{id}/restore", restore_chat, {200: "ChatEntry"}, errors=(404,)),
    Route("POST", "/chats/{id}/branch", branch_chat, {201: "NewChatId"}, errors=(404,)),
)


def _result(hit: WordHit, title: str) -> dict[str, Any]:
    return {
        "chat_id": hit.chat_id,
        "message_id": hit.message_id,
        "role": hit.role,
        "title": title,
        "snippet": hit.snippet,
        "marks": [list(mark) for mark in hit.marks],
    }
