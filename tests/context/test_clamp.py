"""Clamped texts and results: the beginning and the end stay, and JSON stays valid."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.context.clamp import ResultClamp, clamp_result, clamp_text

from .histories import CHARACTERS, JSON_VALUES, law

NOTE = re.compile(r"\n\.\.\. \[(\d+) characters left out\]\n")
LONG = st.text(CHARACTERS, min_size=50, max_size=400)


@law
@given(LONG, st.integers(1, 500))
def test_a_clamped_text_is_never_longer_than_the_limit(text: str, limit: int) -> None:
    assert len(clamp_text(text, limit)) <= limit


@law
@given(st.text("abc", min_size=80, max_size=400), st.integers(45, 500))
def test_a_clamped_text_is_head_and_tail_and_counts_what_is_between(text: str, limit: int) -> None:
    clamped = clamp_text(text, limit)
    found = NOTE.search(clamped)
    if found is None:
        assert clamped == text
        return
    head, tail = clamped[: found.start()], clamped[found.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(found[1]) + len(tail) == len(text)


@law
@given(LONG)
def test_a_text_that_fits_or_has_no_limit_stays_as_it_is(text: str) -> None:
    assert clamp_text(text, len(text)) is text
    assert clamp_text(text, 0) is text
    assert clamp_result(text, 0) is text


@pytest.mark.parametrize("limit", [60, 61, 62, 63])
def test_the_halves_of_a_pair_are_not_parted(limit: int) -> None:
    for text in ("\ud83d\ude00" * 200, "x" + "\ud83d\ude00" * 200):
        clamp_text(text, limit).encode()


def test_a_text_without_room_for_a_note_ends_with_dots() -> None:
    assert clamp_text("abcdefghijklmnopqrstuvwxyz" * 9, 10) == "abcdefg..."


@law
@given(
    st.one_of(st.lists(JSON_VALUES), st.dictionaries(st.text(), JSON_VALUES)), st.integers(2, 300)
)
def test_clamped_json_is_json_within_the_limit(value: object, limit: int) -> None:
    for ascii_only in (True, False):
        clamped = clamp_result(json.dumps(value, ensure_ascii=ascii_only), limit)
        assert len(clamped) <= limit
        json.loads(clamped, parse_constant=pytest.fail)


@law
@given(
    st.one_of(st.lists(JSON_VALUES), st.dictionaries(st.text(), JSON_VALUES), LONG),
    st.lists(st.integers(2, 300), min_size=2, max_size=4),
)
def test_a_limit_gives_the_same_whatever_was_asked_before(value: object, limits: list[int]) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    clamp = ResultClamp(text)
    for limit in limits:
        assert clamp.within(limit) == clamp_result(text, limit)


@law
@given(LONG, st.integers(2, 300))
def test_clamping_twice_is_clamping_once(text: str, limit: int) -> None:
    for given_text in (text, json.dumps([text])):
        once = clamp_result(given_text, limit)
        assert clamp_result(once, limit) == once


def test_a_long_string_in_json_is_cut_and_the_rest_stays() -> None:
    text = json.dumps({"name": "sdxl", "text": "x" * 5_000, "n": 3})
    clamped = json.loads(clamp_result(text, 600))
    assert clamped["name"] == "sdxl"
    assert clamped["n"] == 3
    assert "characters left out" in clamped["text"]


def test_a_long_list_keeps_its_ends_and_says_how_much_is_missing() -> None:
    clamped = json.loads(clamp_result(json.dumps(list(range(1_000))), 400))
    assert clamped[0] == 0
    assert clamped[-1] == 999
    (left,) = [item for item in clamped if isinstance(item, str)]
    assert left == f"... {1_001 - len(clamped)} items left out"


def test_a_large_object_says_how_many_fields_are_missing() -> None:
    clamped = json.loads(clamp_result(json.dumps({f"k{n}": n for n in range(500)}), 700))
    assert clamped["k0"] == 0
    assert clamped["k499"] == 499
    assert clamped["..."] == f"{501 - len(clamped)} fields left out"


def test_json_that_cannot_be_thinned_out_becomes_an_excerpt() -> None:
    clamped = json.loads(clamp_result(json.dumps({"k" * 900: 1}), 300))
    assert clamped["_clamped"] is True
    assert clamped["excerpt"].startswith('{"kkk')


def test_deep_json_is_looked_into_only_so_far() -> None:
    deep = "[" * 700 + "]" * 700
    clamped = json.loads(clamp_result(f'{{"deep":{deep},"text":"{"x" * 900}"}}', 500))
    assert "items]" in str(clamped["deep"])
    assert clamp_result(deep, 500).startswith('{"_clamped":true,"excerpt":"[[[')


def test_text_that_only_looks_like_json_is_clamped_as_text() -> None:
    assert NOTE.search(clamp_result("{not json" * 100, 200))


@law
@given(
    st.one_of(
        st.lists(JSON_VALUES, min_size=1), st.dictionaries(st.text(), JSON_VALUES, min_size=1)
    ),
    st.integers(100, 4_000),
    st.integers(2, 60),
)
def test_a_clamped_result_uses_its_limit(value: object, limit: int, times: int) -> None:
    text = json.dumps({"items": [value] * times, "text": "word " * times})
    clamped = clamp_result(text, limit, "r12", "recall_result")
    compact = json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    if len(compact) > limit:
        assert 0.95 * limit <= len(clamped) <= limit


@pytest.mark.parametrize("limit", [2_000, 6_000, 54_000])
def test_of_a_little_longer_result_about_the_same_is_kept(limit: int) -> None:
    kept = [
        len(clamp_result(json.dumps({"slug": "flux", "text": "A line.\n" * lines}), limit, "r3"))
        for lines in (limit // 8, limit // 7, limit)
    ]
    assert min(kept) >= 0.95 * limit


def test_the_longest_strings_give_first_down_to_one_level() -> None:
    value = {"short": "kept whole", "a": "x" * 900, "b": "y" * 5_000, "c": "z" * 6_000}
    clamped = json.loads(clamp_result(json.dumps(value), 4_000))
    assert clamped["short"] == "kept whole"
    assert clamped["a"] == value["a"]
    assert abs(len(clamped["b"]) - len(clamped["c"])) <= 2


def test_lists_are_shortened_only_when_the_strings_were_not_enough() -> None:
    value = {"nodes": list(range(300)), "log": "line\n" * 2_000}
    clamped = json.loads(clamp_result(json.dumps(value), 2_000))
    assert clamped["nodes"] == value["nodes"]
    clamped = json.loads(clamp_result(json.dumps(value), 600))
    assert clamped["nodes"][0] == 0
    assert "items left out" in str(clamped["nodes"])
    assert list(clamped) == ["nodes", "log"]


def test_json_that_is_only_spaced_out_loses_its_spaces_alone() -> None:
    value = {"nodes": [{"id": number} for number in range(20)]}
    assert json.loads(clamp_result(json.dumps(value, indent=8), 400)) == value
