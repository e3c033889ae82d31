"""The tools that a turn offers: smaller sets below 16k, and groups that are loaded for the turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.assistant.tools.toolset import standard_toolset
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call

SMALLEST = ["getWorkflowInfo", "recall_result", "loadTools"]
SKILLS = ["listUserSkills", "getUserSkill", "listSystemSkills", "getSystemSkill", "createUserSkill"]
LOOKUP = ["validateWorkflow", "compareWorkflows", "history_search", "askUser"]
LOAD = tool_call("loadTools", {"group": "skills"}, id="l1")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path, {"LLM_CONTEXT_WINDOW": "8000"}) as running:
        yield running


def offered(chat: Chatting, request: int = -1) -> list[str]:
    body = chat.provider.requests[request].body
    return [tool["function"]["name"] for tool in body["tools"]]


async def test_a_large_window_has_every_tool_at_once(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_CONTEXT_WINDOW": "16384"}) as chat:
        chat.provider.queue("Hello.")
        await chat.say("Hello")
        body = chat.provider.requests[-1].body
        assert body["tools"] == [tool.schema() for tool in standard_toolset()]


async def test_a_group_is_loaded_for_the_rest_of_the_turn(chat: Chatting) -> None:
    chat.provider.queue(Script([LOAD]), Script([tool_call("listUserSkills", id="u1")]), "Done.")
    await chat.say("Which skills do I have?")
    assert offered(chat, -3) == SMALLEST
    assert offered(chat, -2) == offered(chat, -1) == SMALLEST + SKILLS
    chat.provider.queue("Fine.")
    await chat.say("Thanks")
    assert offered(chat) == SMALLEST


async def test_with_cached_prompts_a_group_stays_for_the_rest_of_the_chat(tmp_path: Path) -> None:
    environ = {"LLM_CONTEXT_WINDOW": "8000", "LLM_PROMPT_CACHE": "auto"}
    async with chatting(tmp_path, environ) as chat:
        chat.provider.queue(Script([LOAD]), "Done.", "Fine.")
        await chat.say("Load the skills")
        await chat.say("Thanks")
        assert offered(chat) == SMALLEST + SKILLS
        lookup = tool_call("loadTools", {"group": "lookup"}, id="l2")
        chat.provider.queue(Script([lookup]), Script([LOAD]), "Done.")
        await chat.say("Load more")
        assert offered(chat) == SMALLEST + SKILLS + LOOKUP
    async with chatting(tmp_path, environ) as chat:  # the restart
        chat.provider.queue("Fine.")
        await chat.post({"id": "c1", "message": {**chat.user("Thanks"), "id": "u9"}})
        assert offered(chat) == SMALLEST + SKILLS + LOOKUP


async def test_where_schemas_fill_the_window_the_group_used_least_recently_goes(
    tmp_path: Path,
) -> None:
    environ = {"LLM_CONTEXT_WINDOW": "4000", "LLM_PROMPT_CACHE": "auto"}
    async with chatting(tmp_path, environ) as chat:
        lookup = tool_call("loadTools", {"group": "lookup"}, id="l2")
        chat.provider.queue(Script([LOAD]), Script([lookup]), "Done.", "Fine.")
        await chat.say("Load all")
        assert offered(chat) == SMALLEST + SKILLS + LOOKUP
        await chat.say("Thanks")
        assert offered(chat) == SMALLEST + LOOKUP


async def test_a_call_of_a_tool_that_is_not_loaded_runs_and_loads_its_group(
    chat: Chatting,
) -> None:
    chat.provider.queue(Script([tool_call("listUserSkills", id="u1")]), "None yet.")
    stream = await chat.say("Which skills do I have?")
    assert stream.of("tool-output-available")[0]["output"] == {"skills": []}
    assert offered(chat) == SMALLEST + SKILLS


async def test_a_turn_that_waited_still_has_what_it_loaded(chat: Chatting) -> None:
    skill = {"name": "Moon", "description": "Blue light", "instructions": "Use blue."}
    chat.provider.queue(Script([LOAD]), Script([tool_call("createUserSkill", skill, id="s1")]))
    await chat.say("Remember that.")
    chat.provider.queue("Saved.")
    await chat.command(type="approve_tools", ids=["s1"])
    await chat.idle()
    assert offered(chat) == SMALLEST + SKILLS


async def test_an_unknown_group_is_an_error_that_names_the_groups(chat: Chatting) -> None:
    wrong = tool_call("loadTools", {"group": "everything"}, id="l1")
    chat.provider.queue(Script([wrong]), "I see.")
    stream = await chat.say("Load it all.")
    assert "expected one of lookup" in stream.of("tool-output-error")[0]["errorText"]
    assert offered(chat) == SMALLEST
