"""What the user corrected or forbade stays in the requests when its message is cut (R23, R54)."""

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.context.summary.state import Summary
from plugin.assistant.context.summary.text import summary_text
from plugin.assistant.context.tokens import text_tokens
from plugin.assistant.context.tool_facts import NO_FACTS

from .histories import law

TITLE = "Rules and corrections by the user"


def corrections(lengths: list[int]) -> tuple[tuple[int, str], ...]:
    """A correction of about each number of words; its row is its place."""
    return tuple(
        (row, f"Never use name{row}x " + "really " * length) for row, length in enumerate(lengths)
    )


def told(summary: Summary, most_tokens: int) -> list[int]:
    """The rows of the corrections that the summary message has, in its order."""
    text = summary_text(summary, most_tokens, NO_FACTS)
    rows = [row for row, _ in summary.corrections]
    places = {row: text.find(f"name{row}x") for row in rows}
    return sorted((row for row in rows if places[row] >= 0), key=places.__getitem__)


@law
@given(st.lists(st.integers(1, 25), min_size=1, max_size=20), st.integers(150, 3_000))
def test_the_newest_corrections_stay_and_none_is_left_out_between_them(
    lengths: list[int], most_tokens: int
) -> None:
    summary = Summary(0, 400, corrections=corrections(lengths))
    rows = told(summary, most_tokens)
    assert rows == list(range(len(lengths)))[::-1][: len(rows)]


@law
@given(
    st.lists(st.integers(1, 25), min_size=1, max_size=20),
    st.lists(st.text("abc ", min_size=20, max_size=200), max_size=12),
)
def test_corrections_that_fit_their_share_all_stay(lengths: list[int], others: list[str]) -> None:
    said = corrections(lengths)
    requests = tuple((100 + row, text) for row, text in enumerate(others))
    summary = Summary(0, 400, goal="Make a poster.", corrections=said, requests=requests)
    # A third of the room is more than they need, whatever the other sections want.
    needed = sum(text_tokens(text) + 10 for _, text in said)
    words = sum(len(text.split()) + 3 for _, text in said)
    if words < 0.3 * (600 - 48):
        assert len(told(summary, 4 * needed + 400)) == len(lengths)
