"""One memory, and what it may hold.

A memory is a statement of the user, in words that the user said. A statement that replaces another
supersedes it: the older one stays as history and is never sent to a model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from ..errors import InvalidRequest

Kind = Literal["preference", "fact", "entity", "relation", "session_summary"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
SUMMARY: Final[Kind] = "session_summary"
Mode = Literal["auto", "manual", "off"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)
"""`manual`: nothing is extracted unless a person asks for it. `off`: nothing is extracted, written
by a tool, or sent to a model."""
LONGEST_TEXT: Final = 1_000
LONGEST_SPACED: Final = 20_000
"""Characters of a text with the white space that is not kept."""
MOST_ENTITIES, LONGEST_ENTITY = 20, 100


@dataclass(frozen=True, slots=True)
class Source:
    """The chat and the message that a memory comes from, and the quoted words."""

    chat_id: str
    message_id: str
    quote: str

    def to_json(self) -> dict[str, str]:
        return {"chat_id": self.chat_id, "message_id": self.message_id, "quote": self.quote}


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be remembered, before it is compared with what is known."""

    text: str
    kind: Kind = "fact"
    entities: tuple[str, ...] = ()
    source: Source | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """`created` and `used` (None: never) are ISO 8601 in UTC, `uses` the turns that had it.
    `superseded_by` is the id of the memory that replaced it."""

    id: str
    kind: Kind
    text: str
    entities: tuple[str, ...]
    source: Source | None
    created: str
    used: str | None = None
    uses: int = 0
    pinned: bool = False
    superseded_by: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "text": self.text,
            "entities": list(self.entities),
            "source": self.source and self.source.to_json(),
            "created": self.created,
            "used": self.used,
            "uses": self.uses,
            "pinned": self.pinned,
            "superseded_by": self.superseded_by,
        }


def memory_lines(memories: Iterable[Memory]) -> str:
    """Memories as JSON Lines."""
    return "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in memories)


def checked_text(value: object) -> str:
    """A memory's text. Raises InvalidRequest unless it has 1 to LONGEST_TEXT characters."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest("must be a text that is not empty", where="text")
    # White space does not count, but is not looked for in megabytes.
    text = value if len(value) > LONGEST_SPACED else " ".join(value.split())
    if len(text) > LONGEST_TEXT:
        raise InvalidRequest(
            f"has {len(text)} characters; at most {LONGEST_TEXT} are kept", where="text"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("holds half of a character (a lone surrogate)", where="text") from None
    return text


def mode_of(value: object) -> Mode | None:
    """The mode of this name; None for any other value."""
    return next((mode for mode in MODES if mode == value), None)


def stricter(one: Mode, other: Mode) -> Mode:
    """The mode of the two that does less."""
    return max(one, other, key=MODES.index)


def kind_of(value: object) -> Kind | None:
    """The kind of this name; None for any other value."""
    return next((kind for kind in KINDS if kind == value), None)


def entities_of(value: object) -> tuple[str, ...]:
    """The names in a list from outside, each once; what is no name is left out."""
    found: dict[str, None] = {}
    for name in value if isinstance(value, (list, tuple)) else ():
        plain = " ".join(name.split()) if isinstance(name, str) else ""
        if 0 < len(plain) <= LONGEST_ENTITY and plain.isprintable():
            found.setdefault(plain)
    return tuple(found)[:MOST_ENTITIES]


def source_of(value: object) -> Source | None:
    """The source in a value from outside; None where it has none."""
    if not isinstance(value, Mapping):
        return None
    names = ("chat_id", "message_id", "quote")
    chat_id, message_id, quote = (value.get(name) for name in names)
    if isinstance(chat_id, str) and isinstance(message_id, str) and isinstance(quote, str):
        return Source(chat_id, message_id, quote)
    return None
