"""Routes as data: every route is behind the guard, and gets its body and query parsed."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from plugin.assistant.routes import route, table
from plugin.assistant.routes.answers import answer
from plugin.assistant.routes.guard import guarded as guarded_handler
from plugin.assistant.routes.route import PlainRequest, Request, Route
from plugin.assistant.validation import Body, Query, Whole
from plugin.tests.routes.site import QUIET, error_of, site


class Sum(Body):
    numbers: tuple[Whole, ...]


class Scale(Query):
    unit: str = "m"


async def add(request: Request[Sum, Scale]) -> web.Response:
    return answer({"sum": f"{sum(request.body.numbers)} {request.query.unit}"})


async def name(request: PlainRequest) -> web.Response:
    return answer({"name": request.variable("name")})


OURS = (Route("POST", "/sum", add, {200: "X"}), Route("GET", "/names/{name}", name, {200: "X"}))


def only(routes: tuple[Route, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugin.assistant.app.ROUTES", routes)


def test_only_the_route_that_takes_the_token_needs_none() -> None:
    assert [one.path for one in table.ROUTES if not one.token_needed] == ["/assistant/session"]


async def test_no_route_is_served_without_the_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each handler of the app is the guard's, and the guard is asked before the handler."""
    guarded: list[Any] = []

    def recording(handler: Any, gate: Any, *, token_needed: bool) -> Any:
        guarded.append(guarded_handler(handler, gate, token_needed=token_needed))
        return guarded[-1]

    monkeypatch.setattr(route, "guarded", recording)
    async with site(tmp_path) as ours:
        guarded.clear()
        found = [one.handler for one in ours.assistant.routes()]
    assert found == guarded and len(found) == len(table.ROUTES)


async def test_a_route_that_is_added_is_refused_to_other_hosts_and_other_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(OURS, monkeypatch)
    async with site(tmp_path / "near") as ours:
        for method, path in ours.calls():
            answered = await ours.client.request(method, path, headers={"Host": "evil.example"})
            assert answered.status == 403
    async with site(tmp_path / "far", QUIET.__class__(token="t"), local=False) as far:
        for method, path in far.calls():
            assert (await far.client.request(method, path)).status == 401


async def test_a_handler_gets_what_its_annotation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(OURS, monkeypatch)
    async with site(tmp_path) as ours:
        answered = await ours.client.post("/api/sum?unit=kg&more=x", json={"numbers": [1, 2]})
        assert await answered.json() == {"sum": "3 kg"}
        answered = await ours.client.post("/api/sum?unit=", json={"numbers": []})
        assert await answered.json() == {"sum": "0 m"}
        answered = await ours.client.get("/api/names/fox")
        assert await answered.json() == {"name": "fox"}
        refused = await ours.client.post("/api/sum", json={"numbers": ["1"]})
        assert (refused.status, error_of(await refused.json())["where"]) == (400, "numbers")
