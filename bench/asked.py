"""Questions at the end of conversations, and whether their evidence stands in the request.

Conversations are those of LoCoMo and REALTALK, read as `search_quality` reads them, and generated
talks. Their messages become a chat's messages in turns: the first of the user, the second of the
assistant, and so on; the speaker's name is part of the text. A question is the next user message.
`any` is the share of the questions with at least one evidence message in sight (`sight`), `all` of
those with every one.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plugin.bench.environments import Peer, PeerUnavailable, ask
from plugin.bench.fixed_rule import request as fixed_rule_request
from plugin.bench.lived import LivedChats, Round, Wanted, copied, living, text_messages
from plugin.bench.measures import CHARS_PER_TOKEN, Messages, exact_tokens, percentile, text_of
from plugin.bench.search_quality import read
from plugin.bench.sight import Sight, words
from plugin.bench.talks import write_talks
from plugin.bench.validity import faults

CHAT = "asked"
ANSWER = (Round("That is what I found."),)
LAST_ANSWER = "I see."
"""The answer to a last message without one."""
SECONDS = 300.0
"""The time of a peer for all conversations."""


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence` are indexes of the conversation's texts."""

    text: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation with its questions. `lived`: each message and its answer are a turn, as in a
    chat that went on for days; else the conversation is imported as a whole, and the question is
    its first turn."""

    name: str
    texts: tuple[str, ...]
    questions: tuple[Question, ...]
    lived: bool = False


@dataclass(frozen=True, slots=True)
class Answerable:
    """One question's request: how much of its evidence is in sight, and the request's sizes in
    tokens."""

    found: int
    wanted: int
    messages: float
    total: int
    invalid: bool


def from_files(paths: Iterable[Path], lived: bool) -> list[Asked]:
    """The conversations of files in the form of LoCoMo or REALTALK. Evidence without a word, such
    as a message with a picture alone, is not looked for."""
    found = []
    for path in paths:
        for number, one in enumerate(read(path)):
            questions = []
            for question in one.questions:
                evidence = sorted(at for at in question.evidence if words(one.texts[at]))
                if evidence:
                    questions.append(Question(question.text, tuple(evidence)))
            name = f"{path.stem} {number}"
            found.append(Asked(name, one.texts, tuple(questions), lived))
    return found


def from_talks(seed: int) -> list[Asked]:
    """The generated talks."""
    return [
        Asked(
            talk.name,
            talk.texts,
            tuple(Question(one.text, one.evidence) for one in talk.questions),
            lived=True,
        )
        for talk in write_talks(seed)
    ]


def sampled(asked: Sequence[Asked], most: int | None) -> list[Asked]:
    """The conversations with about `most` of their questions, spread evenly; all without `most`."""
    count = sum(len(one.questions) for one in asked)
    step = 1 if most is None else max(1.0, count / max(1, most))
    chosen = {int(number * step) for number in range(count)}
    kept, place = [], 0
    for one in asked:
        every = enumerate(one.questions, place)
        questions = tuple(question for number, question in every if number in chosen)
        place += len(one.questions)
        if questions:
            kept.append(Asked(one.name, one.texts, questions, one.lived))
    return kept


async def ours(asked: Sequence[Asked], wanted: Wanted) -> dict[str, Any]:
    """The figures of the product's own requests."""
    seen = [found for one in asked async for found in _answered(one, wanted)]
    return figures(seen, wanted.window)


async def _answered(one: Asked, wanted: Wanted) -> AsyncIterator[Answerable]:
    with TemporaryDirectory() as folder:
        async with living(Path(folder), wanted) as chats:
            if one.lived:
                await _live(chats, one.texts)
            else:
                await chats.import_chat(CHAT, text_messages(one.texts))
        for question in one.questions:
            with copied(Path(folder)) as copy:
                async with living(copy, wanted) as chats:
                    sent = (await chats.turn(CHAT, question.text, ANSWER))[0]
            total = sent.report["total"]["tokens"]
            yield _seen(one.texts, question, sent.messages, total)


async def _live(chats: LivedChats, texts: Sequence[str]) -> None:
    for said, answer in zip_longest(texts[::2], texts[1::2], fillvalue=LAST_ANSWER):
        await chats.turn(CHAT, said, (Round(answer),))


def _seen(
    texts: Sequence[str], question: Question, messages: Messages, total: int | None = None
) -> Answerable:
    spoken = [message for message in messages if message["role"] != "system"]
    tokens = message_tokens(spoken)
    found = Sight(messages).count(texts[at] for at in question.evidence)
    size = int(tokens) if total is None else total
    return Answerable(found, len(question.evidence), tokens, size, bool(faults(messages)))


def message_tokens(messages: Messages) -> float:
    """Exact tokens where they can be counted, else characters / 4."""
    exact = exact_tokens(messages)
    if exact is not None:
        return exact
    return sum(len(text_of(message)) for message in messages) / CHARS_PER_TOKEN


def figures(seen: Sequence[Answerable], window: int) -> dict[str, Any]:
    """The shares `any` and `all`, and the tokens of messages without the system message."""
    sizes = [one.messages for one in seen]
    return {
        "questions": len(seen),
        "any": _share(one.found > 0 for one in seen),
        "all": _share(one.found == one.wanted for one in seen),
        "tokens_mean": round(statistics.fmean(sizes)),
        "tokens_p95": round(percentile(sizes, 0.95)),
        "tokens_most": round(max(sizes)),
        "invalid": sum(one.invalid for one in seen),
        "over_window": sum(one.total > window for one in seen),
    }


def _share(values: Iterable[bool]) -> float:
    return round(statistics.fmean(map(float, values)), 4)


def theirs(asked: Sequence[Asked], peer: Peer, window: int, folder: Path) -> dict[str, Any]:
    """The figures of a peer, asked once for each conversation: no peer looks at the question.
    Raises PeerUnavailable."""
    log = folder / "asked.json"
    log.write_text(json.dumps([_history(one) for one in asked], ensure_ascii=False), "utf-8")
    lines = ask(peer, log, [[number] for number in range(len(asked))], window, SECONDS, folder)
    failed = next((line["error"] for line in lines if line.get("error")), None)
    if failed is not None:
        raise PeerUnavailable(failed)
    answers = zip(asked, lines, strict=True)
    return figures([seen for one, line in answers for seen in _all(one, line["messages"])], window)


def reference(asked: Sequence[Asked], window: int) -> dict[str, Any]:
    """The figures of the fixed rule (`fixed_rule`)."""
    answers = ((one, fixed_rule_request(_history(one))) for one in asked)
    return figures([seen for one, sent in answers for seen in _all(one, sent)], window)


def _all(one: Asked, messages: Messages) -> Iterator[Answerable]:
    """One request, as each of the questions would find it."""
    return (_seen(one.texts, question, messages) for question in one.questions)


def _history(one: Asked) -> list[Mapping[str, Any]]:
    """The conversation and a question, as OpenAI has them."""
    return [*_rows(one.texts), {"role": "user", "content": one.questions[-1].text}]


def _rows(texts: Sequence[str]) -> list[Mapping[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
