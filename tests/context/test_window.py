"""The model's window, and the part that a prompt may use."""

import pytest
from plugin.assistant.context.window import DEFAULT_WINDOW, Window, window_of


@pytest.mark.parametrize(
    ("reported", "window"),
    [(8_192, Window(8_192, known=True)), (None, Window(DEFAULT_WINDOW)), (0, Window())],
)
def test_a_window_that_nobody_says_is_the_default_and_not_known(
    reported: int | None, window: Window
) -> None:
    assert window_of(reported) == window


@pytest.mark.parametrize(("tokens", "reserve"), [(4_096, 1_024), (32_768, 4_096), (200_000, 4_096)])
def test_an_answer_is_left_a_quarter_at_most_4096(tokens: int, reserve: int) -> None:
    assert Window(tokens).reserve == reserve


def test_prompt_reserve_and_margin_are_the_window() -> None:
    window = Window(10_000)
    assert window.prompt + window.reserve + window.margin == 10_000


@pytest.mark.parametrize(("tokens", "compact"), [(4_096, True), (16_383, True), (16_384, False)])
def test_a_window_under_16k_is_compact(tokens: int, compact: bool) -> None:
    assert Window(tokens).compact is compact
