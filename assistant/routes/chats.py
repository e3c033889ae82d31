"""Reading the stored chats: the list, the messages of a chat, and its last request's report."""

from __future__ import annotations

from typing import Annotated, Any

from aiohttp import web
from pydantic import BeforeValidator, Field, WithJsonSchema

from ..chats import Branches, ChatStore
from ..chats.chat_json import chat_json
from ..chats.log import pages
from ..context.report_words import in_words
from ..errors import InvalidRequest, NotFound
from ..messages.parts import Message
from ..sessions.serialization import versions_json
from ..validation import Query
from .answers import answer
from .route import PlainRequest, Request, Route

DEFAULT_PAGE = 50
MOST_DIGITS = 6
PLACES = ("before", "around", "after")
"""Query parameters that name the message at which a page lies; without them the page is the end of
the path."""


def _whole_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS or int(text) < 1:
        raise ValueError("expected a whole number from 1")
    return int(text)


Limit = Annotated[
    int,
    BeforeValidator(_whole_number),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": 10**MOST_DIGITS - 1}),
    Field(description="How many at most; more than the route gives at once is no error."),
]


class ListQuery(Query):
    limit: Limit = DEFAULT_PAGE
    before: str | None = Field(None, description="The last id of the page before.")


class PageQuery(Query):
    limit: Limit = DEFAULT_PAGE
    before: str | None = Field(None, description="The id of the first message of the page after.")
    around: str | None = Field(
        None,
        description="The id of the message in the middle of the page. At most one of the three.",
    )
    after: str | None = Field(None, description="The id of the last message of the page before.")


async def list_chats(request: Request[None, ListQuery]) -> web.Response:
    """The chats, last changed first."""
    found = await request.space.chats.list(request.query.limit, request.query.before)
    return answer({"chats": [request.space.sessions.entry(chat) for chat in found]})


async def read_chat(request: Request[None, PageQuery]) -> web.Response:
    """One chat, its messages paged from the end of the current path."""
    identity = request.variable("id")
    space = request.space
    chat = await space.chats.get(identity)
    if chat is None:
        raise NotFound(f"There is no chat {identity!r}.")
    # `seq` is read before the messages: an event that happens in between reaches the client twice,
    # and is never missed.
    session = space.sessions.known(identity)
    seq = session.events.seq if session is not None else 0
    messages, paging = await _page(space.chats, identity, request.query)
    versions = await Branches(space.chats).versions(identity, [message.id for message in messages])
    body: dict[str, Any] = {
        **chat_json(chat, space.sessions.compaction(identity)),
        "draft": chat.draft,
        "seq": seq,
        "messages": messages,
        "versions": versions_json(versions),
        **paging,
    }
    return answer(body)


async def read_context(request: PlainRequest) -> web.Response:
    """What the chat's last request to the model held."""
    report = await request.space.sessions.report(request.variable("id"))
    return answer({"report": report and report.to_json(), "text": in_words(report)})


ROUTES = (
    Route("GET", "/chats", list_chats, {200: "ChatList"}, errors=(404,)),
    Route("GET", "/chats/{id}", read_chat, {200: "ChatPage"}, errors=(404,)),
    Route("GET", "/chats/{id}/context", read_context, {200: "Context"}, errors=(404,)),
)


async def _page(
    store: ChatStore, identity: str, query: PageQuery
) -> tuple[tuple[Message, ...], dict[str, bool]]:
    """The messages of the page, and whether the path has messages before and after the page."""
    asked = {name: found for name in PLACES if (found := getattr(query, name)) is not None}
    if len(asked) > 1:
        raise InvalidRequest(f"expected at most one of {', '.join(PLACES)}", where="before")
    if "around" in asked or "after" in asked:
        [(place, message_id)] = asked.items()
        read = pages.around if place == "around" else pages.after
        found = await read(store, identity, message_id, query.limit)
        return found.messages, {"has_more": found.has_more, "has_later": found.has_later}
    messages, more = await store.page(identity, query.before, query.limit)
    return messages, {"has_more": more}
