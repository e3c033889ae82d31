"""The opening of a turn: which messages are stored, which the model reads, which answer goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from plugin.assistant.messages.ui import message_from_ui
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script, tool_call

SKILL = {"name": "Moon light", "description": "Blue light", "instructions": "Use blue."}


def message(identity: str, role: str, text: str) -> dict[str, Any]:
    return {"id": identity, "role": role, "parts": [{"type": "text", "text": text}]}


def system(text: str) -> dict[str, Any]:
    return message("s1", "system", text)


def asked(chat: Chatting) -> list[tuple[str, Any]]:
    """Role and content of the last request's messages, the system message aside."""
    sent = chat.provider.requests[-1].messages
    return [(m["role"], m["content"]) for m in sent if m["role"] != "system"]


async def texts(chat: Chatting) -> list[str]:
    return [m["parts"][-1]["text"] for m in (await chat.stored())["messages"]]


async def test_an_unknown_chat_is_imported_with_its_past(chat: Chatting) -> None:
    past = [message("a", "user", "One"), message("b", "assistant", "Eins")]
    chat.provider.queue("Zwei")
    await chat.post({"id": "c1", "messages": [*past, message("c", "user", "Two")]})
    assert asked(chat) == [("user", "One"), ("assistant", "Eins"), ("user", "Two")]
    assert await texts(chat) == ["One", "Eins", "Two", "Zwei"]


async def test_the_title_is_the_users_first_words(chat: Chatting) -> None:
    greeting = message("g", "assistant", "Welcome! Ask me anything.")
    chat.provider.queue("Sure")
    await chat.post({"id": "c1", "messages": [greeting, message("a", "user", "Fix my nodes.")]})
    assert (await chat.stored())["title"] == "Fix my nodes"


async def test_the_title_of_a_skill_is_its_name(chat: Chatting) -> None:
    await chat.client.post("/api/user-context/skills", json=SKILL)
    chat.provider.queue("Blue")
    await chat.say("/skill moon-light")
    assert (await chat.stored())["title"] == "Skill: Moon light"


async def test_the_title_stays_when_the_first_message_is_edited(chat: Chatting) -> None:
    chat.provider.queue("One", "Two")
    await chat.say("First question")
    await chat.post({"id": "c1", "message": chat.user("Another"), "messageId": "u1"})
    stored = await chat.stored()
    assert stored["title"] == "First question"
    assert await texts(chat) == ["Another", "Two"]


async def test_the_workflow_is_stored_with_the_chat(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi", workflow={"id": "w1", "name": "mine.json", "graph": {"nodes": []}})
    assert (await chat.stored())["workflow"] == {"id": "w1", "name": "mine.json"}


async def test_a_workflows_long_name_is_cut_and_does_not_stop_the_chat(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    assert (await chat.say("Hi", workflow={"name": "x" * 10_000})).text == "Hello"
    assert len((await chat.stored())["workflow"]["name"]) == 200


async def test_a_clients_system_message_holds_for_its_request_only(chat: Chatting) -> None:
    chat.provider.queue("One", "Arr", "Three")
    first = chat.user("First")
    await chat.post({"id": "c1", "messages": [first]})
    past = (await chat.stored())["messages"]
    second = chat.user("Second")
    await chat.post({"id": "c1", "messages": [*past, system("Talk pirate."), second]})
    roles = [m["role"] for m in chat.provider.requests[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert chat.provider.requests[1].messages[0]["content"] == "Talk pirate."
    await chat.say("Third")
    assert "pirate" not in json.dumps(chat.provider.requests[2].messages)
    assert [m["role"] for m in (await chat.stored())["messages"]] == ["user", "assistant"] * 3


async def test_a_system_message_holds_without_a_chat_too(chat: Chatting) -> None:
    chat.provider.queue("Arr")
    await chat.post({"messages": [chat.user("Hi"), system("Talk pirate.")]})
    sent = chat.provider.requests[0].messages
    assert [m["content"] for m in sent] == ["Talk pirate.", "Hi"]


@pytest.mark.parametrize("chat_id", ["c1", None])
@pytest.mark.parametrize("trigger", ["submit-message", "regenerate-message"])
async def test_a_list_without_anything_to_answer_is_refused(
    chat: Chatting, chat_id: str | None, trigger: str
) -> None:
    body = {"messages": [message("b", "assistant", "Hello")], "trigger": trigger}
    stream = await chat.post({**body, **({"id": chat_id} if chat_id else {})})
    assert stream.status == 400
    assert stream.error["where"] == "messages"


async def test_a_finished_answer_is_not_gone_on_with(chat: Chatting) -> None:
    past = [message("a", "user", "One"), message("b", "assistant", "Eins")]
    for body in ({"id": "c1", "messages": past}, {"messages": past}):
        assert (await chat.post(body)).status == 400
    assert chat.provider.requests == []


async def test_without_a_chat_the_last_answer_can_be_given_anew(chat: Chatting) -> None:
    past = [message("a", "user", "One"), message("b", "assistant", "Eins")]
    chat.provider.queue("Uno")
    stream = await chat.post({"messages": past, "trigger": "regenerate-message"})
    assert stream.text == "Uno"
    assert asked(chat) == [("user", "One")]


async def test_an_answer_in_the_middle_can_be_given_anew(chat: Chatting) -> None:
    chat.provider.queue("One", "Two", "Other")
    await chat.say("First")
    await chat.say("Second")
    first = (await chat.stored())["messages"][1]["id"]
    body = {"id": "c1", "trigger": "regenerate-message", "messageId": first}
    assert (await chat.post(body)).text == "Other"
    assert await texts(chat) == ["First", "Other"]


async def test_a_message_that_is_sent_again_after_its_failure_is_answered_once(
    chat: Chatting,
) -> None:
    """The panel sends the same message again; the log has it already."""
    body = {"id": "c1", "message": chat.user("Hi")}
    store = chat.assistant.space_of("default").chats
    await store.import_messages("c1", (message_from_ui(body["message"]),))
    chat.provider.queue("Hello")
    assert (await chat.post(body)).text == "Hello"
    assert await texts(chat) == ["Hi", "Hello"]


async def test_a_message_whose_id_an_earlier_one_has_is_refused(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    again = message("u1", "user", "Something else")
    stream = await chat.post({"id": "c1", "message": again})
    assert stream.status == 400
    assert stream.error["where"] == "message.id"


async def test_an_unknown_message_cannot_be_edited_or_answered_anew(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    edit = {"id": "c1", "message": chat.user("Better"), "messageId": "nothing"}
    anew = {"id": "c1", "trigger": "regenerate-message", "messageId": "nothing"}
    for body in (edit, anew):
        assert (await chat.post(body)).status == 404
    assert await texts(chat) == ["Hi", "Hello"]


async def test_a_skill_that_exists_by_now_is_used_when_asked_anew(chat: Chatting) -> None:
    assert "no skill called" in (await chat.say("/skill moon-light")).text
    await chat.client.post("/api/user-context/skills", json=SKILL)
    chat.provider.queue("Blue", "Still blue")
    await chat.post({"id": "c1", "trigger": "regenerate-message"})
    first = chat.provider.requests[0].messages[-1]["content"]
    assert "Use blue." in first
    await chat.client.delete("/api/user-context/skills/moon-light")
    await chat.say("Go on")
    # The text of the turn stays in the chat: the next request names its handle.
    assert "recall_result r0 gives them" in chat.provider.requests[1].messages[1]["content"]
    assert len((await chat.stored())["messages"]) == 4


async def test_an_empty_answer_that_failed_does_not_end_the_first_turn(chat: Chatting) -> None:
    chat.provider.queue(Script(status=401, body={"error": {"message": "no"}}), "Hello")
    await chat.say("Hi")
    await chat.say("Again")
    assert chat.provider.requests[1].messages[0]["content"].startswith("# IDENTITY AND PURPOSE")


async def test_the_ids_of_calls_are_printable_and_unique_in_the_chat(chat: Chatting) -> None:
    chat.provider.queue(
        Script(
            [tool_call("listUserSkills", id="bad\u200bid"), tool_call("listUserSkills", id="x")]
        ),
        "One",
        Script([tool_call("listSystemSkills", id="x")]),
        "Two",
    )
    await chat.say("Look")
    await chat.say("Look again")
    parts = [p for m in (await chat.stored())["messages"] for p in m["parts"]]
    ids = [p["toolCallId"] for p in parts if p["type"] == "dynamic-tool"]
    assert ids == ["call", "x", "x-2"]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"slug": 1e999}',
        '{"slug": NaN}',
        '{"slug": ' + "[" * 200 + "]" * 200 + "}",
        '{"slug": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"slug": ' + "9" * 5_000 + "}",
    ],
)
async def test_arguments_that_no_log_could_hold_do_not_break_the_chat(
    chat: Chatting, arguments: str
) -> None:
    chat.provider.queue(Script([tool_call("getUserSkill", arguments)]), "Sorry", "Still here")
    stream = await chat.say("Do it")
    assert stream.of("tool-input-error")
    assert stream.text == "Sorry"
    assert len((await chat.stored())["messages"]) == 2
    assert (await chat.say("And now?")).text == "Still here"


async def test_opaque_reasoning_that_no_log_could_hold_does_not_break_the_chat(
    chat: Chatting,
) -> None:
    delta = '{"reasoning": "hm", "reasoning_details": [{"type": "x", "score": NaN}]}'
    raw = f'data: {{"choices": [{{"index": 0, "delta": {delta}, "finish_reason": null}}]}}\n\n'
    chat.provider.queue(Script([{"raw": raw}, {"text": "Yes"}]), "Still here")
    assert (await chat.say("Think")).text == "Yes"
    assert len((await chat.stored())["messages"]) == 2
    assert (await chat.say("And now?")).text == "Still here"


async def test_the_same_refused_call_is_stopped_the_third_time(chat: Chatting) -> None:
    chat.provider.queue(*(Script([tool_call("fly", "{}")]) for _ in range(3)), "I give up")
    stream = await chat.say("Fly")
    assert "three times in a row" in chat.provider.requests[-1].messages[-1]["content"]
    assert stream.text == "I give up"
