"""Requests extend each other, and the same input gives the same request (R50, R52)."""

import copy
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.plan import Budget
from plugin.assistant.context.tokens import (
    message_tokens,
    schema_text,
    text_tokens,
)
from plugin.assistant.messages.prompt import PromptMessage

from .histories import (
    Messages,
    chat_law,
    with_repeats,
)
from .planning import (
    BUDGETS,
    HUGE,
    LIMITS,
    LOGS,
    LONG_LOGS,
    OFF,
    OURS,
    TOOLS,
    a_context,
    body_of,
    plan_of,
    planned,
    requests,
    row_of,
    text_of,
)


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_system_segment_is_the_same_bytes_in_front(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, budget):
        if not any(m.role == "system" and not m.is_empty for m in request.log):
            assert request.messages[0] == PromptMessage("system", OURS.text)
            assert all(message.role != "system" for message in request.messages[1:])


@pytest.mark.slow
@chat_law
@given(
    st.one_of(
        LONG_LOGS,
        st.builds(lambda n, seed: with_repeats(n, seed), st.integers(9, 25), st.integers(0)),
    ),
    st.sampled_from(["extractive", "off"]),
    BUDGETS,
)
def test_without_a_commitment_the_next_request_extends_the_last_one(
    log: Messages, summary: str, budget: Budget
) -> None:
    """The bytes are the same: within a turn the whole request, from turn to turn up to the turn's
    tail (R50)."""
    settings = Settings(prompt_cache="auto", summary=summary)
    orderly = [message for message in log if message.role != "system"]
    chat = requests(tuple(orderly), settings, replace(budget, alternation=False))
    for last, request in pairwise(chat):
        if request.after is not last.after or last.plan.report.emergency:
            continue
        if request.plan.report.emergency:
            continue
        body, before = body_of(request.messages), body_of(last.messages)
        if request.asked != last.asked:
            rows = [row_of(message) for message in last.messages]
            before = before[: rows.index(last.asked) + 1]
        assert body[: len(before)] == before


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_planning_twice_changes_nothing(log: Messages, settings: Settings, budget: Budget) -> None:
    """The second plan commits nothing, since there is no new input (R27)."""
    context = a_context(settings, budget)
    for request in requests(log, settings, budget, context):
        assert plan_of(context) == request.plan
        assert context.projections is request.after


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_same_input_gives_the_same_bytes(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    first = planned(log, settings, budget)
    again = planned(iter(log), settings, budget)
    assert first == again
    if first is not None and again is not None:
        assert text_of(first.messages) == text_of(again.messages)
        assert first.report.to_json() == again.report.to_json()


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_log_is_never_changed(log: Messages, settings: Settings, budget: Budget) -> None:
    before = copy.deepcopy(log)
    for _ in requests(log, settings, budget):
        pass
    assert log == before


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_a_plan_of_a_plan_changes_nothing(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """This holds for requests within their limits; other requests are shortened further."""
    made = planned(log, settings, budget)
    trigger = made.report.next_trigger if made is not None else None
    if made is None or (trigger and trigger["share"] > 1):
        return
    again = planned(made.messages, settings, budget)
    assert again is not None
    assert text_of(again.messages) == text_of(made.messages)
    assert again.report.repairs == 0


@chat_law
@given(LOGS)
def test_with_every_limit_off_a_valid_history_is_sent_whole(log: Messages) -> None:
    made = planned(log, OFF, Budget(HUGE))
    if made is None:
        return
    kept = [message for message in made.messages if message.text != OURS.text]
    if made.report.repairs == 0:
        # A skill of an earlier turn is one line, whatever the limits.
        said = [message for message in log if not message.skill_chars]
        finished = [m for m in said if m.text != OURS.text and m.reasoning is None]
        # Results follow the order of their calls.
        sent = [message for message in kept if message in finished]
        assert sorted(sent, key=repr) == sorted(finished, key=repr)
        assert len(kept) == len([message for message in log if message.text != OURS.text])
    assert made.report.limits_applied == ()
    assert made.report.messages_trimmed == 0


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_cached_counts_are_what_a_recount_gives(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        recounted = sum(message_tokens(message) for message in request.messages)
        assert request.plan.tokens == recounted + text_tokens(schema_text(TOOLS))
