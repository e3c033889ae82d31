"""Which ids of chats and messages are accepted from clients."""

import pytest
from plugin.assistant.chats.identity import chat_id, message_id
from plugin.assistant.errors import InvalidRequest


@pytest.mark.parametrize("text", ["a", "A-1_b.c", "x" * 128, "..a", "console", "COM10", "nul-1"])
def test_an_ordinary_chat_id_is_kept(text: str) -> None:
    assert chat_id(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "..", "...", "%2E", "a/b", "a\\b", "a\0b", "a\n", "é", "a b"),
        *("x" * 129, "x" * 300, "CON", "con", "Nul.txt", "lpt9", "COM1.a.b"),
        *("search", "import"),
    ],
)
def test_a_chat_id_that_could_name_something_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        chat_id(text)


@pytest.mark.parametrize("text", ["", "a\0", "a\n", "\ud800"])
def test_a_message_id_that_no_database_holds_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        message_id(text)
