"""Routes as data, and how a request gets from aiohttp to a handler.

    async def create_chat(request: Request[NewChat, None]) -> web.Response: ...
    ROUTES = (Route("POST", "/chats", create_chat, {201: "Chat"}, errors=(409,)),)

`served` puts every route behind the guard and parses its body and query, so that a handler gets
values. A handler's annotation gives the shapes of body and query; its docstring and the rest of the
route are its description in the OpenAPI document.
"""

from __future__ import annotations

import functools
import typing
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Generic, TypeVar

from aiohttp import web

from ..config import Settings
from ..errors import Problem
from ..llm.book import ProviderBook
from ..llm.client import Client
from ..llm.resolver import Resolver
from ..space import UserSpace
from ..user_data.usage import Usage
from ..validation import parsed
from ..workflow.node_definitions import NodeDefinitions
from .body import BodyReader
from .guard import Gate, guarded

Body = TypeVar("Body")
Query = TypeVar("Query")


@dataclass(frozen=True, slots=True)
class Installation:
    """The parts of the assistant that handlers use.

    `space_of` gives the space of the user who sends a request, and raises `Refused` for a user that
    ComfyUI does not have. `secrets` are the texts that no export may hold. `empty_data` deletes
    all data of the user who sends a request. `problems` returns the
    faults found at the start; a function, since the start ends after the routes are made.
    `node_definitions` gives the definitions of ComfyUI's nodes.
    """

    gate: Gate
    space_of: Callable[[web.Request], UserSpace]
    settings: Settings
    book: ProviderBook
    resolver: Resolver
    client: Client
    secrets: Callable[[], frozenset[str]]
    empty_data: Callable[[web.Request, int], Awaitable[Usage]]
    problems: Callable[[], tuple[Problem, ...]]
    node_definitions: Callable[[], Awaitable[NodeDefinitions]]
    comfyui_version: str | None
    preview: bool


@dataclass(frozen=True, slots=True)
class Request(Generic[Body, Query]):
    """A request with its body and query parsed; None where the route takes none."""

    http: web.Request
    installation: Installation
    body: Body
    query: Query

    @property
    def space(self) -> UserSpace:
        """The space of the user who sends the request, or of that user's temporary chats where the
        request names one of these."""
        named = self.http.match_info.get("id") or getattr(self.body, "id", None)
        return self.own_space.of_chat(named if isinstance(named, str) else None)

    @property
    def own_space(self) -> UserSpace:
        """The space of the user who sends the request."""
        return self.installation.space_of(self.http)

    def variable(self, name: str) -> str:
        """The part of the path that `{name}` stands for."""
        return self.http.match_info[name]


Handler = Callable[[Request[Any, Any]], Awaitable[web.StreamResponse]]
PlainRequest = Request[None, None]


@dataclass(frozen=True, slots=True)
class Route:
    """One route; `path` is without `/api`, which ComfyUI adds.

    `answers` names, for each status of success, a response or a schema of the OpenAPI document;
    `errors` are the statuses of errors that belong to this route. Without `token_needed` the route
    also serves another machine that does not send the token yet.
    """

    method: str
    path: str
    handler: Handler
    answers: Mapping[int, str]
    errors: tuple[int, ...] = ()
    token_needed: bool = True

    @property
    def shapes(self) -> tuple[Any, Any]:
        """The shapes of body and query, as the handler's annotation says; None for none."""
        annotation = typing.get_type_hints(self.handler, include_extras=True)["request"]
        body, query = (
            None if shape is NoneType else shape for shape in typing.get_args(annotation)
        )
        return body, query


def served(routes: Iterable[Route], installation: Installation) -> list[web.RouteDef]:
    """The routes as aiohttp takes them, each behind the guard."""
    settings = installation.settings
    bodies = BodyReader(
        installation.gate.memory, settings.max_json_values, settings.stalled_seconds
    )
    return [
        web.route(
            route.method,
            route.path,
            guarded(
                _parsing(route, installation, bodies),
                installation.gate,
                token_needed=route.token_needed,
            ),
        )
        for route in routes
    ]


def _parsing(
    route: Route, installation: Installation, bodies: BodyReader
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    body_shape, query_shape = route.shapes

    @functools.wraps(route.handler)
    async def handler(http: web.Request) -> web.StreamResponse:
        query = None if query_shape is None else parsed(query_shape, _parameters(http))
        body = None if body_shape is None else await bodies.read(http, body_shape)
        return await route.handler(Request(http, installation, body, query))

    return handler


def _parameters(http: web.Request) -> dict[str, str]:
    """The query's parameters, the first of each name; an empty one counts as missing."""
    return {name: http.query[name] for name in http.query if http.query[name]}
