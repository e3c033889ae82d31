"""The user's rules and preferences, over HTTP."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
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


async def test_rules_take_the_order_that_the_user_gives_them(ours: Site) -> None:
    added = [await ours.client.post(RULES, json={"text": text}) for text in ("a", "b", "c")]
    a, b, c = [(await one.json())["id"] for one in added]

    async def texts() -> list[str]:
        listed = await (await ours.client.get(RULES)).json()
        return [rule["text"] for rule in listed["rules"]]

    put = await ours.client.put(f"{RULES}/order", json={"ids": [c, a, b]})
    assert put.status == 200
    assert [rule["id"] for rule in (await put.json())["rules"]] == [c, a, b]
    assert await texts() == ["c", "a", "b"]
    # A new rule is the last one; what is not named keeps its order behind what is.
    await ours.client.post(RULES, json={"text": "d"})
    assert await texts() == ["c", "a", "b", "d"]
    await ours.client.put(f"{RULES}/order", json={"ids": [b, "999", "none", b]})
    assert await texts() == ["b", "c", "a", "d"]
    await ours.client.delete(f"{RULES}/{b}")
    await ours.client.patch(f"{RULES}/{a}", json={"text": "A"})
    assert await texts() == ["c", "A", "d"]


@pytest.mark.parametrize("body", [{}, {"ids": "1"}, {"ids": [5]}, {"ids": [], "x": 1}])
async def test_a_wrong_order_is_a_400(ours: Site, body: object) -> None:
    assert (await ours.client.put(f"{RULES}/order", json=body)).status == 400


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


def damage(folder: Path, statement: str) -> None:
    (path,) = folder.rglob("assistant.db")
    with closing(sqlite3.connect(path)) as file:
        file.execute(statement)
        file.commit()


@pytest.mark.parametrize("table", ["user_rules", "user_preferences", "memories"])
async def test_a_damaged_number_of_a_row_leaves_room_for_others(tmp_path: Path, table: str) -> None:
    async def add(ours: Site, words: str) -> None:
        answers = [
            await ours.client.post(RULES, json={"text": words}),
            await ours.client.put(f"{PREFERENCES}/{words}", json={"value": words}),
            await ours.client.post("/api/memories", json={"text": words}),
        ]
        assert [answer.status for answer in answers] == [201, 200, 201]

    async with site(tmp_path) as ours:
        await add(ours, "blue skies")
    damage(tmp_path, f"UPDATE {table} SET row = {2**63 - 1}")
    async with site(tmp_path) as ours:
        await add(ours, "green fields")
        rules = (await (await ours.client.get(RULES)).json())["rules"]
        assert [rule["text"] for rule in rules] == ["blue skies", "green fields"]
        assert (await ours.client.delete(f"{RULES}/{rules[0]['id']}")).status == 204
