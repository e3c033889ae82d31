"""history -> plan: the stages together, and their report."""

import json

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.context.digest import is_digest
from plugin.assistant.context.plan import Budget, Plan, plan
from plugin.assistant.context.report import Size
from plugin.assistant.context.system import SystemText
from plugin.assistant.context.tokens import message_tokens, schema_text, text_tokens
from plugin.assistant.context.window import Window
from plugin.assistant.errors import ContextOverflow, InvalidRequest
from plugin.assistant.messages.prompt import PromptMessage, ToolCall, to_openai

from .histories import Messages, a_round, answer, calling, joined, result, rounds, system, user

FULL = SystemText("You are ComfyUI Assistant. " * 40, "full", 400, ("LLM_MAX_RULES",), ("50.md",))
TOOLS = ({"type": "function", "function": {"name": "getUserSkill"}},)
LONG = json.dumps({"slug": "sdxl", "text": "word " * 2_000})


def planned(history: Messages, window: int = 32_768, **limits: int) -> Plan:
    budget = Budget(Window(window, known=True))
    return plan(history, FULL, TOOLS, Settings(**limits), budget)  # type: ignore[arg-type]


def roles(made: Plan) -> str:
    """The first letter of each message's role."""
    return "".join(message.role[0] for message in made.messages)


def test_a_short_chat_is_sent_whole_behind_the_system_message() -> None:
    made = planned((user("one"), answer(), user("two")))
    assert [message.text for message in made.messages] == [FULL.text, "one", "A workflow.", "two"]
    assert made.tools == TOOLS


def test_the_defaults_hold_at_once() -> None:
    history = (user("old"), *rounds(20, text=LONG), answer(), user("now"), *a_round("x"))
    made = planned(history)
    assert made.report.messages_sent <= 24
    assert made.report.system_kind == "full"
    full = [message for message in made.messages if message.role == "tool"]
    assert sum(not is_digest(message) for message in full) == 2
    assert max(len(message.text) for message in full) <= 2_000
    assert made.report.rounds_omitted == 19
    assert made.report.results_clamped == 1
    assert made.report.messages_trimmed == len(history) - made.report.messages_sent
    assert set(made.report.limits_applied) == {
        "LLM_MAX_RULES",
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS",
        "LLM_TOOL_OUTPUT_TRIM_CHARS",
        "LLM_HISTORY_MAX_MESSAGES",
    }


def test_all_limits_at_zero_send_everything() -> None:
    history = (user("old"), *rounds(30, text=LONG), user("now"))
    made = planned(
        history,
        window=1_000_000,
        tool_result_keep_last_rounds=0,
        tool_output_trim_chars=0,
        history_max_messages=0,
    )
    assert made.messages[1:] == history
    assert made.report.limits_applied == ("LLM_MAX_RULES",)


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
    assert made.report.total.tokens <= Window(4_096).prompt
    assert roles(made).endswith("uattt")
    assert "LLM_CONTEXT_WINDOW" in made.report.limits_applied


def test_a_long_question_leaves_less_room_for_results() -> None:
    question = user("word " * 1_600)
    made = planned((question, *a_round("a", text="x" * 20_000)), window=4_096)
    assert made.messages[1] == question
    assert made.report.total.tokens <= Window(4_096).prompt


def test_a_question_too_long_for_a_known_window_is_refused_in_words() -> None:
    with pytest.raises(ContextOverflow, match=r"about 10,\d+ tokens .* has 4,096"):
        planned((user("word " * 8_000),), window=4_096)


def test_a_question_too_long_for_an_assumed_window_is_tried() -> None:
    long = user("word " * 80_000)
    made = plan((long,), FULL, (), Settings(), Budget(Window()))
    assert made.messages[-1] == long


def test_the_parts_of_the_report_are_what_is_sent() -> None:
    made = planned((user("old"), *a_round("a", text=LONG[:800]), answer(), user("now")))
    parts = made.report.parts
    texts = {"system": FULL.text, "current": "now", "tool_results": LONG[:800]}
    assert parts["user_context"].chars == 400
    assert parts["system"].chars + 400 == len(texts["system"])
    assert parts["current"].chars == len(texts["current"])
    assert parts["tool_results"].chars == len(texts["tool_results"])
    assert parts["history"].chars == len("old" + "getUserSkill" + "{}" + "A workflow.")
    assert parts["tool_schemas"].chars == len(schema_text(TOOLS))
    sent = sum(message_tokens(message) for message in made.messages)
    assert made.report.total.tokens == sent + text_tokens(schema_text(TOOLS))


def test_repairs_are_reported() -> None:
    assert planned((user(), calling("a"))).report.repairs == 1
    assert planned((user(), *a_round("a"))).report.repairs == 0


def test_the_first_turn_is_reported() -> None:
    assert planned((user(), *a_round("a"))).report.first_turn
    assert not planned((user(), answer(), user())).report.first_turn


def test_a_server_that_wants_turns_gets_them() -> None:
    history = (answer("Welcome"), user("one"), system("Be brief."), user("two"), answer(), answer())
    made = plan(history, FULL, (), Settings(), Budget(alternation=True))
    assert roles(made) == "sua"
    assert made.messages[1].text == "one\n\ntwo"
    assert made.report.messages_trimmed == 1


def test_turns_never_take_more_messages_than_the_limit() -> None:
    history = (*joined([(user(str(n)), *a_round(f"r{n}")) for n in range(20)]), user("now"))
    for most in range(1, 12):
        limits = Settings(history_max_messages=most)
        made = plan(history, FULL, (), limits, Budget(alternation=True))
        assert made.report.messages_sent <= most


def test_work_grows_with_the_length_of_the_chat_and_not_faster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted in messages whose tokens are estimated, the costliest of the small steps."""
    from plugin.assistant.context import plan as module

    counted = 0

    def counting(message: PromptMessage) -> int:
        nonlocal counted
        counted += 1
        return message_tokens(message)

    monkeypatch.setattr(module, "message_tokens", counting)
    work = []
    for length in (200, 400, 800):
        counted = 0
        planned((*rounds(length), user()), window=10_000_000, history_max_messages=0)
        work.append(counted)
    assert work[2] - work[1] <= 2.2 * (work[1] - work[0])


def test_a_signed_reasoning_block_reaches_the_request_of_the_open_round() -> None:
    signed = PromptMessage(
        "assistant",
        "",
        (ToolCall("a", "getUserSkill"),),
        reasoning={"reasoning_details": [{"signature": "s"}]},
    )
    made = planned((user(), signed, result("a")))
    assert to_openai(made.messages[-2])["reasoning_details"] == [{"signature": "s"}]
