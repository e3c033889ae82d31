"""One seeded ComfyUI session as a list of OpenAI messages: turns, rounds, edits, errors, facts.

The same seed and shape give the same bytes. It is made of `canvas` (a real template), `wordings`
(texts of people, models and ComfyUI), `results` (results of tools), `session_edits` and `facts`
(planted values).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import results, wordings
from .canvas import Canvas, templates
from .facts import Planted, Planter
from .session_edits import Call, Editor, compact

MESSAGES = 1_810  # about the length of a long real session
MOST_CALLS = 3
FACT_SHARE = 0.45
"""Share of the turns that have facts."""
FOREIGN_SHARE = 0.12
FAILURE_SHARE = 0.28
"""Share of the runs that fail."""
BATCH_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Shape:
    """How long a session is and how large its results are.

    `full_share` is the share of looks at the workflow that give the whole UI-format JSON, as plain
    assistants do; `giant_share` is the share of documents that alone nearly fill a small window.
    `look_weight` is the weight of rounds that look at the workflow; rounds that read other things
    have the weight 3.
    """

    messages: int = MESSAGES
    full_share: float = 0.3
    giant_share: float = 0.0
    look_weight: int = 6


@dataclass(frozen=True, slots=True)
class Session:
    """The log, its planted facts with their queries, and its true edits."""

    messages: list[dict[str, Any]]
    facts: list[dict[str, Any]]
    edits: dict[str, Any]
    queries: list[dict[str, str]]


@dataclass
class Writer:
    """A session being written."""

    random: random.Random
    shape: Shape
    canvas: Canvas
    planter: Planter
    messages: list[dict[str, Any]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    turns: int = 0
    topic: str = ""
    planting: bool = False
    calls_made: int = 0

    @property
    def at(self) -> int:
        """The index of the next message."""
        return len(self.messages)

    def say(self, role: str, text: str, planted: Planted | None = None) -> None:
        if planted is not None:
            self.planter.place(planted, role, self.at)
        self.messages.append({"role": role, "content": text})

    def value(self) -> Planted:
        return self.planter.value(self.topic)

    def call_round(self, text: str, calls: list[Call]) -> None:
        """One assistant message with calls, and their results in order."""
        asked = self.at
        listed = []
        for number, call in enumerate(calls):
            self.calls_made += 1
            body = {"name": call.name, "arguments": compact(call.arguments)}
            identity = f"call_{self.calls_made:05d}"
            listed.append({"id": identity, "type": "function", "function": body})
            if call.value is not None:
                index = asked if call.where == "arguments" else asked + 1 + number
                self.planter.place(call.value, call.where, index)
        self.messages.append({"role": "assistant", "content": text or None, "tool_calls": listed})
        for call, made in zip(calls, listed, strict=True):
            result = {"role": "tool", "tool_call_id": made["id"], "content": call.result}
            self.messages.append(result)


def write_session(seed: int, shape: Shape) -> Session:
    """The session of a seed. Raises `ModuleNotFoundError` without the templates' package."""
    source = random.Random(seed)
    name, workflow = source.choice(list(templates()))
    writer = Writer(source, shape, Canvas(name, workflow), Planter(source))
    writer.topics = [f"{one} {other}" for one in wordings.ADJECTIVES for other in wordings.NOUNS]
    source.shuffle(writer.topics)
    writer.say("system", wordings.SYSTEM)
    while writer.at < shape.messages:
        _turn(writer)
    facts = writer.planter.facts
    return Session(
        writer.messages,
        [fact.to_json() for fact in facts],
        writer.canvas.ledger.to_json(),
        [fact.query() for fact in facts],
    )


def _turn(writer: Writer) -> None:
    pick = writer.random
    writer.topic = writer.topics[writer.turns % len(writer.topics)]
    writer.turns += 1
    writer.planting = pick.random() < FACT_SHARE
    language = _ask(writer)
    for _ in range(pick.choices((0, 1, 2, 3, 4), (1, 3, 4, 3, 1))[0]):
        weights = (writer.shape.look_weight, *OTHER_WEIGHTS)
        kind = pick.choices(ROUNDS, weights)[0]
        writer.call_round(pick.choice(wordings.OPENINGS), kind(writer))
    _answer(writer, language)


def _ask(writer: Writer) -> int | None:
    """Writes the user's message; returns the number of its foreign language."""
    pick = writer.random
    topic = writer.topic
    if writer.planting and pick.random() < FOREIGN_SHARE:
        value = writer.value()
        language = pick.randrange(len(wordings.FOREIGN_REQUESTS))
        text = wordings.FOREIGN_REQUESTS[language].format(
            topic=topic, kind=value.kind, value=value.value
        )
        writer.say("user", text, value)
        return language
    text = pick.choice(wordings.REQUESTS).format(topic=topic)
    if writer.planting and pick.random() < 0.6:
        value = writer.value()
        more = pick.choice(wordings.CORRECTIONS + wordings.INSTRUCTIONS)
        writer.say(
            "user", f"{more.format(topic=topic, kind=value.kind, value=value.value)} {text}", value
        )
    else:
        writer.say("user", text)
    return None


def _answer(writer: Writer, language: int | None) -> None:
    pick = writer.random
    if language is not None:
        writer.say("assistant", wordings.FOREIGN_ANSWERS[language].format(topic=writer.topic))
        return
    text = pick.choice(wordings.ANSWERS).format(topic=writer.topic)
    value = writer.value() if writer.planting and pick.random() < 0.4 else None
    if value is not None:
        decision = pick.choice(wordings.DECISIONS).format(
            topic=writer.topic, kind=value.kind, value=value.value
        )
        text = f"{text} {decision}"
    writer.say("assistant", text, value)


def _look(writer: Writer) -> list[Call]:
    pick, canvas = writer.random, writer.canvas
    level = (
        "full" if pick.random() < writer.shape.full_share else pick.choice(("normal", "outline"))
    )
    graph = {"full": canvas.full, "normal": canvas.api, "outline": canvas.outline}[level]()
    calls = [Call("getWorkflowInfo", {"level": level}, compact(graph))]
    return _some(writer, calls, (_search, _info, _models, _nodes, _nodes, _nodes))


def _nodes(writer: Writer) -> Call:
    """A look at the values of all nodes, with a remark of an earlier run where a fact is due."""
    value = _found(writer)
    remark = {"last_output": value.phrase} if value else {}
    graph = {"nodes": writer.canvas.api(), **remark}
    return Call("getWorkflowInfo", {"level": "normal"}, compact(graph), value, "result")


def _read(writer: Writer) -> list[Call]:
    return _some(writer, [], (_search, _info, _models, _document))


def _some(
    writer: Writer, calls: list[Call], kinds: tuple[Callable[[Writer], Call], ...]
) -> list[Call]:
    wanted = writer.random.randint(1, MOST_CALLS)
    while len(calls) < wanted:
        calls.append(writer.random.choice(kinds)(writer))
    return calls


def _found(writer: Writer) -> Planted | None:
    return writer.value() if writer.planting and writer.random.random() < 0.35 else None


def _search(writer: Writer) -> Call:
    query = writer.random.choice(wordings.MODEL_WORDS)
    value = _found(writer)
    found = results.found_nodes(writer.random, query, value)
    return Call("searchNodes", {"query": query}, compact(found), value, "result")


def _info(writer: Writer) -> Call:
    kind = writer.random.choice(list(wordings.NODE_KINDS))
    value = _found(writer)
    info = results.node_info(writer.random, kind, value)
    return Call("getNodeInfo", {"types": [kind]}, compact(info), value, "result")


def _models(writer: Writer) -> Call:
    folder = writer.random.choice(("checkpoints", "loras", "vae", "upscale_models"))
    value = _found(writer)
    listed = results.model_list(writer.random, folder, value)
    return Call("getAvailableModels", {"folder": folder}, compact(listed), value, "result")


def _document(writer: Writer) -> Call:
    pick = writer.random
    giant = pick.random() < writer.shape.giant_share
    value = _found(writer)
    page = results.document(pick, writer.topic, value, giant=giant)
    return Call("readDocumentation", {"topic": writer.topic}, page, value, "result")


def _edit(writer: Writer) -> list[Call]:
    """Single edits in the vocabularies that models use, or one call with all of them."""
    pick = writer.random
    editor = Editor(
        pick,
        writer.canvas,
        writer.topic,
        writer.at,
        lambda: writer.value() if writer.planting else None,
    )
    count = pick.randint(1, MOST_CALLS)
    if pick.random() < BATCH_SHARE:
        return [editor.batch(count)]
    return [editor.single() for _ in range(count)]


def _run(writer: Writer) -> list[Call]:
    pick = writer.random
    prompt = f"{pick.getrandbits(64):016x}"
    arguments: dict[str, Any] = {"targets": []}
    if pick.random() < FAILURE_SHARE:
        value = writer.value()
        node = pick.choice(writer.canvas.ids)
        error = pick.choice(wordings.ERRORS).format(node=node, value=value.value)
        body = {"error": error, "request": writer.topic, "prompt_id": prompt}
        return [Call("runWorkflow", arguments, compact(body), value, "error")]
    found = _found(writer)
    body = results.run_output(pick, prompt, writer.topic, found)
    return [Call("runWorkflow", arguments, compact(body), found, "result")]


ROUNDS = (_look, _read, _edit, _run)
OTHER_WEIGHTS = (3, 4, 2)
