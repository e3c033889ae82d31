"""Properties of any chat: repeated content is sent once (R18)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.fidelity import changed_rows
from plugin.assistant.context.plan import Budget
from plugin.assistant.messages.prompt import PromptMessage

from .histories import Messages, chat_law, with_repeats
from .planning import (
    BUDGETS,
    LIMITS,
    LONG_LOGS,
    drafted,
    requests,
    row_of,
)

REPEATING: st.SearchStrategy[Messages] = st.one_of(
    LONG_LOGS, st.builds(with_repeats, st.integers(1, 25), st.integers(0))
)


def skill_of(message: PromptMessage) -> str:
    """The text of a message that may be a repetition: a result, or a skill without the user's
    words."""
    return (
        message.text.partition("\n\n[The user's message]")[0]
        if message.role == "user"
        else (message.text)
    )


@chat_law
@given(REPEATING, LIMITS, BUDGETS)
def test_what_is_sent_once_stands_earlier_in_the_same_request_with_as_much_of_it(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """So no line names a copy that is masked, cut or dropped."""
    for request in requests(log, settings, replace(budget, alternation=False)):
        shown: dict[str, int] = {}
        for message in request.messages:
            row = row_of(message)
            if row is None:
                continue
            whole = skill_of(request.log[row])
            if message.reduced == "repeat" and message.content != request.log[row].content:
                assert shown.get(whole, 0) > 0
                assert not request.log[row].failed
            elif not message.text.startswith('{"_omitted"'):
                shown[whole] = max(shown.get(whole, 0), len(message.text))


@pytest.mark.slow
@chat_law
@given(REPEATING, LIMITS, BUDGETS)
def test_sending_once_never_costs_more_and_changes_nothing_else(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        draft = drafted(request, request.after, settings, budget)
        for sent, shaped in zip(draft.tail, draft.reduced, strict=True):
            assert sent.tokens <= shaped.tokens
            if sent is not shaped:
                assert changed_rows(sent, shaped)
                assert settings.repeat_min_chars > 0
                assert sent.messages[0].tool_calls == shaped.messages[0].tool_calls


@chat_law
@given(st.builds(with_repeats, st.integers(1, 25), st.integers(0)), BUDGETS)
def test_switched_off_nothing_is_sent_once(log: Messages, budget: Budget) -> None:
    settings = Settings(repeat_min_chars=0)
    for request in requests(log, settings, replace(budget, alternation=False)):
        assert not any(message.reduced == "repeat" for message in request.messages)
        assert request.plan.report.results_repeated == 0
