"""Questions to the user: how they are asked, answered by a result or by a message, and kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.chatting import Chatting, Stream, chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.tools import Bench

SIZES = [{"label": "Portrait", "description": "832 x 1216"}, {"label": "Landscape"}]
QUESTION = {"question": "Which size?", "options": SIZES}
RESPOND_ASYNC = {"Prefer": "respond-async"}


def ask(identity: str = "q1", **more: Any) -> Any:
    return tool_call("askUser", {**QUESTION, **more}, id=identity)


async def asked(chat: Chatting, *calls: Any, **more: Any) -> Stream:
    chat.provider.queue(Script(list(calls) or [ask(**more)]))
    return await chat.say("Make a picture")


async def state(chat: Chatting) -> str:
    return str((await chat.stored())["state"])


async def answered(chat: Chatting, **output: Any) -> tuple[int, dict[str, Any]]:
    response = await chat.command(type="tool_result", tool_call_id="q1", output=output)
    return response.status, await response.json()


def results(chat: Chatting) -> list[Any]:
    """The tool results of the last request."""
    messages = chat.provider.requests[-1].messages
    return [json.loads(m["content"]) for m in messages if m["role"] == "tool"]


def sent(chat: Chatting, text: str) -> dict[str, Any]:
    """A body of `POST /api/chat` with a new message."""
    return {"id": "c1", "message": chat.user(text)}


async def post_async(chat: Chatting, body: Any) -> tuple[int, dict[str, Any]]:
    async with chat.client.post("/api/chat", json=body, headers=RESPOND_ASYNC) as response:
        return response.status, await response.json()


async def test_a_question_waits_with_all_that_a_card_needs(chat: Chatting) -> None:
    stream = await asked(chat)
    [note] = stream.of("data-waiting")
    assert note["id"] == "q1"
    assert note["data"] == {
        "tool_call_id": "q1",
        "for": "answer",
        "question": "Which size?",
        "options": SIZES,
        "multiple": False,
        "allow_other": True,
    }
    assert stream.chunks[-1]["finishReason"] == "tool-calls"
    assert await state(chat) == "waiting_user_input"


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ({"choices": ["Portrait"]}, {"choices": ["Portrait"]}),
        ({"text": " 512 by 512 "}, {"text": "512 by 512"}),
        (
            {"choices": ["Landscape"], "text": "wide"},
            {"choices": ["Landscape"], "text": "wide"},
        ),
    ],
)
async def test_an_answer_lets_the_turn_go_on(
    chat: Chatting, output: dict[str, Any], read: dict[str, Any]
) -> None:
    await asked(chat)
    chat.provider.queue("As you like.")
    assert (await answered(chat, **output))[0] == 202
    await chat.idle()
    assert results(chat) == [read]
    stored = await chat.stored()
    assert [message["role"] for message in stored["messages"]] == ["user", "assistant"]
    assert stored["state"] == "idle"


@pytest.mark.parametrize(
    ("more", "output", "where"),
    [
        ({}, {"choices": ["Square"]}, "output.choices"),
        ({}, {"choices": ["Portrait", "Landscape"]}, "output.choices"),
        ({}, {"choices": "Portrait"}, "output.choices"),
        ({}, {"choices": []}, "output"),
        ({}, {"text": "  "}, "output"),
        ({}, {"text": 3}, "output.text"),
        ({}, {"label": "Portrait"}, "output"),
        ({"allow_other": False}, {"text": "Square"}, "output.text"),
        ({"multiple": True}, {"choices": ["Portrait", "Square"]}, "output.choices"),
    ],
)
async def test_an_answer_that_was_not_offered_is_refused_and_the_question_stays(
    chat: Chatting, more: dict[str, Any], output: dict[str, Any], where: str
) -> None:
    await asked(chat, **more)
    status, body = await answered(chat, **output)
    assert (status, body["error"]["where"]) == (400, where)
    assert await state(chat) == "waiting_user_input"
    assert len(chat.provider.requests) == 1


async def test_several_options_may_be_chosen_where_the_question_says_so(chat: Chatting) -> None:
    await asked(chat, multiple=True)
    chat.provider.queue("Both.")
    assert (await answered(chat, choices=["Portrait", "Landscape"]))[0] == 202
    await chat.idle()
    assert results(chat) == [{"choices": ["Portrait", "Landscape"]}]


async def test_a_list_of_messages_is_checked_like_a_command(chat: Chatting) -> None:
    await asked(chat)
    messages = (await chat.stored())["messages"]
    [part] = [p for p in messages[-1]["parts"] if p["type"] == "dynamic-tool"]
    part.update(state="output-available", output={"choices": ["Square"]})
    refused = await chat.post({"id": "c1", "messages": messages})
    assert (refused.status, refused.error["where"]) == (400, "output.choices")
    part["output"] = {"choices": ["Portrait"]}
    chat.provider.queue("Upright.")
    assert (await chat.post({"id": "c1", "messages": messages})).text == "Upright."
    assert results(chat) == [{"choices": ["Portrait"]}]


@pytest.mark.parametrize("way", ["command", "post", "list", "stream"])
async def test_a_message_after_the_question_is_its_answer(chat: Chatting, way: str) -> None:
    asking = await asked(chat, allow_other=False)
    chat.provider.queue("Square, then.")
    body = sent(chat, "Square, please")
    if way == "command":
        response = await chat.command(type="user_message", message=body["message"])
        said = await response.json()
        assert said == {"accepted": True, "queued": 0, "answered": True}
    elif way == "stream":
        stream = await chat.post(body)
        assert stream.chunks[0]["messageId"] == asking.chunks[0]["messageId"]
        assert stream.text == "Square, then."
    else:
        if way == "list":
            stored = (await chat.stored())["messages"]
            body = {"id": "c1", "messages": [*stored, body["message"]]}
        status, said = await post_async(chat, body)
        assert (status, said["answered"]) == (202, True)
    await chat.idle()
    assert results(chat) == [{"text": "Square, please"}]
    messages = (await chat.stored())["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[-1]["id"] == asking.chunks[0]["messageId"]


async def test_a_message_that_answered_changes_nothing_when_it_comes_again(
    chat: Chatting,
) -> None:
    await asked(chat)
    chat.provider.queue("Square, then.")
    body = sent(chat, "Square")
    assert (await post_async(chat, body))[1]["answered"] is True
    await chat.idle()
    before = await chat.stored()
    status, said = await post_async(chat, body)
    assert (status, said["answered"], said["queued"]) == (202, True, 0)
    response = await chat.command(type="user_message", message=body["message"])
    assert (await response.json())["answered"] is True
    await chat.idle()
    assert (await chat.stored())["messages"] == before["messages"]
    assert len(chat.provider.requests) == 2


async def test_what_was_sent_before_the_question_is_no_answer_when_it_comes_again(
    chat: Chatting,
) -> None:
    """A client that did not get the answer sends its message once more."""
    chat.provider.queue(Script([ask()]))
    message = chat.user("Make it better")
    await chat.post({"id": "c1", "message": message})
    again = await chat.post({"id": "c1", "message": message})
    assert (again.status, again.error["where"]) == (400, "message.id")
    assert (await chat.stored())["state"] == "waiting_user_input"
    chat.provider.queue(Script([ask("q2")]))
    message = chat.user("Tea")
    await chat.post({"id": "c1", "message": message})
    assert (await chat.post({"id": "c1", "message": message})).status == 409
    assert (await chat.stored())["state"] == "waiting_user_input"


async def test_what_was_sent_before_the_question_stays_in_the_queue(chat: Chatting) -> None:
    chat.provider.queue(Script([{"wait": "go"}, ask()]))
    assert (await post_async(chat, sent(chat, "Make a picture")))[0] == 202
    await chat.provider.reached("go")
    status, said = await post_async(chat, sent(chat, "And then another"))
    assert (status, said["queued"]) == (202, 1)
    assert "answered" not in said
    chat.provider.release("go")
    await chat.idle()
    assert await state(chat) == "waiting_user_input"
    chat.provider.queue("Square.", "Another.")
    status, said = await post_async(chat, sent(chat, "Square"))
    assert (said["answered"], said["queued"]) == (True, 1)
    await chat.idle()
    while len((await chat.stored())["messages"]) < 4 or await state(chat) != "idle":
        await chat.idle()
    texts = [
        part["text"]
        for message in (await chat.stored())["messages"]
        for part in message["parts"]
        if part["type"] == "text"
    ]
    assert texts == ["Make a picture", "Square.", "And then another", "Another."]


async def test_a_file_is_no_answer(chat: Chatting) -> None:
    await asked(chat)
    picture = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"}
    body = sent(chat, "Like this")
    body["message"]["parts"].append(picture)
    status, said = await post_async(chat, body)
    assert (status, said["error"]["where"]) == (400, "message.parts")
    assert await state(chat) == "waiting_user_input"


async def test_nothing_but_an_answer_or_a_stop_ends_the_wait(chat: Chatting) -> None:
    await asked(chat)
    for command in ({"type": "regenerate"}, {"type": "approve_tools", "ids": ["q1"]}):
        refused = await chat.command(**command)
        body = await refused.json()
        assert (refused.status, body["error"]["code"]) == (409, "turn_waits")
        assert (body["state"], body["reason"]) == ("waiting_user_input", "waiting_user_input")
    assert (await chat.command(type="abort")).status == 202
    assert await state(chat) == "idle"
    assert (await answered(chat, text="Square"))[0] == 409
    chat.provider.queue("Hello.")
    assert (await chat.say("Hi")).text == "Hello."


async def test_a_question_survives_a_restart(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await asked(chat)
    async with chatting(tmp_path) as chat:
        assert await state(chat) == "waiting_user_input"
        refused = await answered(chat, choices=["Square"])
        assert refused[0] == 400
        chat.provider.queue("Square, then.")
        body = sent(chat, "Square")
        body["message"]["id"] = "another"
        assert (await post_async(chat, body))[1]["answered"] is True
        await chat.idle()
        assert results(chat) == [{"text": "Square"}]
    async with chatting(tmp_path) as chat:
        assert (await post_async(chat, body))[1]["answered"] is True
        assert len((await chat.stored())["messages"]) == 2


async def test_a_question_comes_when_the_calls_before_it_are_settled(
    chat: Chatting, bench: Bench
) -> None:
    read, erase = tool_call("listUserSkills", id="l1"), tool_call("erase", id="e1")
    stream = await asked(chat, erase, ask(), ask("q2", question="Sure?"), read)
    assert [c["data"]["tool_call_id"] for c in stream.of("data-waiting")] == ["e1"]
    assert [c["toolCallId"] for c in stream.of("tool-output-available")] == ["l1"]
    assert (await answered(chat, choices=["Portrait"]))[0] == 409
    await chat.command(type="approve_tools", ids=["e1"])
    await chat.idle()
    assert await state(chat) == "waiting_user_input"
    assert (await answered(chat, choices=["Portrait"]))[0] == 202
    await chat.idle()
    assert await state(chat) == "waiting_user_input"
    chat.provider.queue("Done.")
    last = await chat.command(type="tool_result", tool_call_id="q2", output={"text": "Yes"})
    assert last.status == 202
    await chat.idle()
    assert len(chat.provider.requests) == 2
    assert results(chat)[1:3] == [{"choices": ["Portrait"]}, {"text": "Yes"}]
    assert bench.erased == 1


async def test_a_pending_approval_is_not_lost_by_typing(chat: Chatting, bench: Bench) -> None:
    await asked(chat, tool_call("erase", id="e1"), ask())
    status, said = await post_async(chat, sent(chat, "Square"))
    assert (status, said["queued"], said.get("answered")) == (202, 1, None)
    assert await state(chat) == "paused"


async def test_what_a_client_says_was_asked_is_no_question_of_ours(chat: Chatting) -> None:
    note = {
        "type": "data-waiting",
        "id": "q1",
        "data": {"tool_call_id": "q1", "for": "answer", "options": [{"label": "Erase all"}]},
    }
    call = {
        "type": "dynamic-tool",
        "toolName": "askUser",
        "toolCallId": "q1",
        "state": "input-available",
        "input": QUESTION,
    }
    past = [
        {"id": "old", "role": "user", "parts": [{"type": "text", "text": "Hi"}]},
        {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, call, note]},
    ]
    chat.provider.queue("Hello.")
    stream = await chat.post({"id": "c1", "messages": [*past, chat.user("Now?")]})
    assert stream.status == 200
    parts = (await chat.stored())["messages"][1]["parts"]
    assert [part["type"] for part in parts] == ["step-start", "dynamic-tool"]


async def test_a_question_with_too_many_options_is_refused_with_the_right_form(
    chat: Chatting,
) -> None:
    options = [{"label": str(n)} for n in range(9)]
    chat.provider.queue(Script([ask(options=options)]), "Sorry.")
    stream = await chat.say("Make a picture")
    [error] = stream.of("tool-output-error")
    assert "at most 8 options" in error["errorText"]
    assert stream.of("data-waiting") == []
