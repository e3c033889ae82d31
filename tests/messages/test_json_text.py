"""Values written as JSON that every reader accepts."""

import json

import pytest
from plugin.assistant.messages.json_text import DEEPEST, is_utf8, json_text, json_value, mended


def nested(levels: int) -> object:
    value: object = "bottom"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_know_is_null(number: float) -> None:
    assert json_text({"a": [number, 1.5]}) == '{"a":[null,1.5]}'


def test_text_of_any_script_stays_readable() -> None:
    assert json_text({"text": "图像 é \U0001f600"}) == '{"text":"图像 é \U0001f600"}'


def test_an_unpaired_surrogate_is_escaped_and_read_back() -> None:
    text = json_text(["a\ud83d"])
    assert text.isascii()
    assert json.loads(text) == ["a\ud83d"]


def test_a_tuple_is_a_list_and_an_unknown_object_its_text() -> None:
    assert json_text({"a": (1, 2), "b": {3}}) == '{"a":[1,2],"b":"{3}"}'


def test_a_value_comes_back_from_json_as_json_value_says() -> None:
    value = {"a": (1, None, True, "x"), 2: {"b": float("nan")}, "c": {1}}
    assert json.loads(json_text(value)) == json_value(value)


def test_what_lies_too_deep_is_cut_off() -> None:
    assert json_value(nested(DEEPEST)) == nested(DEEPEST)
    text = json_text(json_value(nested(20_000)))
    assert text == "[" * DEEPEST + '"..."' + "]" * DEEPEST


def test_a_value_too_deep_to_write_is_written_as_far_as_it_goes() -> None:
    assert json_text(nested(20_000)).startswith("[" * DEEPEST)


def test_the_halves_of_a_pair_are_joined_and_a_single_half_is_replaced() -> None:
    assert mended("a\ud83d\ude00b\ud83dc") == "a\U0001f600b\ufffdc"


def test_text_that_is_utf8_is_left_alone() -> None:
    text = "é 图 \U0001f600"
    assert is_utf8(text)
    assert mended(text) is text
