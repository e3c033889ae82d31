"""The laws of every request, for chats that nobody would write by hand (issue 3, R13-R32, R49-R53).

A chat is planned request by request, as it would run, with and without a prompt cache, with and
without a summary, in windows of 1k to 32k tokens.
"""

import copy
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise, takewhile
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context import draft as draft_module
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.compaction_policy import LEAST_SAVING
from plugin.assistant.context.draft import CountedMessage, Draft, compose
from plugin.assistant.context.fidelity import GroupReducer, changed_rows
from plugin.assistant.context.limits import limits_of
from plugin.assistant.context.log import ChatLog
from plugin.assistant.context.notes import EVENTS, RECALLED, WRAP_UP_TEXT, Note
from plugin.assistant.context.plan import Budget, Plan
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.repeats import SKILL_AGAIN, is_repeat
from plugin.assistant.context.summary.text import MARKER, MOST_WORDS, summary_text
from plugin.assistant.context.tail import Tail
from plugin.assistant.context.tokens import (
    CHARS_PER_TOKEN,
    TextTokens,
    message_tokens,
    schema_text,
    text_tokens,
)
from plugin.assistant.context.validator import faults
from plugin.assistant.context.window import Window
from plugin.assistant.messages.json_text import is_utf8, json_text
from plugin.assistant.messages.prompt import PromptMessage, to_openai
from plugin.bench import validity
from plugin.bench.wild import wild_log

from .context.histories import Messages, a_round, answer, joined, law, result, rounds, system, user
from .context.planning import (
    BUDGETS,
    HUGE,
    LIMITS,
    LOGS,
    LONG_LOGS,
    OFF,
    OURS,
    TOOLS,
    Request,
    a_context,
    body_of,
    numbered,
    plan_of,
    planned,
    requests,
    row_of,
    strict_faults,
    text_of,
)

ROOT = Path(__file__).resolve().parent.parent
chat_law = hypothesis_settings(law, max_examples=30)
"""A chat is planned dozens of times for each example."""
CACHED = Settings(prompt_cache="auto")
SMALL = Budget(Window(2_048, known=True))


def summary_of(messages: Iterable[PromptMessage]) -> list[PromptMessage]:
    return [message for message in messages if MARKER in message.text]


def json_size(plan: Plan) -> int:
    """Characters of the request as JSON; of images only that they are there."""
    bodies = [replace(m, content=m.text) if m.images else m for m in plan.messages]
    return sum(len(json_text(to_openai(message))) for message in bodies) + len(json_text(TOOLS))


# What is sent


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_current_input_is_sent_once_unchanged_and_last(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        places = [n for n, m in enumerate(request.messages) if row_of(m) == request.asked]
        assert len(places) == 1
        sent = request.messages[places[0]]
        assert sent == request.log[request.asked] or is_repeat(sent)
        assert all(message.role != "user" for message in request.messages[places[0] + 1 :])


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_current_input_ends_the_last_user_message_where_roles_alternate(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=True)):
        asked = request.log[request.asked]
        sent = [message for message in request.messages if message.role == "user"][-1]
        assert sent.text.endswith(asked.text) or SKILL_AGAIN in sent.text
        assert sent.images[len(sent.images) - len(asked.images) :] == asked.images


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
                assert message.role == "system" or row_of(message) == request.after.head_row


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_what_is_sent_of_a_row_is_byte_for_byte_the_row_or_named_as_left_out(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """Ids may be renamed, reasoning goes with its turn; all else that differs has a handle."""
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
    """But for results, which follow the order of their calls, and system messages before a cut."""
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


# What fits


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
    """Those are the message to answer, the newest group, what is pinned, and a summary's place."""
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


@chat_law
@given(LONG_LOGS, st.sampled_from(["none", "auto"]), st.integers(1, 6))
def test_a_cut_leaves_the_least_recent_messages_where_the_limits_allow(
    log: Messages, cache: str, least: int
) -> None:
    """Each message is so short that the limits do allow it."""
    short = [replace(m, content=m.text[:40] or "ok", reasoning=None) for m in log]
    settings = Settings(prompt_cache=cache, min_recent_messages=least, summary_target=0.05)
    for request in requests(tuple(short), settings, Budget(Window(8_192, known=True))):
        if request.after is not request.before:
            rows = [row_of(message) for message in request.messages]
            start = next(n for n, row in enumerate(rows) if (row or -1) >= request.after.end)
            assert len(rows) - start >= least


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_only_the_last_rounds_keep_results_that_are_longer_than_their_line(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    from plugin.assistant.context.digest import digest, is_digest
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
                assert is_digest(sent) or len(sent.text) <= len(digest(call, whole, handle))


# What stays the same


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_the_system_segment_is_the_same_bytes_in_front(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, budget):
        if not any(m.role == "system" and not m.is_empty for m in request.log):
            assert request.messages[0] == PromptMessage("system", OURS.text)
            assert all(message.role != "system" for message in request.messages[1:])


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
    """Byte for byte: within a turn all of it, from turn to turn up to the turn's tail (R50)."""
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
    """Nor is anything committed twice without new input (R27)."""
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
    """Where it could be brought within its limits, that is; else there is still something to do."""
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
        finished = [m for m in log if m.text != OURS.text and m.reasoning is None]
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


# What is left out


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


@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS)
def test_head_cuts_and_tail_together_are_the_log(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        cuts = request.after.cuts
        if not cuts:
            continue
        head = request.after.head_row
        assert cuts[0].first == (0 if head is None else head + 1)
        assert all(earlier.end == later.first for earlier, later in pairwise(cuts))
        assert all(cut.first < cut.end <= len(request.log) for cut in cuts)
        kept = {head, request.after.asked_row, request.asked}
        for message in request.messages:
            row = row_of(message)
            if row is not None and message.role != "system":
                assert row >= cuts[-1].end or row in kept
        if request.after is not request.before:
            covered = ChatLog(request.log).content_hash(cuts[-1].first, cuts[-1].end)
            assert covered == cuts[-1].content_hash


# What is sent once


def with_repeats(turns: int, seed: int) -> Messages:
    """A log whose results are three long texts, one of them a failure, and whose user activates
    one skill again and again."""
    random = Random(seed)
    skill = '[The user activated the skill "moon" (`moon`).]\n\n' + "Draw it. " * 60
    texts = ("a view of the workflow " * 30, json.dumps({"rows": ["word " * 90] * 3}))
    failure = json.dumps({"error": "Value not in list. " * 30})
    return joined(
        (
            user(random.choice((skill, skill + "\n\n[The user's message]\n\nmore", f"q{turn}"))),
            *(
                message
                for number in range(random.randint(1, 3))
                for message in a_round(
                    *(f"c{turn}-{number}-{n}" for n in range(random.randint(1, 3))),
                    text=random.choice((*texts, failure)),
                )
            ),
            answer(f"done {turn}"),
        )
        for turn in range(turns)
    )


REPEATING: st.SearchStrategy[Messages] = st.one_of(
    LONG_LOGS, st.builds(with_repeats, st.integers(1, 25), st.integers(0))
)


def skill_of(message: PromptMessage) -> str:
    """What a message has that may be repeated: a result, or a skill without the user's words."""
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
    """So nothing points to what is masked, cut or dropped, in the newest round or elsewhere."""
    for request in requests(log, settings, replace(budget, alternation=False)):
        shown: dict[str, int] = {}
        for message in request.messages:
            row = row_of(message)
            if row is None:
                continue
            whole = skill_of(request.log[row])
            if is_repeat(message) and message.content != request.log[row].content:
                assert shown.get(whole, 0) > 0
                assert not request.log[row].failed
            elif not message.text.startswith('{"_omitted"'):
                shown[whole] = max(shown.get(whole, 0), len(message.text))


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
        assert not any(map(is_repeat, request.messages))
        assert request.plan.report.results_repeated == 0


# What only one turn's requests say


class Turns:
    """Gives each turn background notes, and the reminder from its second request on."""

    def __init__(self, notes: tuple[Note, ...]) -> None:
        self._notes, self._tail = notes, Tail()

    def tail_of(self, context: ChatContext) -> Tail:
        asked = context.asked_row
        if self._tail.asked != asked:
            self._tail = Tail(asked, self._notes)
        else:
            self._tail = self._tail.with_wrap_up(asked, len(context))
        return self._tail


SEED = Note(RECALLED, ("the seed was 42",), 400)
LONG = Note(RECALLED, ("a passage " * 60, "a passage " * 90), 1_600)
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


@chat_law
@given(LOGS, st.sampled_from(["extractive", "off"]), BUDGETS, NOTES)
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


# What is committed


def drafted(
    request: Request, projections: Projections, settings: Settings, budget: Budget
) -> Draft:
    """The request as these projections alone would make it."""
    limits = limits_of(settings, budget)
    summary = None
    if projections.summary is not None:
        text = summary_text(projections.summary, projections.summary_tokens)
        summary = CountedMessage.of("user", text)
    ours = CountedMessage.of("system", OURS.text)
    reducer = GroupReducer(limits.fidelity)
    return compose(ChatLog(request.log), projections, ours, summary, limits, reducer)


@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS)
def test_a_committed_compaction_saves_a_tenth(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """Of the tokens; the limit by number, which always holds, asks for messages."""
    for request in requests(log, settings, replace(budget, alternation=False)):
        if request.after is request.before:
            continue
        before = drafted(request, request.before, settings, budget)
        after = drafted(request, request.after, settings, budget)
        if after.tokens > before.tokens * (1 - LEAST_SAVING):
            assert 0 < settings.history_max_messages < before.count
            assert after.count <= before.count * (1 - LEAST_SAVING)
            assert settings.prompt_cache == "none"


@chat_law
@given(LONG_LOGS, LIMITS, BUDGETS)
def test_a_summary_has_at_most_nine_tenths_of_what_it_replaces(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    """Its introduction alone always stands."""
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
            assert text_tokens(text) <= most.prompt * most.summary_share


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


@chat_law
@given(LONG_LOGS, st.data())
def test_a_branch_is_planned_as_if_its_own_rows_were_all(
    log: Messages, data: st.DataObject
) -> None:
    """Projections of a longer or another path leave no trace but those cuts that still fit."""
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


# What is shortened


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_shortened_results_stay_json_and_split_no_code_point(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        for message in request.messages:
            row = row_of(message)
            if message.role != "tool" or row is None:
                continue
            whole = request.log[row].text
            if whole.lstrip()[:1] in ("{", "[") and is_json(whole):
                assert is_json(message.text)
            if is_utf8(whole):
                assert is_utf8(message.text)
            elif "\ud83d\ude00" in whole and "\ufffd" not in text_of([request.log[row]]):
                assert "\ufffd" not in text_of([message])


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@chat_law
@given(LOGS, LIMITS)
def test_a_failed_call_stays_visibly_failed(log: Messages, settings: Settings) -> None:
    failing = tuple(
        replace(m, content=json.dumps({"error": "boom " + m.text})) if m.failed else m for m in log
    )
    made = planned(failing, settings, Budget(HUGE))
    if made is None or settings.tool_output_trim_chars in (1, 17):
        return
    for message in made.messages:
        if message.role == "tool" and message.failed:
            said = json.loads(message.text)
            said = said.get("value", said)
            assert "error" in said or "boom" in said["excerpt"]
            assert said.get("outcome", "failed") == "failed"


# The same bytes anywhere

SUBPROCESS = """
import importlib.util, pathlib
spec = importlib.util.spec_from_file_location("_bootstrap", pathlib.Path("scripts/bootstrap.py"))
bootstrap = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bootstrap)
bootstrap.register(pathlib.Path.cwd())
from plugin.tests.test_context_laws import fingerprint
print(fingerprint())
"""


def fingerprint() -> str:
    """Of the requests and reports of chats that meet every stage."""
    digest = hashlib.sha256()
    settings = (Settings(), CACHED, Settings(summary="off"))
    for each in settings:
        for seed in range(2):
            for request in requests(wild_log(seed, 25), each, replace(SMALL, alternation=True)):
                report = request.plan.report
                body = [body_of(request.messages), report.to_json(), report.to_header()]
                digest.update(json.dumps(body).encode())
    return digest.hexdigest()


@pytest.mark.parametrize(("seed", "locale"), [("1", "C"), ("2", "C.UTF-8")])
def test_another_process_hash_seed_and_locale_give_the_same_bytes(seed: str, locale: str) -> None:
    command = [sys.executable, "-c", SUBPROCESS]
    env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.stdout.strip() == fingerprint(), done.stderr


# What it costs


@pytest.mark.parametrize("cache", ["none", "auto"])
@pytest.mark.parametrize("seed", [3, 4])
def test_a_long_chat_is_opened_with_what_looking_at_all_of_it_would_give(
    monkeypatch: pytest.MonkeyPatch, cache: str, seed: int
) -> None:
    """Rows that are sure to be cut are not shaped first."""
    settings = Settings(prompt_cache=cache, repeat_min_chars=0)
    log = numbered(wild_log(seed, 400))
    context = a_context(settings, SMALL, log)
    quick = plan_of(context)
    monkeypatch.setattr(draft_module, "MANY", len(log))
    whole = a_context(settings, SMALL, log)
    assert quick is not None
    assert quick == plan_of(whole)
    assert context.projections == whole.projections


def test_one_more_request_of_a_long_chat_counts_no_more_than_of_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted in messages whose tokens are estimated, the costliest of the small steps."""
    from plugin.assistant.context import log as module

    counted = 0

    def counting(message: PromptMessage, count: TextTokens | None) -> int:
        nonlocal counted
        counted += 1
        return message_tokens(message, count)

    monkeypatch.setattr(module, "message_tokens", counting)
    for settings in (Settings(), CACHED):
        work = []
        for turns in (30, 300):
            chat = joined((user(f"q{n}"), *rounds(1, "word " * 90), answer()) for n in range(turns))
            context = a_context(settings, SMALL)
            for message in (*chat, user()):
                context.append(message)
                if message.role == "user":
                    context.plan()
            counted = 0
            for message in (*a_round("new"), answer(), user("now")):
                context.append(message)
                context.plan()
            work.append(counted)
        assert work[1] <= work[0] + 12
