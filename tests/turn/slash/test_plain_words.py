"""Plain words that are a command, such as "forget that"."""

from __future__ import annotations

import re

import pytest
from plugin.assistant.messages.parts import DataPart, Message
from plugin.assistant.turn.slash import plain_words
from plugin.assistant.turn.slash.plain_words import command_in_words
from plugin.assistant.turn.slash.slash_commands import Slash

TOLD = Message("a1", "assistant", (DataPart("memory", {"id": "m1"}),))


def test_polite_words_do_not_count() -> None:
    assert command_in_words("OK, please forget that!", (TOLD,)) == Slash("forget", "that")
    assert command_in_words("Forget that fox.", (TOLD,)) is None


def test_a_message_of_megabytes_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the event loop five megabytes took a second."""
    monkeypatch.setattr(plain_words, "_POLITE", re.compile("no text gets here").fullmatch)
    assert command_in_words("walrus, please. " * 300_000, (TOLD,)) is None
