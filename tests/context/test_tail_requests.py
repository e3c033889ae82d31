"""Any request with the notes of its turn is valid, fits, and extends the request before it."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.notes import EVENTS, RECALLED, WRAP_UP_TEXT, Note
from plugin.assistant.context.plan import Budget
from plugin.assistant.context.tail import Tail
from plugin.assistant.context.tokens import (
    message_tokens,
    schema_text,
    text_tokens,
)
from plugin.assistant.context.validator import faults
from plugin.assistant.context.window import Window

from .histories import Messages, chat_law, user
from .planning import (
    BUDGETS,
    LIMITS,
    LOGS,
    TOOLS,
    body_of,
    requests,
    strict_faults,
    text_of,
)
from .wild import wild_log


class Turns:
    """Makes the tail of each turn: background notes, and the reminder from the second request
    on."""

    def __init__(self, notes: tuple[Note, ...]) -> None:
        self._notes, self._tail = notes, Tail()

    def tail_of(self, context: ChatContext) -> Tail:
        asked = context.asked_row
        if self._tail.asked != asked:
            self._tail = Tail(asked, self._notes)
        else:
            self._tail = self._tail.with_wrap_up(asked, len(context))
        return self._tail


SEED = Note(RECALLED, ("the seed was 42",), 400, places=(0,), dates=("",))
LONG = Note(RECALLED, ("a passage " * 60, "a passage " * 90), 1_600, places=(4, 2), dates=("", ""))
FINISHED = Note(EVENTS, ("the run has finished", "an output " * 40), 400)
NOTES = st.sampled_from([(), (SEED,), (LONG,), (FINISHED,), (FINISHED, SEED), (FINISHED, LONG)])


@chat_law
@given(LOGS, LIMITS, BUDGETS, NOTES)
def test_a_tail_keeps_requests_valid_within_the_window_and_its_rows_as_they_are(
    log: Messages, settings: Settings, budget: Budget, notes: tuple[Note, ...]
) -> None:
    known = replace(budget, window=replace(budget.window, known=True))
    for request in requests(log, settings, known, tail_of=Turns(notes).tail_of):
        body = body_of(request.messages)
        assert strict_faults(body, alternation=budget.alternation) == []
        assert faults(request.messages, alternation=budget.alternation) == ()
        assert request.plan.tokens <= known.prompt
        text = text_of(request.messages)
        assert text.count(text_of([user(WRAP_UP_TEXT)])[30:-3]) <= 1
        if not budget.alternation:
            recounted = sum(message_tokens(message) for message in request.messages)
            assert request.plan.tokens == recounted + text_tokens(schema_text(TOOLS))


NARROW = Budget(Window(1_024, known=False), alternation=False, exact=True)


@chat_law
@given(LOGS, st.sampled_from(["extractive", "off"]), BUDGETS, NOTES)
@example(wild_log(0, 1), "extractive", NARROW, (FINISHED, SEED))
def test_a_tail_stays_as_it_is_for_its_turn_without_a_commitment(
    log: Messages, summary: str, budget: Budget, notes: tuple[Note, ...]
) -> None:
    settings = Settings(prompt_cache="auto", summary=summary)
    orderly = tuple(message for message in log if message.role != "system")
    budget = replace(budget, alternation=False)
    chat = requests(orderly, settings, budget, tail_of=Turns(notes).tail_of)
    for last, request in pairwise(chat):
        forced = last.plan.report.emergency or request.plan.report.emergency
        if request.after is last.after and request.asked == last.asked and not forced:
            before = body_of(last.messages)
            assert body_of(request.messages)[: len(before)] == before
