"""How much of a round is sent: old results become one line, long ones are clamped."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.context.clamp_json import fair_share
from plugin.assistant.context.fidelity import (
    IMAGE_NOTE,
    Fidelity,
    FidelityLimits,
    GroupReducer,
    capped,
    changed_rows,
)
from plugin.assistant.context.log import ChatLog, Group
from plugin.assistant.context.tokens import text_tokens
from plugin.assistant.messages.prompt import ImageContent, PromptMessage, TextContent, ToolCall

from .histories import HISTORIES, Messages, a_round, calling, law, result, user

LONG = json.dumps({"slug": "sdxl", "text": "word " * 2_000})
LIMITS = FidelityLimits(round_tokens=1_000, result_chars=600)


def group_of(*messages: PromptMessage) -> Group:
    return ChatLog((user(), *messages)).groups_from(1)[0]


def texts(group: Group) -> list[str]:
    return [message.text for message in group.results]


@law
@given(HISTORIES)
def test_a_shape_keeps_calls_texts_and_pairs_and_is_never_longer_than_the_one_before(
    history: Messages,
) -> None:
    reducer = GroupReducer(LIMITS)
    for group in ChatLog(history).groups_from(0):
        shaped = [reducer(group, shape) for shape in Fidelity]
        for earlier, later in pairwise(shaped):
            for before, after in zip(texts(earlier), texts(later), strict=True):
                assert len(after) <= max(len(before), len("{}"))
        for each in shaped:
            assert each.rows == group.rows
            assert [m.tool_call_id for m in each.results] == [m.tool_call_id for m in group.results]
            assert each.messages[0].tool_calls == group.messages[0].tool_calls
            assert each.messages[0].text.startswith(group.messages[0].text) or each.role == "user"


def test_a_shape_is_made_once() -> None:
    reducer, group = GroupReducer(LIMITS), group_of(*a_round("a", text=LONG))
    assert reducer(group, Fidelity.DIGESTS) is reducer(group, Fidelity.DIGESTS)


def test_what_was_cut_is_forgotten() -> None:
    reducer, group = GroupReducer(LIMITS), group_of(*a_round("a", text=LONG))
    before = reducer(group, Fidelity.DIGESTS)
    reducer.forget(group.end)
    assert reducer(group, Fidelity.DIGESTS) is not before


def test_a_line_names_the_handle_of_its_row() -> None:
    (line,) = texts(GroupReducer(LIMITS)(group_of(*a_round("a", text=LONG)), Fidelity.DIGESTS))
    assert json.loads(line)["handle"] == "r2"


def test_a_clamped_result_is_json_and_names_its_handle() -> None:
    (clamped,) = texts(GroupReducer(LIMITS)(group_of(*a_round("a", text=LONG)), Fidelity.CLAMPED))
    assert len(clamped) <= 600
    assert json.loads(clamped)["_clamped"] == "r2"
    assert json.loads(clamped)["value"]["slug"] == "sdxl"


def test_a_result_shorter_than_its_line_stays() -> None:
    group = group_of(*a_round("a", text='{"ok":true}'))
    assert GroupReducer(LIMITS)(group, Fidelity.DIGESTS) is group


def test_a_failed_call_stays_visibly_failed() -> None:
    words = "Value not in list: ckpt_name. " + "x" * 4_000
    group = group_of(calling("a"), result("a", json.dumps({"error": words}), failed=True))
    shaped = GroupReducer(FidelityLimits(result_chars=2_000))(group, Fidelity.DIGESTS)
    assert "Value not in list: ckpt_name." in texts(shaped)[0]
    assert shaped.results[0].failed


def test_zero_switches_a_limit_off() -> None:
    group = group_of(*a_round("a", text=LONG))
    assert GroupReducer(FidelityLimits())(group, Fidelity.CLAMPED) is group


def test_one_giant_is_admitted_in_part() -> None:
    (text,) = texts(capped(group_of(*a_round("a", text=LONG)), 500))
    assert text_tokens(text) <= 500


def test_parallel_giants_share_what_there_is_and_the_short_one_stays() -> None:
    giant = "图" * 9_000
    history = (calling("a", "b", "c"), result("a", giant), result("b", "ok"), result("c", giant))
    first, short, last = texts(capped(group_of(*history), 2_000))
    assert short == "ok"
    assert text_tokens(first) + text_tokens(last) <= 2_000
    assert min(text_tokens(first), text_tokens(last)) > 500


def test_a_text_whose_ends_are_denser_than_its_middle_is_admitted_within_the_limit() -> None:
    text = "图" * 2_000 + "x" * 20_000 + "图" * 2_000
    (shorter,) = texts(capped(group_of(*a_round("a", text=text)), 1_000))
    assert text_tokens(shorter) <= 1_000


def test_in_an_emergency_images_become_text() -> None:
    group = group_of(PromptMessage("user", (TextContent("look"), ImageContent("data:,"))))
    bare = GroupReducer(LIMITS)(group, Fidelity.TEXT_ONLY)
    assert bare.messages[0].text == f"look{IMAGE_NOTE}"
    assert changed_rows(bare, group) == (1,)


def test_reasoning_goes_with_its_turn() -> None:
    thinking = PromptMessage("assistant", "", (ToolCall("a", "x"),), reasoning={"reasoning": "Hm"})
    reducer, group = GroupReducer(LIMITS), group_of(thinking, result("a"))
    assert reducer(group, Fidelity.CAPPED).messages[0].reasoning == {"reasoning": "Hm"}
    assert reducer.finished(group, Fidelity.CAPPED).messages[0].reasoning is None


@law
@given(st.lists(st.integers(0, 99), max_size=6), st.integers(-5, 300))
def test_a_fair_share_is_the_largest_that_fits(sizes: list[int], total: int) -> None:
    def used(share: int) -> int:
        return sum(min(size, share) for size in sizes)

    share = fair_share(sizes, total)
    assert used(share) <= max(0, total)
    assert share == max(sizes, default=0) or used(share + 1) > max(0, total)
