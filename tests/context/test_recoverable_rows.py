"""The handle of every row that a request leaves out gives the row's content (R49, R51)."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from plugin.assistant.config import Settings
from plugin.assistant.context.log import ChatLog
from plugin.assistant.context.plan import Budget

from .histories import Messages, chat_law
from .planning import (
    BUDGETS,
    LIMITS,
    LOGS,
    LONG_LOGS,
    a_context,
    requests,
    row_of,
)


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_every_row_is_sent_whole_or_can_be_had_by_a_handle_byte_for_byte(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    context = a_context(settings, replace(budget, alternation=False))
    for request in requests(log, settings, budget, context):
        whole = {}
        for message in request.messages:
            row = row_of(message)
            if row is not None and message.content == request.log[row].content:
                whole[row] = message
        behind: dict[int, str] = {}
        for item in request.plan.left_out:
            content = context.recall(item.handle)
            behind.update(dict.fromkeys(item.indexes, content))
        for row, message in enumerate(request.log):
            if row not in whole:
                assert message.text in behind[row]
                assert all(call.arguments in behind[row] for call in message.tool_calls)


@chat_law
@given(LOGS)
def test_a_handle_of_a_result_gives_exactly_its_content(log: Messages) -> None:
    context = a_context(Settings(), Budget(), log)
    for row, message in enumerate(log):
        if message.role == "tool":
            assert context.recall(f"r{row}") == message.text


@pytest.mark.slow
@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS)
def test_head_cuts_and_tail_together_are_the_log(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        cuts = request.after.cuts
        if not cuts:
            continue
        head, answered = request.after.head_row, request.after.answer_row
        assert cuts[0].first in ((0,) if head is None else (head + 1, head + 2))
        assert cuts[0].first != (head or 0) + 2 or answered == (head or 0) + 1
        assert all(earlier.end == later.first for earlier, later in pairwise(cuts))
        assert all(cut.first < cut.end <= len(request.log) for cut in cuts)
        kept = {head, answered, request.after.asked_row, request.asked}
        for message in request.messages:
            row = row_of(message)
            if row is not None and message.role != "system":
                assert row >= cuts[-1].end or row in kept or row > request.asked
        if request.after is not request.before:
            covered = ChatLog(request.log).content_hash(cuts[-1].first, cuts[-1].end)
            assert covered == cuts[-1].content_hash
