"""Turns over real HTTP: the model's requests, the client's stream, and the rows of the log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call


async def test_an_answer_streams_as_chunks_in_order(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    stream = await chat.say("Hi")
    assert stream.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert [t for t in stream.types if not t.startswith(("data-", "message-"))] == [
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
    ]
    assert stream.text == "Hello"
    assert stream.chunks[-1]["finishReason"] == "stop"


async def test_metadata_has_model_usage_and_timing(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    metadata = (await chat.say("Hi")).message.metadata
    assert metadata["model"] == "scripted"
    assert metadata["usage"]["input_tokens"] > 0
    assert metadata["timing"]["total_ms"] >= metadata["timing"]["first_token_ms"] >= 0
    assert metadata["steps"] == 1


async def test_the_first_turn_has_the_full_system_message_and_the_next_the_continuation(
    chat: Chatting,
) -> None:
    chat.provider.queue("One", "Two")
    first = await chat.say("Hi")
    second = await chat.say("And?")
    systems = [request.messages[0]["content"] for request in chat.provider.requests]
    assert systems[0].startswith("# IDENTITY AND PURPOSE")
    assert systems[1].startswith(
        "You are ComfyUI Assistant. Continue the conversation. Apply the same rules, tools, and "
        "user context as in the initial system message."
    )
    assert len(systems[1]) < len(systems[0]) / 3
    assert [s.of("data-context")[0]["data"]["system_kind"] for s in (first, second)] == [
        "full",
        "continuation",
    ]


async def test_every_request_of_the_first_turns_tool_loop_has_the_full_message(
    chat: Chatting,
) -> None:
    chat.provider.queue(Script([tool_call("listSystemSkills")]), "Done")
    await chat.say("What do you know?")
    first, second = (request.messages[0]["content"] for request in chat.provider.requests)
    assert first == second
    assert first.startswith("# IDENTITY AND PURPOSE")


async def test_a_clients_system_message_holds_and_is_not_stored(chat: Chatting) -> None:
    chat.provider.queue("Arr")
    system = {"id": "s", "role": "system", "parts": [{"type": "text", "text": "Talk pirate."}]}
    await chat.post({"id": "c1", "messages": [system, chat.user("Hi")]})
    roles = [(m["role"], m["content"]) for m in chat.provider.requests[0].messages]
    assert roles == [("system", "Talk pirate."), ("user", "Hi")]
    stored = await chat.stored()
    assert [message["role"] for message in stored["messages"]] == ["user", "assistant"]


async def test_a_tool_runs_on_the_server_and_its_result_goes_back(chat: Chatting) -> None:
    chat.provider.queue(
        Script([{"text": "Let me look."}, tool_call("getWorkflowInfo")]), "A KSampler."
    )
    graph = {"nodes": [{"id": 3, "type": "KSampler", "widgets_values": []}], "links": []}
    stream = await chat.say("Explain", workflow={"id": "w", "name": "mine", "graph": graph})
    [result] = stream.of("tool-output-available")
    assert "\n3 KSampler\n" in result["output"]
    call, answer = chat.provider.requests[1].messages[-2:]
    assert call["tool_calls"][0]["function"]["arguments"] == "{}"
    assert answer["role"] == "tool"
    assert answer["tool_call_id"] == call["tool_calls"][0]["id"]
    assert "\n3 KSampler\n" in answer["content"]
    assert stream.types.count("start-step") == 2


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("getSystemSkill", '{"slug": ', "no valid JSON"),
        ("getSystemSkill", "[1]", "must be a JSON object"),
        ("getSystemSkill", "{}", "slug"),
        ("getSystemSkill", '{"slug": "../x"}', "slug"),
        ("flyToTheMoon", "{}", "no tool 'flyToTheMoon'"),
    ],
)
async def test_a_wrong_call_becomes_an_error_that_the_model_sees(
    chat: Chatting, name: str, arguments: str, said: str
) -> None:
    chat.provider.queue(Script([tool_call(name, arguments)]), "Sorry")
    stream = await chat.say("Do it")
    result = chat.provider.requests[1].messages[-1]
    assert result["role"] == "tool"
    assert said in result["content"]
    assert stream.text == "Sorry"
    arguments_sent = chat.provider.requests[1].messages[-2]["tool_calls"][0]["function"]
    assert isinstance(json.loads(arguments_sent["arguments"]), dict)


async def test_empty_arguments_are_an_empty_object(chat: Chatting) -> None:
    chat.provider.queue(Script([tool_call("listUserSkills", "")]), "None yet")
    stream = await chat.say("My skills?")
    [available] = stream.of("tool-input-available")
    assert available["input"] == {}
    assert stream.of("tool-output-available")


async def test_the_same_call_with_the_same_result_is_stopped_the_third_time(
    chat: Chatting,
) -> None:
    chat.provider.queue(*(Script([tool_call("listUserSkills")]) for _ in range(4)), "I give up")
    stream = await chat.say("Loop")
    assert len(stream.of("tool-output-available")) == 2
    errors = [chunk["errorText"] for chunk in stream.of("tool-output-error")]
    assert len(errors) == 2
    assert all("three times in a row" in error for error in errors)
    assert "three times in a row" in chat.provider.requests[-1].messages[-1]["content"]


async def test_the_step_limit_ends_the_turn_with_a_notice(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_MAX_STEPS": "2"}) as chat:
        slugs = ("20_model_sdxl", "30_model_flux")
        chat.provider.queue(*(Script([tool_call("getSystemSkill", {"slug": s})]) for s in slugs))
        stream = await chat.say("Read all")
        [notice] = stream.of("data-notice")
        assert notice["data"]["code"] == "step_limit"
        assert "2 steps" in notice["data"]["message"]
        assert stream.chunks[-1]["type"] == "finish"
        assert stream.message.metadata["cut"] == "steps"


async def test_an_acting_tool_asks_first_and_runs_when_allowed(chat: Chatting) -> None:
    skill = {"name": "Moon light", "description": "Blue light", "instructions": "Use blue."}
    chat.provider.queue(Script([tool_call("createUserSkill", skill)]), "Saved.")
    asked = await chat.say("Remember moon light")
    [request] = asked.of("tool-approval-request")
    assert (await chat.stored())["state"] == "paused"
    answer = await chat.command(type="approve_tools", ids=[request["toolCallId"]])
    assert answer.status == 202
    assert await answer.json() == {"accepted": True, "queued": 0}
    await chat.idle()
    stored = await chat.stored()
    assert stored["state"] == "idle"
    assert len(stored["messages"]) == 2
    [part] = [p for p in stored["messages"][1]["parts"] if p["type"] == "dynamic-tool"]
    assert part["state"] == "output-available"
    assert part["output"]["created"] is True
    async with chat.client.get("/api/user-context/skills/moon-light") as response:
        assert (await response.json())["instructions"] == "Use blue."


async def test_a_declined_tool_does_not_run_and_the_model_is_told(chat: Chatting) -> None:
    skill = {"name": "Moon", "description": "d", "instructions": "i"}
    chat.provider.queue(Script([tool_call("createUserSkill", skill)]), "All right.")
    asked = await chat.say("Remember")
    [request] = asked.of("tool-approval-request")
    await chat.command(type="reject_tools", ids=[request["toolCallId"]], reason="not now")
    await chat.idle()
    told = chat.provider.requests[1].messages[-1]["content"]
    assert "declined" in told
    assert "not now" in told
    async with chat.client.get("/api/user-context/skills") as response:
        assert (await response.json())["skills"] == []


async def test_an_approval_in_the_resent_list_is_the_same_transition(chat: Chatting) -> None:
    skill = {"name": "Moon", "description": "d", "instructions": "i"}
    chat.provider.queue(Script([tool_call("createUserSkill", skill)]), "Saved.")
    await chat.say("Remember")
    messages = (await chat.stored())["messages"]
    [part] = [p for p in messages[1]["parts"] if p["type"] == "dynamic-tool"]
    part["state"] = "approval-responded"
    part["approval"] = {"id": part["approval"]["id"], "approved": True}
    stream = await chat.post({"id": "c1", "messages": messages})
    assert stream.chunks[0]["messageId"] == messages[1]["id"]
    assert stream.of("tool-output-available")
    assert stream.text == "Saved."
    assert len((await chat.stored())["messages"]) == 2


async def test_a_decision_that_nothing_waits_for_is_refused(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    assert (await chat.command(type="approve_tools", ids=["x"])).status == 409
    assert (await chat.command("unknown", type="abort")).status == 404
    assert (await chat.command(type="dance")).status == 400


async def test_a_second_message_while_a_turn_runs_is_refused(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Slow"}, {"wait": "go"}]))
    first = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    second = await chat.say("Quick")
    assert second.status == 409
    assert second.error["code"] == "turn_running"
    assert json.loads(second.raw)["chat_id"] == "c1"
    chat.provider.release("go")
    assert (await first).text == "Slow"


async def test_a_running_turn_can_be_joined_from_its_beginning(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Be"}, {"wait": "go"}, {"text": "gun"}]))
    first = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    joined = asyncio.create_task(chat.join())
    chat.provider.release("go")
    assert (await joined).text == (await first).text == "Begun"
    async with chat.client.get("/api/chat/c1/stream") as response:
        assert response.status == 204


async def test_a_turn_outlives_its_request(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Be"}, {"wait": "go"}, {"text": "gun"}]))
    response = await chat.client.post("/api/chat", json={"id": "c1", "message": chat.user("Hi")})
    await chat.provider.reached("go")
    response.close()
    chat.provider.release("go")
    await chat.idle()
    answer = (await chat.stored())["messages"][1]
    assert answer["parts"][-1]["text"] == "Begun"


async def test_abort_hangs_up_and_keeps_what_there_is(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Half an"}, {"wait": "never"}]))
    running = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("never")
    assert (await chat.command(type="abort")).status == 202
    stream = await running
    await chat.provider.client_left()
    assert stream.types[-1] == "abort"
    stored = await chat.stored()
    assert stored["state"] == "idle"
    assert stored["messages"][1]["parts"][-1]["text"] == "Half an"
    assert stored["messages"][1]["metadata"]["cut"] == "aborted"


async def test_without_a_chat_id_a_client_that_leaves_ends_the_turn(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Half"}, {"wait": "never"}]))
    response = await chat.client.post("/api/chat", json={"messages": [chat.user("Hi")]})
    await chat.provider.reached("never")
    response.close()
    await chat.provider.client_left()


async def test_without_a_chat_id_nothing_is_stored(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    assert (await chat.say("Hi", chat=None)).text == "Hello"
    async with chat.client.get("/api/chats") as response:
        assert (await response.json()) == {"chats": []}


async def test_reasoning_is_streamed_in_each_dialect(chat: Chatting) -> None:
    chat.provider.queue(
        Script([{"reasoning": "hm", "field": "reasoning_content"}, {"text": "A"}]),
        Script([{"reasoning": "hm", "field": "reasoning"}, {"text": "B"}]),
        Script([{"text": "<thi"}, {"text": "nk>hm</th"}, {"text": "ink>C"}]),
    )
    for letter in "ABC":
        stream = await chat.say(letter)
        thought = "".join(chunk["delta"] for chunk in stream.of("reasoning-delta"))
        assert (thought, stream.text) == ("hm", letter)
    sent = json.dumps(chat.provider.requests[2].messages)
    assert "hm" not in sent


async def test_reasoning_goes_back_inside_an_open_tool_loop_only(chat: Chatting) -> None:
    chat.provider.queue(
        Script([{"reasoning": "I must look"}, tool_call("listUserSkills")]), "Done", "Next"
    )
    await chat.say("Look")
    await chat.say("Thanks")
    in_loop = chat.provider.requests[1].messages[-2]
    assert in_loop["reasoning_content"] == "I must look"
    assert "I must look" not in json.dumps(chat.provider.requests[2].messages)


async def test_a_skill_replaces_the_typed_command_for_the_model_only(chat: Chatting) -> None:
    chat.provider.queue("Active", "Still")
    await chat.say("/skill 20_model_sdxl")
    await chat.say("Go on")
    first, second = (request.messages for request in chat.provider.requests)
    assert "SDXL" in first[-1]["content"]
    assert first[-1]["content"] != "/skill 20_model_sdxl"
    # It was for its own turn; the next one has a line with its handle.
    assert second[1]["content"].startswith('[The user activated the skill "SDXL"')
    assert "recall_result r0 gives them" in second[1]["content"]
    assert len(second[1]["content"]) < len(first[1]["content"]) / 4
    stored = await chat.stored()
    assert stored["messages"][0]["parts"][0]["text"] == "/skill 20_model_sdxl"


async def test_where_prompts_are_cached_a_skill_stays_where_it_is(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_PROMPT_CACHE": "auto"}) as chat:
        await chat.counted()
        chat.provider.queue("Active", "Still")
        await chat.say("/skill 20_model_sdxl")
        await chat.say("Go on")
        first, second = (request.messages for request in chat.provider.requests)
        assert second[: len(first)] == first


async def test_a_request_has_the_same_bytes_after_a_restart(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_PROMPT_CACHE": "auto"}) as chat:
        await chat.counted()
        chat.provider.queue(Script([tool_call("listSystemSkills", "{}")]), "Three.")
        await chat.say("Which skills are there?")
        before = chat.provider.requests[-1].messages
    async with chatting(tmp_path, {"LLM_PROMPT_CACHE": "auto"}) as again:
        again.provider.queue("Yes.")
        await again.post({"id": "c1", "message": {**again.user("Sure?"), "id": "later"}})
        assert again.provider.requests[-1].messages[: len(before)] == before


async def test_an_unknown_skill_is_answered_without_the_model(chat: Chatting) -> None:
    stream = await chat.say("/skill nothing-like-this")
    assert "`sdxl`" in stream.text
    assert chat.provider.requests == []


async def test_other_slashes_go_to_the_model_as_they_are(chat: Chatting) -> None:
    chat.provider.queue("ok", "ok")
    await chat.say("/skills of a painter?")
    await chat.say("/mnt/data is full")
    contents = [request.messages[-1]["content"] for request in chat.provider.requests]
    assert contents == ["/skills of a painter?", "/mnt/data is full"]


async def test_regenerating_answers_again_without_the_old_answer(chat: Chatting) -> None:
    chat.provider.queue("First", "Second")
    await chat.say("Hi")
    stream = await chat.post({"id": "c1", "trigger": "regenerate-message"})
    assert stream.text == "Second"
    assert [m["role"] for m in chat.provider.requests[1].messages] == ["system", "user"]
    assert [m["role"] for m in (await chat.stored())["messages"]] == ["user", "assistant"]


async def test_an_edited_message_begins_a_branch(chat: Chatting) -> None:
    chat.provider.queue("One", "Two", "Three")
    await chat.say("First")
    await chat.say("Second")
    edited = chat.user("Second, better")
    await chat.post({"id": "c1", "message": edited, "messageId": "u2"})
    texts = [m["parts"][-1]["text"] for m in (await chat.stored())["messages"]]
    assert texts == ["First", "One", "Second, better", "Three"]


async def test_the_sdk_can_send_the_whole_list_each_time(chat: Chatting) -> None:
    chat.provider.queue("One", "Two")
    first = chat.user("First")
    await chat.post({"id": "c1", "messages": [first]})
    answer = (await chat.stored())["messages"][1]
    await chat.post({"id": "c1", "messages": [first, answer, chat.user("Second")]})
    texts = [m["parts"][-1]["text"] for m in (await chat.stored())["messages"]]
    assert texts == ["First", "One", "Second", "Two"]


async def test_files_reach_the_model_by_their_kind(chat: Chatting) -> None:
    chat.provider.queue("Seen")
    files: list[dict[str, Any]] = [
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="},
        {
            "type": "file",
            "mediaType": "text/plain",
            "filename": "a.txt",
            "url": "data:text/plain;base64,c2VlZCA0Mg==",
        },
        {"type": "file", "mediaType": "video/mp4", "filename": "b.mp4", "url": "data:video/mp4,x"},
    ]
    await chat.post({"id": "c1", "message": chat.user("Look", more=files)})
    parts = chat.provider.requests[0].messages[-1]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text", "text"]
    assert "seed 42" in parts[2]["text"]
    assert "b.mp4" in parts[3]["text"]


async def test_text_alone_is_sent_as_a_string(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    assert chat.provider.requests[0].messages[-1] == {"role": "user", "content": "Hi"}


async def test_debug_context_reports_in_header_and_chunks(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    stream = await chat.say("Hi")
    header = stream.headers["X-Assistant-Context"]
    assert len(header) < 1000
    assert json.loads(header)["first_turn"] is True
    asked, answered = (chunk["data"] for chunk in stream.of("data-context"))
    assert asked["parts"]["system"]["chars"] > 1000
    assert answered["usage"]["input_tokens"] > 0
    assert "Hi" not in json.dumps(asked["parts"])


async def test_without_debug_there_is_no_report(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    stream = await chat.post({"id": "c1", "message": chat.user("Hi")}, query="")
    assert "X-Assistant-Context" not in stream.headers
    assert not stream.of("data-context")


async def test_repeated_ids_of_calls_stay_apart(chat: Chatting) -> None:
    chat.provider.queue(
        Script([tool_call("listUserSkills", id="call_0")]),
        Script([tool_call("listSystemSkills", id="call_0")]),
        "Done",
    )
    await chat.say("Look twice")
    sent = [m for m in chat.provider.requests[2].messages if m["role"] == "tool"]
    assert len({m["tool_call_id"] for m in sent}) == 2


async def test_a_server_that_refuses_tools_is_asked_once_without(chat: Chatting) -> None:
    refusal = {"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools"}}
    chat.provider.queue(Script(status=400, body=refusal), "Hello")
    stream = await chat.say("Hi")
    assert stream.text == "Hello"
    assert "tools" in chat.provider.requests[0].body
    assert "tools" not in chat.provider.requests[1].body
    assert stream.of("data-notice")[0]["data"]["code"] == "tools_refused"


async def test_a_failure_is_one_sentence_and_keeps_the_partial_text(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Half"}, {"cut": True}], complete=False))
    stream = await chat.say("Hi")
    assert stream.text == "Half"
    assert stream.types[-1] == "error"
    assert stream.error["code"] == "cut"
    assert "continue" in stream.error["actions"]
    stored = await chat.stored()
    assert stored["state"] == "error"
    assert stored["messages"][1]["parts"][-1]["text"] == "Half"
    chat.provider.queue("On I go")
    assert (await chat.say("Continue")).text == "On I go"


async def test_old_tool_results_become_one_line(chat: Chatting) -> None:
    slugs = ("20_model_sdxl", "30_model_flux", "40_model_wan_2_2")
    for slug in slugs:
        chat.provider.queue(Script([tool_call("getSystemSkill", {"slug": slug})]), "Read.")
        await chat.say(f"Read {slug}")
    results = [m["content"] for m in chat.provider.requests[-1].messages if m["role"] == "tool"]
    assert json.loads(results[0])["_omitted"] is True
    assert json.loads(results[0])["tool"] == "getSystemSkill"
    assert all("_omitted" not in result for result in results[1:])


async def test_at_most_the_limit_of_messages_is_sent(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_HISTORY_MAX_MESSAGES": "4"}) as chat:
        chat.provider.queue(*(f"Answer {n}" for n in range(6)))
        for n in range(6):
            stream = await chat.say(f"Question {n}")
        sent = [m for m in chat.provider.requests[-1].messages if m["role"] != "system"]
        assert len(sent) <= 4
        assert sent[-1]["content"] == "Question 5"
        report = stream.of("data-context")[0]["data"]
        assert report["summarised"] > 0
        assert "LLM_HISTORY_MAX_MESSAGES" in report["limits_applied"]


@pytest.mark.parametrize(
    "body",
    [
        {"id": "c1", "messages": []},
        {"id": "c1"},
        {"id": "c1", "messages": "hello"},
        {"id": "c1", "messages": [{"role": "user"}]},
        {"id": "c1", "messages": [{"role": "robot", "parts": []}]},
        {"id": "c1", "messages": [{"role": "user", "parts": [{"type": "text", "text": "  "}]}]},
        {"id": "c1", "messages": [{"role": "assistant", "parts": [{"type": "text", "text": "x"}]}]},
        {"id": "a/b", "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]},
        {"id": "..", "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]},
        {"id": 7, "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]},
    ],
)
async def test_a_malformed_request_is_a_400_that_says_where(chat: Chatting, body: Any) -> None:
    stream = await chat.post(body)
    assert stream.status == 400
    assert stream.error["message"]


async def test_no_provider_is_a_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"OPENAI_BASE_URL": "", "OPENAI_MODEL": ""}) as chat:
        stream = await chat.say("Hi")
        assert stream.error["code"] == "no_provider"
        assert stream.types[-1] == "error"


async def test_users_do_not_see_each_others_chats(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    async with chat.client.get("/api/chats/c1", headers={"Comfy-User": "eve"}) as response:
        assert response.status == 404


async def test_a_request_may_follow_the_slug_of_a_skill(chat: Chatting) -> None:
    chat.provider.queue("Here")
    await chat.say("/skill 20_model_sdxl which size is best?")
    sent = chat.provider.requests[0].messages[-1]["content"]
    assert "SDXL" in sent
    assert sent.rstrip().endswith("which size is best?")
