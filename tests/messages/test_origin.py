"""The origin of a user message: the server sets it, and replaces an origin that a client sends."""

from __future__ import annotations

from typing import Any

import pytest
from plugin.assistant.messages.origin import (
    EVENT_METADATA,
    ORIGINS,
    MessageOrigin,
    origin_of,
    sent_by_a_client,
    with_origin,
    without_events,
)
from plugin.assistant.messages.parts import Message, TextPart


def user(identity: str, **metadata: Any) -> Message:
    return Message(identity, "user", (TextPart("Hi"),), metadata)


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_origin_that_was_set_is_read(origin: MessageOrigin) -> None:
    assert origin_of(with_origin(user("u"), origin)) == origin


@pytest.mark.parametrize("metadata", [{}, {"origin": "king"}, {"origin": 7}, {"origin": ["event"]}])
def test_a_message_without_a_known_origin_is_a_person_s(metadata: dict[str, Any]) -> None:
    assert origin_of(user("u", **metadata)) == "person"


def test_a_claim_is_replaced_and_other_metadata_stays() -> None:
    claimed = user("u", origin="event", hidden=True, mood="good")
    assert with_origin(claimed, "person").metadata == {"mood": "good", "origin": "person"}


def test_an_answer_has_no_origin() -> None:
    answer = Message("a", "assistant", (), {"origin": "person"})
    assert with_origin(answer, "imported") is answer


def test_only_the_last_user_message_of_a_list_is_a_person_s() -> None:
    sent = (user("u1"), Message("a1", "assistant", ()), user("u2"), Message("a2", "assistant", ()))
    origins = [origin_of(m) for m in sent_by_a_client(sent) if m.role == "user"]
    assert origins == ["imported", "person"]


def test_only_events_are_left_out_of_the_conversation() -> None:
    question, event = user("u1"), user("e1", **EVENT_METADATA)
    assert without_events((question, event)) == (question,)
    assert without_events([question]) == (question,)


def test_a_path_without_events_is_not_copied() -> None:
    path = (user("u1"), Message("a1", "assistant", ()))
    assert without_events(path) is path
