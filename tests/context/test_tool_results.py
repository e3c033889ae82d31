"""Old results become one line, long ones are clamped, and no round fills the window."""

import json

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.context.digest import is_digest
from plugin.assistant.context.tokens import text_tokens
from plugin.assistant.context.tool_results import (
    admit_results,
    clamp_long_results,
    fair_share,
    omit_old_results,
)
from plugin.assistant.messages.prompt import PromptMessage

from .histories import Messages, a_round, answer, calling, joined, law, result, rounds, user

LONG = json.dumps({"slug": "sdxl", "text": "word " * 2_000})


def results(messages: Messages) -> list[PromptMessage]:
    return [message for message in messages if message.role == "tool"]


def test_only_the_last_rounds_keep_their_results() -> None:
    made = omit_old_results((user(), *rounds(4, text=LONG)), 2)
    assert [is_digest(message) for message in results(made.messages)] == [True, True, False, False]
    assert (made.rounds, made.results) == (2, 2)


def test_a_round_of_parallel_calls_counts_once() -> None:
    made = omit_old_results(joined([a_round("a", "b", "c", text=LONG), a_round("d", text=LONG)]), 1)
    assert [is_digest(message) for message in results(made.messages)] == [True] * 3 + [False]
    assert (made.rounds, made.results) == (1, 3)


def test_a_result_shorter_than_its_line_stays() -> None:
    history = rounds(3, text='{"ok":true}')
    made = omit_old_results(history, 1)
    assert made.messages == history
    assert made.rounds == 0


def test_a_failed_call_stays_visibly_failed() -> None:
    words = "Value not in list: ckpt_name. " + "x" * 4_000
    failing = (calling("a"), result("a", json.dumps({"error": words}), failed=True))
    made = omit_old_results(joined([failing, a_round("b")]), 1)
    said = json.loads(results(made.messages)[0].text)
    assert said["outcome"] == "failed"
    assert said["error"].startswith("Value not in list: ckpt_name.")
    assert results(made.messages)[0].failed


def test_calls_texts_and_ids_stay_when_results_go() -> None:
    history = joined([a_round("a", text=LONG), (answer(),), a_round("b", text=LONG)])
    made = omit_old_results(history, 1).messages
    assert [(m.role, m.tool_calls, m.tool_call_id) for m in made] == [
        (m.role, m.tool_calls, m.tool_call_id) for m in history
    ]


def test_zero_keeps_all_rounds_in_full() -> None:
    history = rounds(9, text=LONG)
    assert omit_old_results(history, 0).messages is history


def test_omitting_twice_changes_nothing_more() -> None:
    once = omit_old_results(rounds(5, text=LONG), 2)
    again = omit_old_results(once.messages, 2)
    assert again.messages == once.messages
    assert again.rounds == 0


def test_a_long_result_is_clamped_except_in_the_newest_round() -> None:
    made = clamp_long_results(rounds(3, text=LONG), 2_000)
    lengths = [len(message.text) for message in results(made.messages)]
    assert lengths[:2] == [length for length in lengths[:2] if length <= 2_000]
    assert lengths[2] == len(LONG)
    assert made.results == 2


def test_a_clamped_result_is_json_and_keeps_what_is_short() -> None:
    made = clamp_long_results(rounds(2, text=LONG), 600)
    assert json.loads(results(made.messages)[0].text)["slug"] == "sdxl"


def test_a_line_is_not_clamped() -> None:
    omitted = omit_old_results(rounds(3, text=LONG), 1).messages
    assert clamp_long_results(omitted, 5).messages == omitted


def test_zero_clamps_nothing() -> None:
    history = rounds(3, text=LONG)
    assert clamp_long_results(history, 0).messages is history


def test_one_giant_result_is_admitted_in_part() -> None:
    made = admit_results(a_round("a", text=LONG), 500)
    assert text_tokens(results(made.messages)[0].text) <= 500
    assert made.results == 1


def test_parallel_giants_share_what_there_is_and_the_short_one_stays() -> None:
    giant = "图" * 9_000
    history = (calling("a", "b", "c"), result("a", giant), result("b", "ok"), result("c", giant))
    made = results(admit_results(history, 2_000).messages)
    sizes = [text_tokens(message.text) for message in made]
    assert made[1].text == "ok"
    assert sum(sizes) <= 2_000
    assert min(sizes[0], sizes[2]) > 500


def test_results_that_fit_together_are_admitted_as_they_are() -> None:
    history = a_round("a", "b", text="x" * 400)
    assert admit_results(history, 200).messages == history


def test_a_text_whose_ends_are_denser_than_its_middle_is_admitted_within_the_limit() -> None:
    text = "图" * 2_000 + "x" * 20_000 + "图" * 2_000
    made = admit_results(a_round("a", text=text), 1_000)
    assert text_tokens(results(made.messages)[0].text) <= 1_000


@law
@given(st.lists(st.integers(0, 99), max_size=6), st.integers(-5, 300))
def test_a_fair_share_is_the_largest_that_fits(sizes: list[int], total: int) -> None:
    def used(share: int) -> int:
        return sum(min(size, share) for size in sizes)

    share = fair_share(sizes, total)
    assert used(share) <= max(0, total)
    assert share == max(sizes, default=0) or used(share + 1) > max(0, total)
