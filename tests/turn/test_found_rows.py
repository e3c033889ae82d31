"""Rows of the context for the pieces of messages that a search found."""

from __future__ import annotations

from plugin.assistant.chats.search.found_pieces import FoundPiece
from plugin.assistant.chats.search.message_text import pieces_of
from plugin.assistant.config import Settings
from plugin.assistant.messages.parts import Message, Part, StepStart, TextPart, ToolPart
from plugin.assistant.turn.conversation import Conversation
from plugin.assistant.turn.found_rows import FoundRow, line_of, rows_of_pieces, with_answers


def said(identity: str, text: str) -> Message:
    return Message(identity, "user", (TextPart(text),))


def call(identity: str, output: str) -> ToolPart:
    return ToolPart(identity, "getNodeInfo", "output-available", {"type": identity}, output)


ANSWER: tuple[Part, ...] = (
    TextPart("Let me look."),
    call("first", "one"),
    call("second", "two"),
    StepStart(),
    call("third", "three"),
    TextPart("There are three."),
)
CHAT = (
    said("u1", "How many are there?"),
    Message("a1", "assistant", ANSWER, {"created": "2026-03-04T05:06:07.000Z"}),
    said("u2", "And now?"),
)


def conversation(*messages: Message) -> Conversation:
    made = Conversation(Settings())
    made.feed_locked(messages or CHAT)
    return made


def rows(chat: Conversation, *found: tuple[str, int]) -> list[int]:
    pieces = [FoundPiece(identity, piece, 1.0, 1) for identity, piece in found]
    return [one.row for one in rows_of_pieces(chat, pieces, chat.context.asked_row)]


def test_a_text_is_in_the_row_of_its_round_and_a_call_in_that_of_its_result() -> None:
    chat = conversation()
    texts = [chat.context.rows(row, row + 1)[0].text for row in range(8)]
    assert texts[1:] == ["Let me look.", "one", "two", "", "three", "There are three.", "And now?"]
    assert len(pieces_of(CHAT[1])) == 5
    assert rows(chat, *(("a1", piece) for piece in range(5))) == [1, 2, 3, 5, 6]


def test_the_question_and_what_is_on_no_path_are_no_rows() -> None:
    chat = conversation()
    assert rows(chat, ("u2", 0), ("elsewhere", 0), ("a1", 99), ("u1", 0)) == [0]


def test_a_row_has_the_day_of_its_message() -> None:
    chat = conversation()
    pieces = (FoundPiece("a1", 0, 1.0, 1), FoundPiece("u1", 0, 1.0, 1, "2026-01-02T00:00:00"))
    assert [one.date for one in rows_of_pieces(chat, pieces, 7)] == ["2026-03-04", "2026-01-02"]


def test_a_question_brings_its_answer_and_a_statement_nothing() -> None:
    chat = conversation()
    assert [one.row for one in with_answers(chat, (FoundRow(0),), 7)] == [0, 1]
    assert [one.row for one in with_answers(chat, (FoundRow(6),), 7)] == [6]


def test_a_result_stands_with_its_call() -> None:
    line = line_of(conversation(), 3)
    assert line.startswith("tool: [getNodeInfo {")
    assert line.endswith("] two")


def test_messages_are_known_by_id_and_row_also_after_the_path_has_changed() -> None:
    chat = conversation()
    assert chat.message("u2") == (CHAT[2], range(7, 8))
    assert chat.message_at(6) is CHAT[1]
    chat.feed_locked((CHAT[0], said("other", "Never mind.")))
    assert chat.message("u2") is None
    assert chat.message("a1") is None
    assert chat.message("other") == (said("other", "Never mind."), range(1, 2))
