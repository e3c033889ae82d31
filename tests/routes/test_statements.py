"""The user's rules and preferences, over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.routes.site import Site, site

RULES = "/api/user-context/rules"
PREFERENCES = "/api/user-context/preferences"


@pytest.fixture
async def ours(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path) as opened:
        yield opened


async def test_rules_are_added_listed_changed_and_deleted(ours: Site) -> None:
    added = await ours.client.post(RULES, json={"text": "Answer briefly."})
    rule: dict[str, Any] = await added.json()
    assert added.status == 201
    assert set(rule) == {"id", "text", "created"} and rule["text"] == "Answer briefly."
    assert rule["created"].endswith("+00:00")
    assert await (await ours.client.get(RULES)).json() == {"rules": [rule]}

    changed = await ours.client.patch(f"{RULES}/{rule['id']}", json={"text": "Be brief."})
    assert (changed.status, await changed.json()) == (200, {**rule, "text": "Be brief."})

    assert (await ours.client.delete(f"{RULES}/{rule['id']}")).status == 204
    assert await (await ours.client.get(RULES)).json() == {"rules": []}
    assert (await ours.client.delete(f"{RULES}/{rule['id']}")).status == 404


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": 5}, {"text": "x", "id": "7"}])
async def test_a_wrong_rule_is_a_400(ours: Site, body: object) -> None:
    assert (await ours.client.post(RULES, json=body)).status == 400
    assert (await ours.client.patch(f"{RULES}/1", json=body)).status == 400


async def test_an_unknown_rule_is_a_404(ours: Site) -> None:
    for name in ("1", "none", "-1", "9" * 40, "%2e%2e", "1%00"):
        assert (await ours.client.delete(f"{RULES}/{name}")).status == 404


async def test_preferences_are_set_listed_replaced_and_deleted(ours: Site) -> None:
    path = f"{PREFERENCES}/image%20size"
    put = await ours.client.put(path, json={"value": "1024"})
    assert (put.status, await put.json()) == (200, {"key": "image size", "value": "1024"})
    await ours.client.put(path, json={"value": "768"})
    listed = await (await ours.client.get(PREFERENCES)).json()
    assert listed == {"preferences": [{"key": "image size", "value": "768"}]}
    assert (await ours.client.delete(path)).status == 204
    assert (await ours.client.delete(path)).status == 404


@pytest.mark.parametrize("key", ["a%2fb", "x" * 65, "%00", "a%0a", "%20a", "a:b"])
async def test_a_wrong_key_is_a_400(ours: Site, key: str) -> None:
    assert (await ours.client.put(f"{PREFERENCES}/{key}", json={"value": "x"})).status == 400


@pytest.mark.parametrize("body", [{}, {"value": ""}, {"value": 5}, {"value": "x", "key": "y"}])
async def test_a_wrong_preference_is_a_400(ours: Site, body: object) -> None:
    assert (await ours.client.put(f"{PREFERENCES}/size", json=body)).status == 400


async def test_half_a_character_is_kept_as_the_replacement_character(ours: Site) -> None:
    answer = await ours.client.post(RULES, json={"text": "cut \ud83d"})
    assert (answer.status, (await answer.json())["text"]) == (201, "cut \ufffd")
