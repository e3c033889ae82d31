"""Any request fits its window and its limits by number (R15, R20, R21)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.plan import Budget, Plan
from plugin.assistant.context.tokens import (
    CHARS_PER_TOKEN,
)
from plugin.assistant.context.window import Window
from plugin.assistant.messages.json_text import json_text
from plugin.assistant.messages.prompt import to_openai

from .histories import Messages, chat_law
from .planning import (
    BUDGETS,
    LIMITS,
    LOGS,
    LONG_LOGS,
    TOOLS,
    requests,
    row_of,
)


def json_size(plan: Plan) -> int:
    """Characters of the request as JSON, without the content of images."""
    bodies = [replace(m, content=m.text) if m.images else m for m in plan.messages]
    return sum(len(json_text(to_openai(message))) for message in bodies) + len(json_text(TOOLS))


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_what_is_sent_fits_a_window_that_is_known(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    known = replace(budget, window=replace(budget.window, known=True))
    for request in requests(log, settings, known):
        assert request.plan.tokens <= known.prompt
        assert json_size(request.plan) / CHARS_PER_TOKEN <= known.prompt


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_no_more_messages_than_the_limit_but_for_the_protected_ones(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """Protected are the message to answer, the newest group, the pinned request and the summary."""
    if settings.prompt_cache == "auto" or not settings.history_max_messages:
        return
    for request in requests(log, settings, replace(budget, alternation=False)):
        spoken = [message for message in request.messages if message.role != "system"]
        starts = [n for n, message in enumerate(spoken) if message.role != "tool"]
        newest = len(spoken) - starts[-1]
        rows = {row_of(message) for message in spoken[: starts[-1]]}
        pinned = rows & {request.asked, request.after.head_row, request.after.asked_row}
        protected = newest + len(pinned - {None}) + 1
        assert len(spoken) <= max(settings.history_max_messages, protected)


SHORT_TURN = 8  # rows


@chat_law
@given(LONG_LOGS, st.sampled_from(["none", "auto"]), st.integers(1, 6))
def test_a_cut_leaves_the_newest_messages_where_the_limits_allow(
    log: Messages, cache: str, least: int
) -> None:
    """Each message is so short that the limits do allow it, where the turns are short, too: a turn
    stays whole or goes as a whole."""
    short = [replace(m, content=m.text[:40] or "ok", reasoning=None) for m in log]
    settings = Settings(prompt_cache=cache, min_recent_messages=least, summary_target=0.05)
    for request in requests(tuple(short), settings, Budget(Window(8_192, known=True))):
        if request.after is not request.before:
            rows = [row_of(message) for message in request.messages]
            start = next(n for n, row in enumerate(rows) if (row or -1) >= request.after.end)
            users = [row for row, m in enumerate(request.log) if m.role == "user"]
            before = max((row for row in users if row < request.after.end), default=0)
            assert len(rows) - start >= least or request.after.end - before > SHORT_TURN


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_only_the_last_rounds_keep_results_that_are_longer_than_their_line(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    from plugin.assistant.context.digest import digest
    from plugin.assistant.context.handles import row_handle

    keep = settings.tool_result_keep_last_rounds
    if settings.prompt_cache == "auto" or not keep:
        return
    for request in requests(log, settings, budget):
        calls = [n for n, message in enumerate(request.messages) if message.tool_calls]
        for start in calls[:-keep]:
            made = request.messages[start].tool_calls
            for call, sent in zip(made, request.messages[start + 1 :], strict=False):
                row = row_of(sent)
                whole = sent if row is None else request.log[row]
                handle = "" if row is None else row_handle(row)
                assert sent.reduced == "digest" or len(sent.text) <= len(
                    digest(call, whole, handle)
                )
