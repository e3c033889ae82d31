"""Which memories a message gets: how often the evidence is among them, and how often a memory is
shown though none is relevant.

    python bench/memory.py --locomo locomo10.json

`locomo10.json` is `data/locomo10.json` of github.com/snap-research/locomo. The observations of a
conversation are the memories, its questions the messages; beside it plain FTS5 (the words of the
question joined by OR, BM25) finds ten in the same run. The second table has the requests of edit
tasks as messages: none of a stranger's observations is relevant to them. Counts only, no times.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402
import re  # noqa: E402
import sqlite3  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from itertools import product  # noqa: E402
from typing import Any  # noqa: E402

from plugin.assistant.memory import choice  # noqa: E402
from plugin.assistant.memory.known import Known, Scored  # noqa: E402
from plugin.assistant.memory.memory import Memory  # noqa: E402
from plugin.tests.edits.task import all_tasks  # noqa: E402

MOST = 10
ANSWERABLE = (1, 2, 3, 4)
"""Categories of LoCoMo's questions; 5 has no answer in the conversation."""
SHARES = (0.0, 0.2, 0.3, 0.4, 0.5)
PARTS = (1 / 3, 0.34, 0.51, 0.67, 2.0)
"""Least shares and parts that are tried; no memory has a part of 2."""


@dataclass(frozen=True)
class Talk:
    """Memories, the messages that each comes from, and questions with their evidence."""

    known: Known
    evidence: dict[str, frozenset[str]]
    questions: list[tuple[str, frozenset[str]]]


def talks(path: Path) -> Iterator[Talk]:
    for number, talk in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        memories: list[Memory] = []
        evidence: dict[str, frozenset[str]] = {}
        for text, places in _observations(talk["observation"]):
            identity = f"m{len(memories)}"
            memories.append(Memory(identity, "fact", text, (), None, f"2024-01-01T{number}"))
            evidence[identity] = frozenset(places)
        questions = [
            (str(one["question"]), frozenset(one["evidence"]))
            for one in talk["qa"]
            if one["category"] in ANSWERABLE and one.get("evidence")
        ]
        yield Talk(Known(1, tuple(memories)), evidence, questions)


def _observations(sessions: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    for session in sessions.values():
        for speaker in session.values() if isinstance(session, dict) else ():
            for text, places in speaker:
                yield text, [places] if isinstance(places, str) else list(places)


def hits_of(talk: Talk, question: str) -> tuple[Scored, ...]:
    return talk.known.search(question, choice.LOOKED_AT)


def shown(hits: tuple[Scored, ...], share: float, part: float) -> list[str]:
    """The ids of the memories that count as relevant, as `choice.is_relevant` has it."""
    found = [one for one in hits if one.part > 0 and (one.share >= share or one.part >= part)]
    return [one.memory.id for one in found[:MOST]]


def fts5(talk: Talk) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table memories using fts5(id unindexed, text)")
    rows = [(memory.id, memory.text) for memory in talk.known.memories]
    database.executemany("insert into memories values (?, ?)", rows)
    return database


def found_by_fts5(database: sqlite3.Connection, question: str) -> list[str]:
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
    query = "select id from memories where memories match ? order by rank limit ?"
    return [row[0] for row in database.execute(query, (words, MOST))] if words else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, required=True, metavar="FILE.json")
    parser.add_argument("--talks", type=int, default=10)
    arguments = parser.parse_args()
    every = list(talks(arguments.locomo))[: arguments.talks]
    requests = [task.say for task in all_tasks()]
    asked = hits = 0
    for talk in every:
        database = fts5(talk)
        for question, wanted in talk.questions:
            asked += 1
            found = found_by_fts5(database, question)
            hits += any(talk.evidence[one] & wanted for one in found)
    print(f"memories {sum(len(t.known.memories) for t in every)}, questions {asked}")
    print(f"FTS5: evidence among {MOST}: {hits / asked:.1%}")
    answers = [
        (hits_of(talk, question), wanted, talk.evidence)
        for talk in every
        for question, wanted in talk.questions
    ]
    needless = [hits_of(talk, text) for talk in every for text in requests]
    now = (choice.LEAST_SHARE, choice.LEAST_PART)
    for share, part in (now, *product(SHARES, PARTS)):
        lists = [shown(hits, share, part) for hits, _, _ in answers]
        right = sum(
            any(evidence[one] & wanted for one in ids)
            for ids, (_, wanted, evidence) in zip(lists, answers, strict=True)
        )
        wrong = sum(bool(shown(hits, share, part)) for hits in needless)
        print(
            f"{'now, ' if (share, part) == now else ''}share {share:.2f} part {part:.2f}: "
            f"evidence {right / asked:.1%}, "
            f"{sum(map(len, lists)) / asked:.1f} memories a question, "
            f"needless in {wrong / len(needless):.1%} of {len(needless)} turns"
        )


if __name__ == "__main__":
    main()
