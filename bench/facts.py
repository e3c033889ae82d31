"""Unique values planted in a session, and the questions that a search should answer with them.

A fact is a value that occurs nowhere else in the log. Its question has the words that a person
would remember: the topic of the turn and the kind of the value, never the value itself.
"""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from typing import Any

PLACES = ("user", "assistant", "arguments", "result", "error")
MARKER = "zq"
"""Part of most values; rare enough not to be in a template."""
QUESTIONS = {
    "user": "which {kind} did I give for the {topic}?",
    "assistant": "which {kind} did you note for the {topic}?",
    "arguments": "{kind} that was set for the {topic}",
    "result": "{kind} that the tool found for the {topic}",
    "error": "error about the {kind} of the {topic}",
}
LARGEST_SEED = 10**15


@dataclass(frozen=True, slots=True)
class Fact:
    """One planted value: where it stands, and in which message of the log."""

    id: str
    value: str
    where: str
    index: int
    topic: str
    kind: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def query(self) -> dict[str, str]:
        words = QUESTIONS[self.where].format(kind=self.kind, topic=self.topic)
        return {"id": self.id, "query": words, "value": self.value}


@dataclass(frozen=True, slots=True)
class Planted:
    """A value before it is planted, and its kind."""

    value: str
    kind: str
    topic: str

    @property
    def phrase(self) -> str:
        """The value as a sentence of a tool's result."""
        return f"{self.kind} of the {self.topic}: {self.value}"

    @property
    def named(self) -> str:
        """The value with its topic in front, as a text widget or a file name has it."""
        slug = self.topic.replace(" ", "_")
        return self.value if slug in self.value else f"{slug}_{self.value}"


class Planter:
    """Makes values from a random source, and records the message that has each value."""

    def __init__(self, random_source: random.Random) -> None:
        self._random = random_source
        self._used: set[str] = set()
        self.facts: list[Fact] = []

    def value(self, topic: str) -> Planted:
        """A new value; `place` makes it a fact."""
        while True:
            value, kind = self._candidate(topic)
            if value not in self._used:
                self._used.add(value)
                return Planted(value, kind, topic)

    def _candidate(self, topic: str) -> tuple[str, str]:
        code = f"{self._random.getrandbits(32):08x}"
        slug = topic.replace(" ", "_")
        forms = (
            (f"{MARKER}-{code}", "reference"),
            (f"{slug}_{MARKER}{code[:5]}.png", "file"),
            (f"{slug}_{MARKER}{code[:6]}", "name"),
            (str(self._random.randrange(LARGEST_SEED // 10, LARGEST_SEED)), "seed"),
        )
        return self._random.choice(forms)

    def place(self, planted: Planted, where: str, index: int) -> None:
        """The value stands in message `index`; `where` is one of `PLACES`."""
        number = f"f{len(self.facts):04d}"
        self.facts.append(Fact(number, planted.value, where, index, planted.topic, planted.kind))
