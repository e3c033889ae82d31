"""/user-context/rules and preferences: statements of the user that every request carries."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from aiohttp import web
from pydantic import Field

from ..user_context.rules import MAX_RULES, MAX_TEXT_CHARS
from ..validation import NOT_GIVEN, Body, Changes, described_length
from .answers import answer, nothing
from .route import PlainRequest, Request, Route

LONGEST_ID = 20
"""Characters of a rule's id."""
Text = Annotated[str, described_length(MAX_TEXT_CHARS)]
"""The store checks the length."""


class RuleBody(Body):
    text: Text


class RuleChanges(Changes):
    text: Text = NOT_GIVEN


class RuleOrder(Body):
    ids: Annotated[list[Annotated[str, described_length(LONGEST_ID)]], Field(max_length=MAX_RULES)]


class PreferenceBody(Body):
    value: Text


async def list_rules(request: PlainRequest) -> web.Response:
    """What the user said always to do or not to do, in the user's order, at first oldest first."""
    statements = await request.space.user_context.read()
    return answer({"rules": [asdict(rule) for rule in statements.rules]})


async def add_rule(request: Request[RuleBody, None]) -> web.Response:
    """Add a rule."""
    rule = await request.space.user_context.add_rule(request.body.text)
    return answer(asdict(rule), status=201)


async def change_rule(request: Request[RuleChanges, None]) -> web.Response:
    """Give a rule another text."""
    store = request.space.user_context
    return answer(asdict(await store.change_rule(request.variable("id"), request.body.text)))


async def delete_rule(request: PlainRequest) -> web.Response:
    """Delete a rule."""
    await request.space.user_context.delete_rule(request.variable("id"))
    return nothing()


async def order_rules(request: Request[RuleOrder, None]) -> web.Response:
    """Give the rules another order.

    Rules that are not named come after, as they were; ids of no rule are passed over.
    """
    await request.space.user_context.order_rules(request.body.ids)
    statements = await request.space.user_context.read()
    return answer({"rules": [asdict(rule) for rule in statements.rules]})


async def list_preferences(request: PlainRequest) -> web.Response:
    """The user's preferences, the longest unchanged first."""
    statements = await request.space.user_context.read()
    return answer({"preferences": [asdict(item) for item in statements.preferences]})


async def set_preference(request: Request[PreferenceBody, None]) -> web.Response:
    """Add a preference, or replace its value."""
    store = request.space.user_context
    return answer(asdict(await store.set_preference(request.variable("key"), request.body.value)))


async def delete_preference(request: PlainRequest) -> web.Response:
    """Delete a preference."""
    await request.space.user_context.delete_preference(request.variable("key"))
    return nothing()


_RULES, _PREFERENCES = "/user-context/rules", "/user-context/preferences"
ROUTES = (
    Route("GET", _RULES, list_rules, {200: "RuleList"}),
    Route("POST", _RULES, add_rule, {201: "Rule"}),
    Route("PUT", f"{_RULES}/order", order_rules, {200: "RuleList"}),
    Route("PATCH", f"{_RULES}/{{id}}", change_rule, {200: "Rule"}, errors=(404,)),
    Route("DELETE", f"{_RULES}/{{id}}", delete_rule, {204: "Nothing"}, errors=(404,)),
    Route("GET", _PREFERENCES, list_preferences, {200: "PreferenceList"}),
    Route("PUT", f"{_PREFERENCES}/{{key}}", set_preference, {200: "Preference"}),
    Route("DELETE", f"{_PREFERENCES}/{{key}}", delete_preference, {204: "Nothing"}, errors=(404,)),
)
