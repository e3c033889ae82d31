"""Cuts, masks and summaries of any chat: when they are committed, and when they are dropped."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.compaction_policy import LEAST_SAVING
from plugin.assistant.context.limits import limits_of
from plugin.assistant.context.plan import Budget
from plugin.assistant.context.summary.text import MARKER, MOST_WORDS, summary_text
from plugin.assistant.context.tokens import (
    text_tokens,
)
from plugin.assistant.context.window import Window
from plugin.assistant.messages.prompt import PromptMessage

from .histories import Messages, chat_law, user
from .planning import (
    BUDGETS,
    LIMITS,
    LONG_LOGS,
    SMALL,
    a_context,
    body_of,
    drafted,
    numbered,
    plan_of,
    requests,
    strict_faults,
)
from .wild import wild_log


def summary_of(messages: Iterable[PromptMessage]) -> list[PromptMessage]:
    return [message for message in messages if MARKER in message.text]


@pytest.mark.slow
@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS)
def test_a_committed_compaction_saves_a_tenth(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """It saves a tenth of the tokens; where the number of messages exceeds its limit, some of
    them."""
    for request in requests(log, settings, replace(budget, alternation=False)):
        if request.after is request.before:
            continue
        before = drafted(request, request.before, settings, budget)
        after = drafted(request, request.after, settings, budget)
        if after.tokens > before.tokens * (1 - LEAST_SAVING):
            assert 0 < settings.history_max_messages < before.count
            assert after.count < before.count
            assert settings.prompt_cache == "none"


@pytest.mark.slow
@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS)
def test_a_summary_has_at_most_nine_tenths_of_what_it_replaces(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """The introduction of a summary is sent whatever its length."""
    least = 0
    for request in requests(log, settings, replace(budget, alternation=False)):
        for message in summary_of(request.messages):
            summary = request.after.summary
            assert summary is not None
            least = text_tokens(summary_text(summary, 0))
            assert text_tokens(message.text) <= max(least, request.after.summary_tokens)


@pytest.mark.parametrize("window", [2_048, 8_192, 32_768])
@pytest.mark.parametrize("cache", ["none", "auto"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_summary_is_bounded_however_long_the_chat(seed: int, cache: str, window: int) -> None:
    settings = Settings(prompt_cache=cache)
    budget = Budget(Window(window, known=True))
    most = limits_of(settings, budget)
    for request in requests(wild_log(seed, 60), settings, budget):
        for message in summary_of(request.messages):
            text = message.text[message.text.index(MARKER) :].partition("\n\n")[0]
            assert len(text.split()) <= MOST_WORDS
            assert text_tokens(text) <= most.room * most.summary_share


@pytest.mark.slow
@chat_law
@given(LONG_LOGS, st.data())
def test_editing_inside_a_covered_range_drops_the_projection_and_what_followed(
    log: Messages, data: st.DataObject
) -> None:
    settings = Settings(prompt_cache=data.draw(st.sampled_from(["none", "auto"])))
    context = a_context(settings, SMALL)
    for _ in requests(log, settings, SMALL, context):
        pass
    old = context.projections
    row = data.draw(st.integers(0, len(log) - 1))
    edited = (*log[:row], replace(log[row], content="edited"), *log[row + 1 :])
    kept = a_context(settings, SMALL, numbered(edited), projections=old).projections
    fitting = takewhile(lambda cut: not cut.first <= row < cut.end, old.cuts)
    assert kept.cuts == tuple(fitting)
    assert kept.end <= row or kept.cuts == old.cuts
    assert kept.summary is None or kept.summary.end == kept.end


@pytest.mark.slow
@chat_law
@given(LONG_LOGS, st.data())
def test_a_branch_is_planned_as_if_its_own_rows_were_all(
    log: Messages, data: st.DataObject
) -> None:
    """Of the projections of a longer or another path only the cuts that still fit remain."""
    settings = Settings(prompt_cache=data.draw(st.sampled_from(["none", "auto"])))
    context = a_context(settings, SMALL)
    for _ in requests(log, settings, SMALL, context):
        pass
    length = data.draw(st.integers(1, len(log)))
    branch = numbered((*log[:length], user("Another way.")))
    plan = plan_of(a_context(settings, SMALL, branch, projections=context.projections))
    if plan is not None:
        assert plan.messages[-1] == branch[-1]
        assert strict_faults(body_of(plan.messages)) == []


@pytest.mark.slow
@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS, st.data())
def test_restored_projections_give_the_plan_of_the_running_chat(
    log: Messages, settings: Settings, budget: Budget, data: st.DataObject
) -> None:
    context = a_context(settings, budget)
    chat = list(requests(log, settings, budget, context))
    if not chat:
        return
    request = data.draw(st.sampled_from(chat))
    for projections in (request.before, request.after):
        restored = a_context(settings, budget, request.log, projections=projections)
        assert plan_of(restored) == request.plan
        assert restored.projections == request.after
