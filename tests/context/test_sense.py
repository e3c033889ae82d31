"""What a turn needs is sent as long as there is room: the running turn whole, whole turns before
it, and no request beyond the absolute limit."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.summary.text import MARKER
from plugin.assistant.context.tool_facts import ToolFacts
from plugin.assistant.context.window import Budget, Window
from plugin.assistant.messages.prompt import ImageContent, PromptMessage, TextContent, ToolCall

from .histories import Messages, a_round, answer, calling, joined, law, result, rounds, user
from .planning import LONG_LOGS, requests, row_of

GUIDE = json.dumps({"slug": "flux", "text": "Set the guidance to 3.5 for Flux. " * 180})
VIEW = json.dumps({"nodes": [{"id": n, "type": "KSampler", "seed": n} for n in range(150)]})
MODES = ("none", "auto")


def a_call(tool: str, number: int, text: str) -> Messages:
    return (calling(f"c{number}", name=tool), result(f"c{number}", text))


def context_of(messages: Messages, mode: str, window: int = 32_768, **more: object) -> ChatContext:
    settings = replace(Settings(prompt_cache=mode), **more)  # type: ignore[arg-type]
    facts = ToolFacts("recall_result", kept=frozenset(("getSystemSkill", "recall_result")))
    budget = Budget(Window(window, known=True))
    return ChatContext(settings, budget, messages=messages, facts=facts)


def texts(messages: Messages) -> list[str]:
    return [message.text for message in messages]


@pytest.mark.parametrize("mode", MODES)
def test_a_guide_is_whole_in_every_later_request_of_its_turn(mode: str) -> None:
    context = context_of((user("How do I use Flux?"),), mode, 16_384)
    for message in a_call("getSystemSkill", 0, GUIDE):
        context.append(message)
    for number in range(1, 20):
        assert GUIDE in texts(context.plan().messages)
        for message in a_call("getWorkflowInfo", number, VIEW):
            context.append(message)


@pytest.mark.parametrize("mode", MODES)
def test_below_the_trigger_nothing_of_the_running_turn_is_shortened(mode: str) -> None:
    turn = (user("Look"), *a_call("getWorkflowInfo", 1, VIEW), *a_call("getWorkflowInfo", 2, GUIDE))
    made = context_of((user("one"), answer(), *turn), mode).plan()
    assert made.messages[-5:] == turn
    assert made.report.limits_applied == ()


@pytest.mark.parametrize("mode", MODES)
def test_the_longest_result_gives_first_and_the_guide_last(mode: str) -> None:
    giant = json.dumps({"log": "A line of the log.\n" * 8_000})
    turn = (
        user("Look"),
        *a_call("getSystemSkill", 1, GUIDE),
        PromptMessage(
            "assistant", tool_calls=(ToolCall("c2", "getLog", "{}"), ToolCall("c3", "x", "{}"))
        ),
        result("c2", giant),
        result("c3", VIEW),
    )
    made = context_of(turn, mode, 16_384).plan()
    sent = texts(made.messages)
    assert GUIDE in sent
    assert VIEW in sent
    assert made.report.results_clamped == 1


@pytest.mark.parametrize("mode", MODES)
def test_no_request_exceeds_the_absolute_limit_in_a_huge_window(mode: str) -> None:
    words = "word " * 4_000
    talk = joined((user(f"{n} {words}"), answer(f"{n} {words}")) for n in range(40))
    context = context_of((), mode, 1_000_000, history_max_messages=0)
    most = 0
    for message in (*talk, user("And now?")):
        context.append(message)
        if message.role == "user":
            made = context.plan()
            most = max(most, made.report.total.tokens)
    assert 60_000 < most <= 128_000
    cut = context.projections.cuts[-1]
    assert cut.limit == "LLM_SUMMARY_MAX_TOKENS"


def test_after_a_cut_by_the_absolute_limit_at_most_57_percent_of_it_is_left() -> None:
    words = "word " * 4_000
    talk = joined((user(f"{n} {words}"), answer(f"{n} {words}")) for n in range(12))
    made = context_of((*talk, user("And now?")), "none", 1_000_000).plan()
    assert made.report.cuts == 1
    assert made.report.total.tokens <= 0.57 * 128_000


@law
@given(LONG_LOGS, st.sampled_from(MODES), st.sampled_from((8_192, 32_768)))
def test_the_tail_begins_with_a_message_of_the_user(log: Messages, mode: str, window: int) -> None:
    """But for a turn that alone exceeds the target: there its question stands before the rounds."""
    settings = Settings(prompt_cache=mode)
    for request in requests(log, settings, Budget(Window(window, known=True))):
        if not request.after.cuts or request.plan.report.emergency:
            continue
        places = [n for n, m in enumerate(request.messages) if m.text.startswith(MARKER)]
        if not places:
            continue
        rest = [m for m in request.messages[places[0] + 1 :] if m.role != "system"]
        # The question of the chat's first turn is pinned, and stands before the summary.
        pinned = request.after.asked_row is not None
        pinned = pinned and request.after.asked_row == request.after.head_row
        assert rest[0].role == "user" or pinned, (row_of(rest[0]), request.after.end)


@law
@given(st.integers(1, 40), st.sampled_from(MODES))
def test_more_window_never_shows_less(turns: int, mode: str) -> None:
    chat = joined(
        (user(f"q{n} " + "why " * 60), *a_round(f"c{n}", text=VIEW), answer(f"a{n}"))
        for n in range(turns)
    )
    shown = [
        {row.text for row in context_of((*chat, user("now")), mode, window).plan().messages}
        for window in (4_096, 8_192, 16_384, 32_768, 131_072)
    ]
    own = {message.text for message in chat}
    for small, large in pairwise(shown):
        assert (small & own) <= (large & own)


def test_images_of_the_message_to_answer_become_text_where_it_would_not_fit() -> None:
    images = (ImageContent("data:image/png;base64,AA"),) * 6
    picture = (TextContent("Look"), *images)
    made = context_of((PromptMessage("user", picture),), "none", 4_096).plan()
    assert made.messages[-1].text.startswith("Look")
    assert not made.messages[-1].images


@pytest.mark.parametrize("mode", MODES)
def test_the_reserve_is_never_less_than_the_longest_answer(mode: str) -> None:
    talk = joined((user(f"{n} " + "word " * 200), answer("word " * 200)) for n in range(60))
    window = Window(16_384, known=True, longest_answer=8_000)
    settings = Settings(prompt_cache=mode, history_max_messages=0)
    made = ChatContext(settings, Budget(window), messages=(*talk, user("now"))).plan()
    assert made.report.reserve == 8_000
    assert made.report.total.tokens <= 16_384 - 8_000


def test_a_round_that_the_limits_by_number_cut_keeps_its_guide() -> None:
    context = context_of((user("Do it all."), *a_call("getSystemSkill", 0, GUIDE)), "none")
    for message in rounds(30):
        context.append(message)
    made = context.plan()
    assert made.report.messages_sent <= 24
    assert GUIDE in texts(made.messages)
