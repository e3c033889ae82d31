"""The searchable pieces of a message, their places, and the snippets that show them."""

import base64

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.chats.search.message_text import (
    MOST_CHARS,
    clean,
    pieces_of,
    text_of_prompt,
    value_text,
)
from plugin.assistant.messages.parts import (
    DataPart,
    FilePart,
    Message,
    Part,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
)
from plugin.assistant.messages.prompt import PromptMessage, ToolCall
from plugin.assistant.search.positions import GAP, Document, Piece, first_place, place_all
from plugin.assistant.search.snippet import ELLIPSIS, snippet
from plugin.assistant.search.words import index_terms, query_terms


def message(*parts: Part) -> Message:
    return Message("m", "assistant", parts)


def call(name: str, state: str = "output-available", **outcome: object) -> ToolPart:
    return ToolPart("t", name, state, **outcome)  # type: ignore[arg-type]


def test_text_and_each_call_are_pieces_of_their_round() -> None:
    pieces = pieces_of(
        message(
            StepStart(),
            TextPart("I look."),
            call("a", output=1),
            call("b", output=2),
            StepStart(),
            TextPart("Done."),
        )
    )
    assert [(piece.text, piece.round) for piece in pieces] == [
        ("I look.", 0),
        ("a\n1", 0),
        ("b\n2", 0),
        ("Done.", 1),
    ]


def test_text_after_a_call_begins_a_round_without_a_step() -> None:
    pieces = pieces_of(message(call("a"), TextPart("So."), TextPart("Then.")))
    assert [(piece.text, piece.round) for piece in pieces] == [("a", 0), ("So.\nThen.", 1)]


def test_a_call_is_found_by_arguments_result_and_error() -> None:
    part = call("setWidget", "output-error", input={"seed": 42}, error_text="No node #7")
    (piece,) = pieces_of(message(part))
    assert {"set", "widget", "seed", "42", "node", "7"} <= index_terms(piece.text)


def test_a_text_file_is_found_by_name_and_content_and_an_image_by_name() -> None:
    url = "data:text/plain;base64," + base64.b64encode(b"an okapi").decode()
    parts = (
        FilePart("text/plain", url, "notes.txt"),
        FilePart("image/png", "data:image/png;base64,AAAA", "cat.png"),
    )
    (piece,) = pieces_of(message(*parts))
    assert piece.text == "notes.txt\nan okapi\ncat.png"


def test_what_the_model_thought_is_not_searched() -> None:
    assert pieces_of(message(ReasoningPart("secret"))) == ()


def test_of_a_notice_what_people_read_is_searched() -> None:
    notice = {"code": "silently_cut", "message": "The key is wrong."}
    (piece,) = pieces_of(message(DataPart("notice", notice)))
    assert piece.text == "The key is wrong."


def test_json_reads_as_words_at_any_depth() -> None:
    value = {"nodes": {"3": {"inputs": {"seed": 7, "on": [True, None, "x"]}}}}
    assert value_text(value) == "nodes: 3: inputs: seed: 7, nodes: 3: inputs: on: True, , x"
    assert value_text('{"text": "one\\ntwo"}') == "text: one\ntwo"
    assert value_text("{no json") == "{no json"


def test_a_prompt_message_is_found_by_its_calls() -> None:
    calls = (ToolCall("t", "runWorkflow", '{"targets": [9]}'),)
    text = text_of_prompt(PromptMessage("assistant", "Running.", calls))
    assert text == "Running.\nrunWorkflow targets: 9"


def test_base64_is_dropped_and_a_giant_cut() -> None:
    assert clean(f"a {'QUJD' * 100} b") == "a   b"
    assert len(clean("word " * MOST_CHARS)) == MOST_CHARS


def document(row: int, parent: int | None, *words: str, identity: str | None = None) -> Document:
    pieces = tuple(Piece(frozenset([word]), number) for number, word in enumerate(words))
    return Document(row, parent, identity or f"m{row}", pieces)


def test_messages_that_follow_each_other_have_places_and_beats_that_do() -> None:
    placed = place_all([document(1, None, "a"), document(2, 1, "b", "c"), document(3, 2, "d")], 10)
    assert [(one.place, one.beat) for one in placed] == [(10, 0), (11, 1), (13, 3)]


def test_a_branch_begins_after_a_gap() -> None:
    placed = place_all([document(1, None, "a"), document(2, 1, "b"), document(3, 1, "c")], 0)
    assert placed[2].beat - placed[1].beat == 1 + GAP


def test_an_answer_that_went_on_keeps_its_places() -> None:
    rows = [
        document(1, None, "q"),
        document(2, 1, "a", identity="answer"),
        document(3, 1, "a", "b", identity="answer"),
        document(4, 3, "q2"),
    ]
    placed = place_all(rows, 0)
    assert [one.place for one in placed] == [0, 1, 1, 3]
    assert placed[3].beat == placed[2].end_beat


def test_another_answer_has_places_of_its_own() -> None:
    rows = [document(2, 1, "a", identity="answer"), document(3, 1, "b", identity="answer")]
    assert [one.place for one in place_all(rows, 0)] == [0, 1]


def test_placing_in_steps_places_the_same() -> None:
    rows = [document(1, None, "a"), document(2, 1, "b"), document(3, 1, "c"), document(4, 3, "d")]
    first = place_all(rows[:2], first_place(3))
    assert (*first, *place_all(rows[2:], 0, first[-1])) == place_all(rows, first_place(3))


def test_a_snippet_shows_the_place_with_the_most_words() -> None:
    text = f"A cat. {'filler ' * 100}The cat and the okapi slept. {'filler ' * 100}"
    found = snippet(text, frozenset(query_terms("okapi cat")), 80)
    assert "cat and the okapi" in found.text
    assert found.text.startswith(ELLIPSIS) and found.text.endswith(ELLIPSIS)
    assert [found.text[start:end] for start, end in found.marks] == ["cat", "okapi"]


def test_a_snippet_of_a_text_without_the_words_is_its_beginning() -> None:
    assert snippet("one two three", frozenset(["okapi"]), 7).text == "one two" + ELLIPSIS


@given(st.text(max_size=400), st.text(max_size=40), st.integers(1, 100))
def test_a_snippet_is_a_piece_of_the_text_with_marks_inside(
    text: str, query: str, chars: int
) -> None:
    found = snippet(text, frozenset(query_terms(query)), chars)
    assert len(found.text) <= chars + 2 * len(ELLIPSIS)
    assert found.text.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS) in text or ELLIPSIS in text
    assert all(0 <= start < end <= len(found.text) for start, end in found.marks)
