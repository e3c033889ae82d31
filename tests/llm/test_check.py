"""The test of a provider with a real chat and a real tool call."""

from __future__ import annotations

from dataclasses import replace

from plugin.assistant.llm.check import check
from plugin.assistant.llm.provider import Provider
from plugin.tests.providers import Script, ScriptedProvider, failure, text, tool_call

from .conftest import PatientClient


async def test_chat_and_tools_are_each_tried(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("ready", Script([tool_call("reportReady", {"ready": True})]))
    report = await check(client, provider)
    assert report["chat"]["ok"] is True
    assert report["tools"]["ok"] is True
    assert "tools" not in server.requests[0].body
    assert server.requests[1].body["tools"][0]["function"]["name"] == "reportReady"


async def test_a_chat_that_fails_is_told_and_tools_are_not_tried(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(404, "model 'scripted' not found"))
    report = await check(client, provider)
    assert report["chat"]["ok"] is False
    assert "has no model named" in report["chat"]["message"]
    assert report["tools"]["ok"] is False


async def test_refused_tools_leave_the_chat_working(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("ready", failure(400, "gemma does not support tools"))
    report = await check(client, provider)
    assert report["chat"]["ok"] is True
    assert report["tools"]["ok"] is False
    assert "takes no tools" in report["tools"]["message"]


async def test_a_model_that_talks_about_the_tool_did_not_call_it(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("ready", text("I would call reportReady now."))
    report = await check(client, provider)
    assert report["tools"]["ok"] is False
    assert "did not call" in report["tools"]["message"]


async def test_a_model_that_is_known_to_take_no_tools_is_not_asked_for_one(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("ready")
    report = await check(client, replace(provider, tools=False))
    assert report["tools"]["ok"] is False
    assert len(server.requests) == 1


async def test_times_are_whole_milliseconds(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("ready", Script([tool_call("reportReady")]))
    ticks = iter(range(10))
    report = await check(client, provider, clock=lambda: next(ticks) / 8)
    assert (report["chat"]["ms"], report["tools"]["ms"]) == (125, 125)
