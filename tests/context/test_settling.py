"""What is committed when a turn has ended, and what the next request then has to do (R21)."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.summary.text import MARKER
from plugin.assistant.context.window import Budget, Window

from .histories import Messages, answer, chat_law, user
from .planning import CACHED, LIMITS, LONG_LOGS, a_context, plan_of

TOLD = "Goal: a fox in the snow\nNext step: the upscaler"
TURNS = Settings(history_max_messages=0, summary_max_turns=4, summary_max_messages=0)
WIDE = Budget(Window(200_000, known=True))


def turn(number: int, words: int = 40) -> Messages:
    return (
        user(f"Question {number}: " + f"word{number} " * words),
        answer(f"Answer {number}: " + f"fact{number} " * words),
    )


def ended(context: ChatContext, number: int, words: int = 40) -> bool:
    """A turn that is planned and answered; returns whether something was committed after it."""
    question, said = turn(number, words)
    context.append(question)
    plan_of(context)
    context.append(said)
    return context.settle()


@chat_law
@given(LONG_LOGS, LIMITS, st.sampled_from([8_192, 32_768]))
def test_after_a_settled_turn_the_next_request_cuts_nothing_by_number(
    log: Messages, settings: Settings, window: int
) -> None:
    context = a_context(settings, Budget(Window(window, known=True)), log)
    plan_of(context)
    context.append(answer("Done."))
    context.settle()
    before = context.projections.cuts
    context.append(user("And now?"))
    plan_of(context)
    # Only a message that fills the window is left to the request itself.
    by_number = ("LLM_HISTORY_MAX_MESSAGES", "LLM_SUMMARY_MAX_MESSAGES", "LLM_SUMMARY_MAX_TURNS")
    new = context.projections.cuts[len(before) :]
    saving = settings.history_max_messages and settings.history_max_messages < 8
    assert saving or not any(cut.limit in by_number for cut in new)


@chat_law
@given(LONG_LOGS, LIMITS)
def test_settling_twice_commits_once(log: Messages, settings: Settings) -> None:
    context = a_context(settings, Budget(Window(8_192, known=True)), log)
    context.settle()
    committed = context.projections
    assert not context.settle()
    assert context.projections is committed


def test_a_chat_below_its_limits_is_left_as_it_is() -> None:
    context = a_context(Settings(), WIDE)
    assert not any(ended(context, number) for number in range(8))
    assert context.projections == Projections()


def test_the_cut_comes_with_the_turn_after_which_the_next_request_would_need_it() -> None:
    context = a_context(Settings(), WIDE)
    committed = [ended(context, number) for number in range(12)]
    # Twelve answered turns are 24 messages; the next would be the 25th.
    assert committed == [False] * 11 + [True]
    assert context.projections.cuts[-1].limit == "LLM_HISTORY_MAX_MESSAGES"


def test_turns_since_the_last_summary_are_those_that_came_after_it() -> None:
    context = a_context(TURNS, WIDE)
    committed = [number for number in range(30) if ended(context, number)]
    assert len(committed) > 3
    gaps = {later - earlier for earlier, later in pairwise(committed)}
    assert gaps == {TURNS.summary_max_turns}
    assert {cut.limit for cut in context.projections.cuts} == {"LLM_SUMMARY_MAX_TURNS"}


def test_without_summaries_turns_and_messages_since_the_last_do_not_cut() -> None:
    off = replace(TURNS, summary="off", summary_max_messages=3)
    context = a_context(off, WIDE)
    assert not any(ended(context, number) for number in range(30))


def test_the_user_may_compact_right_after_a_cut_that_no_request_had_and_only_once() -> None:
    context = a_context(Settings(), WIDE)
    while not ended(context, len(context)):
        pass
    assert context.compact() is not None
    assert context.compact() is None


def cut_after_a_turn() -> ChatContext:
    """A chat of which prompts are cached, with a cut that no request was sent with."""
    context = a_context(CACHED, Budget(Window(16_384, known=True)))
    for number in range(200):
        context.append(user(f"And {number}?"))
        context.plan()
        context.append(answer(f"Answer {number}: " + f"fact{number} " * 90))
        if context.settle() and context.projections.cuts:
            return context
    raise AssertionError("nothing was cut")


def summary_of(context: ChatContext) -> str:
    context.append(user("And now?"))
    return next(m.text for m in context.plan().messages if m.text.startswith(MARKER))


def test_a_models_text_of_a_cut_that_no_request_had_is_in_the_next_request() -> None:
    context = cut_after_a_turn()
    context.add_llm_summary(TOLD, context.projections.end)
    assert "- Goal: a fox in the snow" in summary_of(context)


def test_a_models_text_of_a_cut_that_was_sent_waits_for_the_next_cut() -> None:
    context = cut_after_a_turn()
    sent = summary_of(context)
    context.append(answer("So."))
    context.add_llm_summary(TOLD, context.projections.end)
    assert summary_of(context) == sent
