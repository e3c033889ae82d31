"""The quality of the search over a chat, compared with plain full-text search, on public
conversations:

    python bench/search_quality.py --data LOCOMO.json [--data CHAT.json ...] [--speed]
        [--out O.json]

LOCOMO.json is `data/locomo10.json` of github.com/snap-research/locomo (Maharana et al., 2024): ten
long conversations, with the messages that hold the evidence for each question. The conversations of
github.com/danny911kr/REALTALK (`data/Chat_*.json`, real people) have the same form. A question
counts as `any` when a search returns one of its evidence messages, as `all` when the search returns
all of them.

The rows: the last 24 messages; FTS5's bm25 over Porter stems, all words of the question joined by
OR, with the message before and after each hit; ours. Question types 1 to 4 have an answer, type 5
asks about things that nobody said. `--speed` measures ours at 1,000, 10,000 and 100,000 messages.
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
import statistics  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterable, Iterator, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from functools import partial  # noqa: E402
from typing import Any  # noqa: E402

from plugin.assistant.search.text_index import TextIndex  # noqa: E402

RECENT = 24
"""Messages that the fixed rule (`fixed_rule.py`) sends."""
DEPTHS = (10, 20)
UNANSWERABLE = 5
SIZES = (1_000, 10_000, 100_000)
TIMED_QUESTIONS = 200

Search = Callable[[str], set[int]]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    evidence: frozenset[int]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    texts: tuple[str, ...]
    questions: tuple[Question, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the search over chats.")
    parser.add_argument("--data", type=Path, action="append", required=True, metavar="FILE.json")
    parser.add_argument("--speed", action="store_true", help="milliseconds by size too")
    parser.add_argument("--out", type=Path, metavar="O.json", help="the results as JSON")
    arguments = parser.parse_args()
    conversations = [one for path in arguments.data for one in read(path)]
    rows = list(quality(conversations))
    print(table(rows))
    result: dict[str, Any] = {"quality": rows}
    if arguments.speed:
        result["speed"] = [speed(conversations, size) for size in SIZES]
        for row in result["speed"]:
            print(json.dumps(row))
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Iterator[Conversation]:
    """The conversations of a file in the form of LoCoMo or REALTALK."""
    value = json.loads(path.read_text(encoding="utf-8"))
    for sample in value if isinstance(value, list) else [value]:
        yield _conversation(sample.get("conversation", sample), sample["qa"])


def _conversation(sessions: dict[str, Any], asked: Iterable[dict[str, Any]]) -> Conversation:
    names = sorted((name for name in sessions if re.fullmatch(r"session_\d+", name)), key=_number)
    messages = [message for name in names for message in sessions[name]]
    indexes = {message["dia_id"]: index for index, message in enumerate(messages)}
    questions = []
    for one in asked:
        named = re.findall(r"D:?(\d+:\d+)", " ".join(one["evidence"]))
        evidence = frozenset(indexes[f"D{at}"] for at in named if f"D{at}" in indexes)
        if evidence:
            questions.append(Question(one["question"], evidence, one["category"]))
    texts = tuple(f"{m['speaker']}: {m.get('text') or m.get('clean_text')}" for m in messages)
    return Conversation(texts, tuple(questions))


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def quality(conversations: Sequence[Conversation]) -> Iterator[dict[str, Any]]:
    """A row for each way to search, depth and kind of questions."""
    ways: list[tuple[str, Callable[[Conversation], Search]]] = [("last 24 messages", last)]
    for depth in DEPTHS:
        ways.append((f"plain full-text, {depth} hits", partial(plain, depth=depth)))
        ways.append((f"history_search, {depth} hits", partial(ours, depth=depth)))
    for name, way in ways:
        found = [
            (question, search(question.text))
            for one in conversations
            for search in [way(one)]
            for question in one.questions
        ]
        for kind, counted in (
            ("all", found),
            ("answerable", [pair for pair in found if pair[0].category != UNANSWERABLE]),
        ):
            yield {
                "search": name,
                "questions": kind,
                "count": len(counted),
                "any": _share(bool(question.evidence & got) for question, got in counted),
                "all": _share(question.evidence <= got for question, got in counted),
            }


def _share(values: Iterable[bool]) -> float:
    return round(statistics.fmean(map(float, values)), 4)


def last(conversation: Conversation) -> Search:
    count = len(conversation.texts)
    return lambda _: set(range(max(0, count - RECENT), count))


def plain(conversation: Conversation, depth: int) -> Search:
    """Searches with SQLite's FTS5, as the module describes."""
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
    index.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(conversation.texts))
    query = "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank, rowid LIMIT ?"

    def search(question: str) -> set[int]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        hits = [row for (row,) in index.execute(query, (words, depth))]
        every = range(len(conversation.texts))
        return {at for hit in hits for at in (hit - 1, hit, hit + 1) if at in every}

    return search


def ours(conversation: Conversation, depth: int) -> Search:
    index = TextIndex.of(conversation.texts)
    return lambda question: {at for hit in index.search(question, depth) for at in hit.indexes}


def speed(conversations: Sequence[Conversation], size: int) -> dict[str, Any]:
    """Milliseconds per search and to index, in a log of `size` messages: all conversations,
    repeated, so that words are as frequent as in the real conversations."""
    texts = [text for one in conversations for text in one.texts]
    texts = (texts * (size // len(texts) + 1))[:size]
    asked = [question.text for one in conversations for question in one.questions]
    asked = asked[:: max(1, len(asked) // TIMED_QUESTIONS)]
    started = time.perf_counter()
    index = TextIndex.of(texts)
    indexed = time.perf_counter() - started
    times = sorted(_milliseconds(index, question) for question in asked)
    return {
        "messages": size,
        "index_ms_per_message": round(1000 * indexed / size, 3),
        "p50_ms": round(statistics.median(times), 1),
        "p95_ms": round(times[int(len(times) * 0.95)], 1),
    }


def _milliseconds(index: TextIndex, question: str) -> float:
    started = time.perf_counter()
    index.search(question, DEPTHS[0])
    return 1000 * (time.perf_counter() - started)


def table(rows: Iterable[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| search | questions | any evidence | all evidence |", "|---|---|---|---|"]
    for row in rows:
        count = f"{row['questions']} ({row['count']:,})"
        lines.append(f"| {row['search']} | {count} | {row['any']:.3f} | {row['all']:.3f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
