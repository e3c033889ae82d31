"""Provider settings over HTTP: list, put, activate, delete, models, test."""

import json
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.providers import Script, ScriptedProvider, failure, text, tool_call
from plugin.tests.routes.site import QUIET, Site, error_of, site

SETTINGS = "/api/assistant/settings"
PROVIDERS = "/api/assistant/providers"
TEST = "/api/assistant/settings/test"
MODELS = "/api/assistant/models"
KEY = "sk-planted-0123456789abcdef"
URL = "http://127.0.0.1:9/v1"
MINE: dict[str, Any] = {"base_url": URL, "model": "m", "context_window": 8192, "api_key": KEY}
SHOWN = {
    "name": "mine",
    "base_url": URL,
    "model": "m",
    "context_window": 8192,
    "vision": None,
    "has_key": True,
    "source": "settings",
}


@pytest.fixture
async def ours(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path) as opened:
        yield opened


async def settings_of(ours: Site) -> dict[str, Any]:
    body: dict[str, Any] = await (await ours.client.get(SETTINGS)).json()
    return body


async def test_at_first_there_is_no_provider(ours: Site) -> None:
    assert await settings_of(ours) == {"providers": [], "active": None}


async def test_a_provider_is_saved_listed_and_shown_without_its_key(ours: Site) -> None:
    answer = await ours.client.put(f"{PROVIDERS}/mine", json=MINE)
    assert (answer.status, await answer.json()) == (200, SHOWN)
    assert await settings_of(ours) == {"providers": [SHOWN], "active": "mine"}
    kept = ours.folder / "providers.json"
    assert KEY in kept.read_text(encoding="utf-8") and stat.S_IMODE(kept.stat().st_mode) == 0o600


async def test_one_provider_is_active(ours: Site) -> None:
    for name in ("mine", "other"):
        await ours.client.put(f"{PROVIDERS}/{name}", json=MINE)
    assert (await settings_of(ours))["active"] == "mine"
    assert (await ours.client.post(f"{PROVIDERS}/other/activate", json={})).status == 204
    assert (await settings_of(ours))["active"] == "other"
    assert (await ours.client.post(f"{PROVIDERS}/mine/activate")).status == 204
    assert (await settings_of(ours))["active"] == "mine"


async def test_the_environments_provider_is_listed_and_can_be_chosen(tmp_path: Path) -> None:
    settings = replace(QUIET, openai_base_url=URL, openai_model="e", openai_api_key=KEY)
    async with site(tmp_path, settings) as ours:
        assert (await settings_of(ours))["active"] == "127.0.0.1:9 (environment)"
        await ours.client.put(f"{PROVIDERS}/mine", json=MINE)
        listed = await settings_of(ours)
        sources = [(provider["name"], provider["source"]) for provider in listed["providers"]]
        assert sources == [("mine", "settings"), ("127.0.0.1:9 (environment)", "environment")]
        assert listed["active"] == "mine"
        path = f"{PROVIDERS}/127.0.0.1:9%20(environment)/activate"
        assert (await ours.client.post(path, json={})).status == 204
        assert (await settings_of(ours))["active"] == "127.0.0.1:9 (environment)"


async def test_a_provider_is_deleted_once(ours: Site) -> None:
    await ours.client.put(f"{PROVIDERS}/mine", json=MINE)
    assert (await ours.client.delete(f"{PROVIDERS}/mine")).status == 204
    assert await settings_of(ours) == {"providers": [], "active": None}
    assert (await ours.client.delete(f"{PROVIDERS}/mine")).status == 404
    assert (await ours.client.post(f"{PROVIDERS}/mine/activate", json={})).status == 404


async def test_a_key_stays_with_its_address_and_nowhere_else(ours: Site) -> None:
    keyless = {name: value for name, value in MINE.items() if name != "api_key"}
    await ours.client.put(f"{PROVIDERS}/mine", json=MINE)
    same = await ours.client.put(f"{PROVIDERS}/mine", json={**keyless, "model": "n"})
    assert (await same.json())["has_key"] is True
    moved = await ours.client.put(
        f"{PROVIDERS}/mine", json={**keyless, "base_url": "http://127.0.0.1:10/v1"}
    )
    assert (await moved.json())["has_key"] is False
    assert KEY not in (ours.folder / "providers.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": None},
        {"base_url": ""},
        {"base_url": 5},
        {"base_url": "ftp://127.0.0.1"},
        {"base_url": "http://"},
        {"base_url": "file:///etc/passwd"},
        {"base_url": "http://user:secret@127.0.0.1/v1"},
        {"base_url": "http://127.0.0.1:99999/v1"},
        {"base_url": "http://[::1/v1"},
        {"base_url": "http://a b/v1"},
        {"base_url": "http://127.0.0.1/v1?key=x"},
        {"base_url": "http://⒈/v1"},
        {"base_url": "http://ａ／b/v1"},
        {"base_url": "http://127.0.0.1:0/v1"},
        {"base_url": "http://169.254.169.254/v1"},
        {"base_url": "http://2852039166/v1"},
        {"base_url": "http://[fe80::1]/v1"},
        {"base_url": "http://[::ffff:169.254.169.254]/v1"},
        {"base_url": "http://" + "a" * 3000},
        {"model": 5},
        {"model": "m\nn"},
        {"context_window": 1023},
        {"context_window": 8192.5},
        {"context_window": True},
        {"context_window": "8192"},
        {"context_window": 10**30},
        {"api_key": 5},
        {"api_key": "two\r\nlines"},
        {"api_key": "schlüssel"},
        {"key": KEY},
        {"source": "environment"},
        {"executable": "/bin/sh"},
    ],
)
async def test_a_wrong_provider_is_a_400_and_nothing_is_kept(
    ours: Site, change: dict[str, object]
) -> None:
    answer = await ours.client.put(f"{PROVIDERS}/mine", json={**MINE, **change})
    assert answer.status == 400
    assert error_of(await answer.json())["where"] == next(iter(change))
    assert await settings_of(ours) == {"providers": [], "active": None}


@pytest.mark.parametrize("name", ["a" * 65, "a%2fb", "a%5cb", "%00", "a%0a", "%20", "%C3%BC"])
async def test_a_wrong_name_is_a_400(ours: Site, name: str) -> None:
    assert (await ours.client.put(f"{PROVIDERS}/{name}", json=MINE)).status == 400


async def test_the_models_of_a_provider_are_listed(ours: Site) -> None:
    async with ScriptedProvider(models=["chatty", "text-embedding-3"], key=KEY) as server:
        await ours.client.put(f"{PROVIDERS}/mine", json={**MINE, "base_url": server.base_url})
        for query in ("?provider=mine", ""):
            answer = await ours.client.get(MODELS + query)
            assert answer.status == 200
            chatty = {"id": "chatty", "vision": None, "tools": None}
            assert await answer.json() == {"models": [chatty], "provider": "mine"}


async def test_models_of_a_server_that_does_not_answer_are_a_502_with_a_sentence(
    ours: Site,
) -> None:
    await ours.client.put(f"{PROVIDERS}/mine", json=MINE)
    answer = await ours.client.get(f"{MODELS}?provider=mine")
    assert answer.status == 502
    error = error_of(await answer.json())
    assert error["code"] == "unreachable" and "127.0.0.1:9" in error["message"]


async def test_models_of_an_unknown_provider_are_a_404(ours: Site) -> None:
    assert (await ours.client.get(f"{MODELS}?provider=none")).status == 404
    assert (await ours.client.get(MODELS)).status == 502


async def test_a_saved_provider_is_tested_with_a_chat_and_a_tool_call(ours: Site) -> None:
    async with ScriptedProvider(key=KEY) as server:
        server.queue(text("ready"), Script([tool_call("reportReady", {"ready": True})]))
        await ours.client.put(f"{PROVIDERS}/mine", json={**MINE, "base_url": server.base_url})
        answer = await ours.client.post(TEST, json={"name": "mine"})
        report = await answer.json()
        assert answer.status == 200
        assert report["chat"]["ok"] and report["tools"]["ok"]
        assert set(report["chat"]) == set(report["tools"]) == {"ok", "message", "ms"}
        assert server.requests[1].body["tools"]


async def test_what_fails_in_a_test_is_reported_and_no_error(ours: Site) -> None:
    async with ScriptedProvider() as server:
        server.queue(failure(401, "no such key"))
        subject = {"base_url": server.base_url, "model": "m", "api_key": KEY}
        answer = await ours.client.post(TEST, json=subject)
        assert answer.status == 200
        report = await answer.json()
        assert report["chat"]["ok"] is False and report["tools"]["ok"] is False
        assert KEY not in json.dumps(report)


async def test_a_provider_that_is_not_saved_is_never_tested_with_a_stored_key(ours: Site) -> None:
    async with ScriptedProvider() as server:
        server.queue(text("ready"), text("no tool"))
        await ours.client.put(f"{PROVIDERS}/mine", json={**MINE, "base_url": server.base_url})
        subject = {"base_url": server.base_url, "model": "m"}
        report = await (await ours.client.post(TEST, json=subject)).json()
        assert report["chat"]["ok"] is True and report["tools"]["ok"] is False
        assert not any(KEY in str(request.headers) for request in server.requests)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": 5},
        {"name": ""},
        {"name": "mine", "base_url": URL},
        {"base_url": "nonsense", "model": "m"},
        {"base_url": URL, "model": []},
    ],
)
async def test_a_wrong_subject_of_a_test_is_a_400(ours: Site, body: object) -> None:
    assert (await ours.client.post(TEST, json=body)).status == 400


@pytest.mark.parametrize("host", ["⒈", "ａ／b", "ß.de", "1.2.3.4.5"])
async def test_an_address_that_no_host_has_is_never_tested(ours: Site, host: str) -> None:
    answer = await ours.client.post(TEST, json={"base_url": f"http://{host}/v1", "model": "m"})
    assert answer.status == 400
    assert error_of(await answer.json())["where"] == "base_url"


@pytest.mark.parametrize("host", ["169.254.169.254", "2852039166", "[fe80::1]"])
async def test_a_link_local_address_is_tested_by_nobody(ours: Site, host: str) -> None:
    answer = await ours.client.post(TEST, json={"base_url": f"http://{host}/v1", "model": "m"})
    chat = (await answer.json())["chat"]
    assert chat["ok"] is False and "ASSISTANT_ALLOW_LINK_LOCAL" in chat["message"]


async def test_an_unknown_subject_of_a_test_is_a_404(ours: Site) -> None:
    assert (await ours.client.post(TEST, json={"name": "none"})).status == 404


async def test_activation_takes_no_fields(ours: Site) -> None:
    await ours.client.put(f"{PROVIDERS}/mine", json=MINE)
    answer = await ours.client.post(f"{PROVIDERS}/mine/activate", json={"base_url": URL})
    assert answer.status == 400


async def test_the_models_of_a_provider_that_is_not_saved_are_listed_with_its_key(
    ours: Site,
) -> None:
    async with ScriptedProvider(models=["a", "b"], key=KEY) as server:
        fields = {"base_url": server.base_url, "api_key": KEY, "vision": True}
        answer = await ours.client.post(MODELS, json=fields)
        expected = [{"id": name, "vision": True, "tools": None} for name in ("a", "b")]
        assert (answer.status, (await answer.json())["models"]) == (200, expected)
        await ours.client.put(f"{PROVIDERS}/mine", json={**MINE, "base_url": server.base_url})
        # A stored key is never sent for somebody who only names the address.
        refused = await ours.client.post(MODELS, json={"base_url": server.base_url})
        assert error_of(await refused.json())["code"] == "key_refused"
    assert (await settings_of(ours))["providers"][0]["vision"] is None
