"""Pieces of Markdown as people read them: the marks of Markdown go, marked words stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.search.readable import readable
from plugin.assistant.search.snippet import Snippet

MARKDOWN = st.text("ab 1\n#*_`|>[]()!~-\\<br>夕", max_size=60)


def plain(text: str) -> str:
    return readable(Snippet(text)).text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("## Two ways\n\n**Lower** `cfg` to *4*", "Two ways Lower cfg to 4"),
        ("| value | effect |\n|---|:--:|\n| 4 | softer |", "value effect 4 softer"),
        ("see [the notes](https://example.org/a_b) and ![x](y.png)", "see the notes and x"),
        ("```python\nprint(7)\n```\nDone.", "print(7) Done."),
        ("> quoted\n> twice", "quoted twice"),
        ("* one\n* two\n- three", "one two - three"),
        ("sd_xl_base_1.0 and 2*3 and \\*kept\\*", "sd_xl_base_1.0 and 2*3 and *kept*"),
        ("\u2026 __init__ ~~old~~", "\u2026 init old"),
    ],
)
def test_the_marks_of_markdown_are_left_out(markdown: str, text: str) -> None:
    assert plain(markdown) == text


def test_marked_words_stay_marked() -> None:
    text = "## The **red fox**\n\n- runs"
    found = readable(Snippet(text, ((9, 12), (13, 16), (22, 26))))
    assert [found.text[start:end] for start, end in found.marks] == ["red", "fox", "runs"]


def test_a_marked_address_of_a_link_is_shown() -> None:
    text = "[notes](https://fox.example/)"
    found = readable(Snippet(text, ((16, 19),)))
    assert [found.text[start:end] for start, end in found.marks] == ["fox"]


@given(MARKDOWN, st.data())
def test_each_mark_keeps_its_words(text: str, data: st.DataObject) -> None:
    words = [at for at, sign in enumerate(text) if sign.isalnum()]
    picked = data.draw(st.lists(st.sampled_from(words), max_size=3)) if words else []
    marks = tuple((at, at + 1) for at in sorted(set(picked)))
    found = readable(Snippet(text, marks))
    assert [found.text[start:end] for start, end in found.marks] == [
        text[start:end] for start, end in marks
    ]
    assert "\n" not in found.text and "  " not in found.text
