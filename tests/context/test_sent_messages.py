"""The messages of any request: the user's message, the summary, and each row as the log has it."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from plugin.assistant.config import Settings
from plugin.assistant.context.fidelity import IMAGE_NOTE
from plugin.assistant.context.plan import Budget
from plugin.assistant.context.repeats import SKILL_AGAIN
from plugin.assistant.context.summary.text import MARKER
from plugin.assistant.context.validator import faults
from plugin.assistant.messages.prompt import PromptMessage
from plugin.bench import validity

from .histories import Messages, a_round, answer, chat_law, result, system, user
from .planning import (
    BUDGETS,
    LIMITS,
    LOGS,
    LONG_LOGS,
    OFF,
    body_of,
    requests,
    row_of,
    strict_faults,
    text_of,
)


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_current_input_is_sent_once_unchanged_and_last(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        places = [n for n, m in enumerate(request.messages) if row_of(m) == request.asked]
        assert len(places) == 1
        sent = request.messages[places[0]]
        # Images of the message become a note where it would not fit otherwise.
        whole = sent == request.log[request.asked] or sent.reduced == "repeat"
        assert whole or (sent.reduced == "fit" and request.log[request.asked].images)
        assert all(message.role != "user" for message in request.messages[places[0] + 1 :])


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_current_input_ends_the_last_user_message_where_roles_alternate(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=True)):
        asked = request.log[request.asked]
        sent = [message for message in request.messages if message.role == "user"][-1]
        noted = sent.text.count(IMAGE_NOTE)
        assert sent.text.endswith(asked.text) or SKILL_AGAIN in sent.text or noted
        assert sent.images[len(sent.images) - len(asked.images) :] == asked.images or noted


@pytest.mark.slow
@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS)
def test_the_summary_stands_once_before_what_it_does_not_cover_and_after_the_head(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        summaries = [n for n, m in enumerate(request.messages) if MARKER in m.text]
        assert len(summaries) == (request.after.summary is not None)
        for place in summaries:
            assert request.messages[place].role == "user"
            for message in request.messages[:place]:
                head = (request.after.head_row, request.after.answer_row)
                assert message.role == "system" or row_of(message) in head


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_what_is_sent_of_a_row_is_byte_for_byte_the_row_or_named_as_left_out(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """Ids may be renamed, and reasoning is left out after its turn; every other difference has a
    handle."""
    for request in requests(log, settings, replace(budget, alternation=False)):
        named = {row for item in request.plan.left_out for row in item.indexes}
        for message in request.messages:
            row = row_of(message)
            if row is None:
                continue
            whole = request.log[row]
            assert message.role == whole.role
            assert message.content == whole.content or row in named
            assert [(call.name, call.arguments) for call in message.tool_calls] == [
                (call.name, call.arguments) for call in whole.tool_calls
            ]


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_rows_are_sent_once_and_in_the_order_of_the_log(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """Exceptions: results follow the order of their calls, and system messages before a cut stand
    first."""
    for request in requests(log, settings, replace(budget, alternation=False)):
        rows = [row_of(m) for m in request.messages if m.role in ("user", "assistant")]
        known = [row for row in rows if row is not None]
        assert known == sorted(set(known))


@chat_law
@given(LOGS, LIMITS, BUDGETS)
@example(a_round("a", text=""), Settings(), Budget())
@example((user(), system(), user("more")), Settings(), Budget(alternation=True))
@example((user(), result("a"), answer(), answer("more"), user()), OFF, Budget(alternation=True))
@example((user(), PromptMessage("user", ())), OFF, Budget())
@example((answer("Welcome!"), user()), OFF, Budget(alternation=True))
def test_every_request_is_valid_for_strict_providers(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, budget):
        body = body_of(request.messages)
        assert strict_faults(body, alternation=budget.alternation) == []
        assert validity.faults(body) == []
        assert faults(request.messages, alternation=budget.alternation) == ()
        text_of(request.messages).encode()


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_every_result_stands_in_the_round_that_asked_for_it(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, budget):
        calling = -1
        for message in request.messages:
            row = row_of(message)
            if message.tool_calls:
                calling = -1 if row is None else row
            elif message.role == "tool" and row is not None:
                between = request.log[calling + 1 : row]
                assert calling < row
                assert all(other.role == "tool" for other in between)
