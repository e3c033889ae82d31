"""Ids of calls: kept where they are free and can be stored, else numbered."""

from plugin.assistant.messages.parts import Message, ToolPart
from plugin.assistant.turn.call_ids import CallIds

USED = Message("a", "assistant", (ToolPart("call_0", "x", "output-available"),))


def test_a_free_id_is_kept() -> None:
    assert CallIds(()).free("call_0") == "call_0"


def test_an_id_that_is_used_gets_the_next_number() -> None:
    ids = CallIds((USED,))
    assert [ids.free("call_0") for _ in range(3)] == ["call_0-2", "call_0-3", "call_0-4"]


def test_an_id_that_is_missing_or_cannot_be_stored_is_made_up() -> None:
    ids = CallIds(())
    assert [ids.free(wanted) for wanted in ("", "a\nb", "\ud83d")] == ["call", "call-2", "call-3"]
