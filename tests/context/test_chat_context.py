"""`ChatContext`: the next request of a chat, with all steps of a plan, and its report."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.plan import Budget, Plan
from plugin.assistant.context.report import Size
from plugin.assistant.context.system import SystemText
from plugin.assistant.context.tokens import message_tokens, schema_text, text_tokens
from plugin.assistant.context.window import Window
from plugin.assistant.errors import ContextOverflow, InvalidRequest
from plugin.assistant.messages import chunks
from plugin.assistant.messages.conversion import to_prompt
from plugin.assistant.messages.parts import Message
from plugin.assistant.messages.prompt import PromptMessage, ToolCall, to_openai
from plugin.assistant.messages.ui import message_from_ui, message_to_ui, messages_from_ui

from ..messages.strategies import BROKEN, CHATS
from .histories import (
    Messages,
    a_round,
    answer,
    calling,
    law,
    result,
    rounds,
    system,
    user,
)
from .planning import BUDGETS, LIMITS, body_of, strict_faults, text_of
from .planning import planned as planned_or_refused

FULL = SystemText("You are ComfyUI Assistant. " * 40, "full", 400, ("LLM_MAX_RULES",), ("50.md",))
TOOLS = ({"type": "function", "function": {"name": "getUserSkill"}},)
LONG = json.dumps({"slug": "sdxl", "text": "word " * 2_000})


def context(history: Messages = (), window: int = 32_768, **limits: object) -> ChatContext:
    budget = Budget(Window(window, known=True))
    return ChatContext(Settings(**limits), budget, FULL, TOOLS, history)  # type: ignore[arg-type]


def planned(history: Messages, window: int = 32_768, **limits: object) -> Plan:
    return context(history, window, **limits).plan()


def roles(made: Plan) -> str:
    """The first letter of each message's role."""
    return "".join(message.role[0] for message in made.messages)


def test_a_short_chat_is_sent_whole_behind_the_system_message() -> None:
    made = planned((user("one"), answer(), user("two")))
    assert [message.text for message in made.messages] == [FULL.text, "one", "A workflow.", "two"]
    assert made.tools == TOOLS
    assert made.left_out == ()


def test_the_defaults_hold_at_once() -> None:
    made = planned((user("old"), *rounds(20, text=LONG), answer(), user("now"), *a_round("x")))
    assert made.report.messages_sent <= 24
    results = [message for message in made.messages if message.role == "tool"]
    assert sum(message.reduced != "digest" for message in results) == 2
    assert made.report.rounds_omitted == len(results) - 2
    assert made.report.results_clamped == 1
    assert made.report.cuts == 1
    assert made.report.strength == "High"
    assert set(made.report.limits_applied) == {
        "LLM_MAX_RULES",
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS",
        "LLM_TOOL_OUTPUT_TRIM_CHARS",
        "LLM_HISTORY_MAX_MESSAGES",
    }


def test_the_head_comes_first_then_the_summary_then_what_is_recent() -> None:
    first = (user("The first."), *rounds(4), answer("So it is."))
    made = planned((*first, user("more"), *rounds(20), answer(), user("now")))
    texts = [message.text for message in made.messages]
    assert texts[1:3] == ["The first.", "So it is."]
    assert texts[3].startswith("[Summary of the earlier conversation]")
    assert texts[-1] == "now"
    assert made.report.cuts == 1


def test_a_long_first_answer_is_not_pinned() -> None:
    first = (user("The first."), answer("word " * 4_000))
    made = planned((*first, user("more"), *rounds(20), answer(), user("now")))
    texts = [message.text for message in made.messages]
    assert texts[1] == "The first."
    assert texts[2].startswith("[Summary of the earlier conversation]")


def test_a_long_first_turn_ends_with_its_question_and_its_rounds() -> None:
    made = planned((user("Do it all."), *rounds(30)))
    users = [message.text for message in made.messages if message.role == "user"]
    assert users[0].startswith("[Summary")
    assert users[1:] == ["Do it all."]
    assert made.messages[3].tool_calls


def test_where_prompts_are_cached_nothing_changes_until_the_window_is_full() -> None:
    chat = context(prompt_cache="auto")
    last: tuple[PromptMessage, ...] = ()
    for message in (user("one"), *rounds(30), answer(), user("two"), *a_round("x")):
        chat.append(message)
        if message.role != "assistant":
            made = chat.plan().messages
            assert made[: len(last)] == last
            last = made
    assert chat.projections.end == 0


def test_the_client_s_system_message_holds_and_is_counted() -> None:
    made = planned((system("Speak Latin."), user()))
    assert [message.text for message in made.messages] == ["Speak Latin.", "What is this?"]
    assert made.report.system_kind == "client"
    assert made.report.parts["system"].chars == len("Speak Latin.")
    assert made.report.parts["user_context"] == Size()
    assert made.report.left_out == ()


def test_an_empty_system_message_of_a_client_is_none() -> None:
    made = planned((system(""), user()))
    assert made.messages[0].text == FULL.text
    assert made.report.system_kind == "full"


def test_no_system_message_is_added_where_there_is_none() -> None:
    made = ChatContext(Settings(), Budget(), None, (), (user(),)).plan()
    assert roles(made) == "u"


@pytest.mark.parametrize(
    "history",
    [(), (answer(),), (system(),), (user(""),), (user("answered"), answer(), user(""))],
)
def test_nothing_to_answer_is_refused(history: Messages) -> None:
    with pytest.raises(InvalidRequest, match="messages: expected"):
        planned(history)


def test_a_4k_window_gives_a_request_that_fits() -> None:
    giant = "图" * 30_000
    history = (
        *rounds(10, text=LONG),
        user("now"),
        calling("a", "b", "c"),
        *(result(identity, giant) for identity in "abc"),
    )
    made = planned(history, window=4_096)
    assert made.tokens <= Window(4_096).prompt
    assert roles(made).endswith("uattt")


def test_a_long_question_leaves_less_room_for_results() -> None:
    question = user("word " * 1_600)
    made = planned((question, *a_round("a", text="x" * 20_000)), window=4_096)
    assert question in made.messages
    assert made.tokens <= Window(4_096).prompt
    assert made.report.results_clamped == 1


def test_a_question_too_long_for_a_known_window_is_refused_in_words() -> None:
    with pytest.raises(ContextOverflow, match=r"about 1\d,\d+ tokens .* has 4,096"):
        planned((user("word " * 8_000),), window=4_096)


def test_a_short_question_is_not_called_too_long_where_the_rules_fill_the_window() -> None:
    long = replace(FULL, text="rule " * 8_000)
    with pytest.raises(ContextOverflow, match="rules and tools alone need") as refused:
        ChatContext(Settings(), Budget(Window(4_096, known=True)), long, (), (user("Why?"),)).plan()
    assert "new-chat" not in refused.value.actions


def test_a_question_too_long_for_an_assumed_window_is_tried() -> None:
    long = user("word " * 80_000)
    made = ChatContext(Settings(), Budget(Window()), FULL, (), (long,)).plan()
    assert made.messages[-1] == long


def test_a_file_too_long_for_an_assumed_window_is_refused_in_words() -> None:
    long = replace(user("word " * 80_000), own_words="What is this?")
    with pytest.raises(ContextOverflow, match=r"about \d+,\d+ tokens\. .* 32,768 are assumed"):
        ChatContext(Settings(), Budget(Window()), FULL, (), (long,)).plan()


def test_a_file_that_fits_an_assumed_window_is_sent_whole() -> None:
    file = replace(user("word " * 8_000), own_words="What is this?")
    history = (user("word " * 30_000), answer(), file)
    made = ChatContext(Settings(), Budget(Window()), FULL, (), history).plan()
    assert made.messages[-1] == file


def test_the_parts_of_the_report_are_what_is_sent() -> None:
    made = planned((user("old"), *a_round("a", text=LONG[:800]), answer(), user("now")))
    parts = made.report.parts
    assert parts["user_context"].chars == 400
    assert parts["system"].chars + 400 == len(FULL.text)
    assert parts["current"].chars == len("now")
    assert parts["tool_results"].chars == 800
    assert parts["history"].chars == len("old" + "getUserSkill" + "{}" + "A workflow.")
    assert parts["tool_schemas"].chars == len(schema_text(TOOLS))
    sent = sum(message_tokens(message) for message in made.messages)
    assert made.report.total.tokens == sent + text_tokens(schema_text(TOOLS))


def test_repairs_are_reported() -> None:
    assert planned((user(), calling("a"), user("b"))).report.repairs == 1
    assert planned((user(), *a_round("a"))).report.repairs == 0


def test_a_server_that_wants_turns_gets_them() -> None:
    history = (answer("Welcome"), user("one"), system("Be brief."), user("two"), answer(), answer())
    made = ChatContext(Settings(), Budget(alternation=True), FULL, (), history).plan()
    assert roles(made) == "suaua"
    assert made.messages[3].text == "one\n\ntwo"


def test_a_new_budget_holds_from_the_next_request_on() -> None:
    chat = context((user("old"), answer(), user("now"), *rounds(9, text=LONG)))
    assert chat.plan().tokens > 2_000
    chat.prepare(Budget(Window(2_048, known=True)), FULL, TOOLS)
    assert chat.plan().tokens <= Window(2_048).prompt


def test_what_a_cut_covers_comes_back_by_its_handle() -> None:
    chat = context((user("old"), *rounds(20, text='{"seed": 7}'), user("now")))
    cut = chat.plan().ranges[0]
    assert chat.recall(cut.handle).count('{"seed": 7}') == sum(
        chat.rows(row, row + 1)[0].role == "tool" for row in cut.indexes
    )


def test_a_signed_reasoning_block_reaches_the_request_of_the_open_round_only() -> None:
    call = (ToolCall("a", "getUserSkill"),)
    details = {"reasoning_details": [{"signature": "s"}]}
    signed = PromptMessage("assistant", "", call, reasoning=details)
    made = planned((user(), signed, result("a")))
    assert to_openai(made.messages[-2])["reasoning_details"] == [{"signature": "s"}]
    later = planned((user(), signed, result("a"), user("more")))
    assert all(message.reasoning is None for message in later.messages)


@pytest.mark.slow
@law
@given(CHATS, LIMITS, BUDGETS)
def test_any_chat_gives_a_valid_request_or_a_clear_refusal(
    chat: list[Message], limits: Settings, budget: Budget
) -> None:
    body = json.loads(json.dumps([message_to_ui(message) for message in chat]))
    made = planned_or_refused(to_prompt(messages_from_ui(body)), limits, budget)
    if made is None:
        return
    request = body_of(made.messages)
    assert strict_faults(request, alternation=budget.alternation) == []
    text_of(made.messages).encode()
    names = [c["function"]["name"] for m in request for c in m.get("tool_calls", [])]
    assert all(name.isascii() and 0 < len(name) <= 64 for name in names)


@pytest.mark.slow
@law
@given(CHATS, st.data())
def test_a_chat_broken_anywhere_is_read_or_refused(
    chat: list[Message], data: st.DataObject
) -> None:
    """Any value of the JSON is replaced by any other value: no exception but InvalidRequest."""
    body = [message_to_ui(message) for message in chat]
    place: object = body
    while True:
        assert isinstance(place, (dict, list))
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = data.draw(BROKEN)
    try:
        messages = messages_from_ui(body)
        planned_or_refused(to_prompt(messages), Settings(), Budget())
    except InvalidRequest:
        return
    for message in messages:
        assert message_from_ui(message_to_ui(message)) == message
        chunks.encode(message_to_ui(message)).decode()
