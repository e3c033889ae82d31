"""Turns the chunks of any server into events. Pure.

Servers differ in field names, leave fields out and add fields, so unknown chunks and fields are
ignored. `client` decides whether these events are a complete answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from .additions import AdditionReader
from .caps import DEFAULT_CAPS, NOTHING_WRITTEN, CapReached, Caps, Meter, Written, bytes_of
from .reasoning import ReasoningBlocks
from .stream_events import (
    Event,
    Finish,
    FinishReason,
    KeptReasoning,
    ModelName,
    Notice,
    ReasoningDelta,
    ReasoningField,
    ServerBlock,
    Source,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from .think import Piece, ThinkSplitter
from .tool_calls import ToolCallReader

Json = Mapping[str, Any]

FINISH_REASONS: Mapping[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool-calls",
    "tool_use": "tool-calls",
    "function_call": "tool-calls",
    "content_filter": "content-filter",
    "safety": "content-filter",
    "refusal": "content-filter",
}
REASONING_FIELDS: tuple[ReasoningField, ...] = ("reasoning_content", "reasoning")
MOST_TOKENS = 10**12
"""A larger count is no count of tokens."""
MOST_PIECES = 600_000
"""Events of one request; each is kept until the turn ends, so that a reader can join it."""
MOST_PARTS = 2_000
"""Parts of text and reasoning of one answer. Each change between the two is a new part, and all
parts are read again with each checkpoint, request and page."""
BLOCKS_AT_ONCE = 256
"""Pieces of reasoning blocks between two events: other tasks run there."""
LONGEST_WORD = 200
"""Characters of a model's name and of a finish reason that are read."""


@dataclass(frozen=True, slots=True)
class _Blocks:
    """Pieces of reasoning blocks, after the `ReasoningDelta` that they belong to."""

    pieces: Sequence[Json]


class ChunkReader:
    """The events of one answer. Feed it each chunk, then call `end` once.

    `made_id_prefix()` is the prefix for ids of tool calls that come without an id. `written` is
    what the answer has already from earlier requests.
    """

    def __init__(
        self,
        made_id_prefix: Callable[[], str],
        caps: Caps = DEFAULT_CAPS,
        written: Written = NOTHING_WRITTEN,
    ) -> None:
        self._think = ThinkSplitter()
        self._calls = ToolCallReader(made_id_prefix, caps)
        self._additions = AdditionReader(written)
        self._text = Meter("text", caps.text, written.text)
        self._reasoning = Meter("reasoning", caps.reasoning, written.reasoning)
        self._blocks = ReasoningBlocks()
        self._text_bytes = 0  # Bytes of reasoning that no block has held yet.
        self._pieces = 0
        self._parts = written.parts
        self._open: type[Event] | None = None
        self._model = ""
        self._finish: str | None = None
        self._usage: Usage | None = None
        self.understood = False
        """True once a chunk had the shape of an answer."""
        self.spoke = False
        """True once the answer has visible text, reasoning, a picture or a tool call."""

    @property
    def finished(self) -> bool:
        """True once the server sent a finish reason."""
        return self._finish is not None

    @property
    def finish_word(self) -> str:
        """The finish reason as the server spells it."""
        return self._finish or ""

    def feed(self, chunk: Json) -> Iterator[Event]:
        """The events of one chunk, in their order. Raises CapReached, after the events of what
        fits; nothing else, whatever JSON the chunk is."""
        usage = _usage(chunk)
        if usage is not None:
            self._usage = usage
        for addition in self._additions.of_chunk(chunk):
            self._pieces += 1
            yield addition
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return
        self.understood = True
        if not choices or not isinstance(choices[0], dict):
            return
        yield from self._model_name(chunk.get("model"))
        choice = choices[0]
        for event in self._delta(_delta_of(choice)):
            fitting, reached = self._fitting(event)
            if fitting is not None:
                self.spoke = self.spoke or _speaks(fitting)
                self._pieces += 1
                if self._begins_part(fitting):
                    yield from self._end_part(type(fitting))
                yield fitting
            if self._pieces >= MOST_PIECES:
                raise CapReached("pieces", MOST_PIECES)
            if reached is not None:
                raise reached
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish = reason[:LONGEST_WORD]

    def end(self) -> Iterator[Event]:
        """The text that was held back, then the usage, then `Finish` if there was a reason."""
        for piece in self._think.end():
            event, _ = self._fitting(_marked(piece))
            if event is not None:
                self.spoke = self.spoke or _speaks(event)
                if isinstance(event, TextDelta):
                    yield from self._kept()
                yield event
        yield from self._kept()
        if self._usage is not None:
            yield self._usage
        if self._finish is not None:
            yield Finish(self._reason(self._finish))

    def _begins_part(self, event: Event) -> bool:
        if isinstance(event, (ToolCallDelta, self._open or ToolCallDelta)):
            return False
        return _speaks(event)

    def _end_part(self, kind: type[Event]) -> Iterator[KeptReasoning]:
        """Ends the part before the first event of another, which it counts. Raises CapReached."""
        yield from self._kept()
        self._open = kind
        if kind in (TextDelta, ReasoningDelta):
            if self._parts >= MOST_PARTS:
                raise CapReached("parts", MOST_PARTS)
            self._parts += 1

    def _kept(self) -> Iterator[KeptReasoning]:
        """The blocks of the reasoning so far. Reasoning that comes later has blocks of its own."""
        if self._blocks:
            blocks, self._blocks = self._blocks, ReasoningBlocks()
            yield KeptReasoning(blocks.whole())

    def _fitting(self, event: Event | _Blocks) -> tuple[Event | None, CapReached | None]:
        """As much of the event as its cap allows, and whether the cap is reached."""
        if isinstance(event, TextDelta):
            text, reached = self._text.take(event.text), self._text.reached
            if reached is None:
                return event, None
            return (TextDelta(text) if text else None), reached
        if isinstance(event, ReasoningDelta):
            text, reached = self._reasoning.take(event.text), self._reasoning.reached
            self._text_bytes += bytes_of(text)
            if reached is None:
                return event, None
            return (ReasoningDelta(text, event.field) if text else None), reached
        if isinstance(event, _Blocks):
            self._count(event)
            return None, self._reasoning.reached
        return event, None

    def _count(self, blocks: _Blocks) -> None:
        """Joins the pieces and counts what of them is kept. Most blocks repeat the text, which is
        counted already: only what they hold beyond it counts."""
        beyond = sum(map(self._blocks.add, blocks.pieces)) - self._text_bytes
        self._text_bytes = max(0, -beyond)
        self._reasoning.add(max(0, beyond))

    def _reason(self, word: str) -> FinishReason:
        """The finish reason, corrected: some servers say "stop" after a tool call, or "tool_calls"
        without a call."""
        reason = FINISH_REASONS.get(word.lower(), "other")
        if self._calls.any and reason in ("stop", "other"):
            return "tool-calls"
        return "stop" if reason == "tool-calls" and not self._calls.any else reason

    def _model_name(self, model: object) -> Iterator[Event]:
        if isinstance(model, str) and model and not self._model:
            self._model = model[:LONGEST_WORD]
            yield ModelName(self._model)

    def _delta(self, delta: Json) -> Iterator[Event | _Blocks]:
        content = delta.get("content")
        if isinstance(content, str) and _has_text_only(delta):
            yield from map(_marked, self._think.feed(content))
            return
        yield from _reasoning(delta)
        for piece in _content(content):
            if isinstance(piece, Mapping):
                yield from self._additions.of_part(piece)
            elif piece[0] == "think":
                yield ReasoningDelta(piece[1], "think")
            else:
                yield from map(_marked, self._think.feed(piece[1]))
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            yield from map(_marked, self._think.feed(refusal))
        yield from self._additions.of_delta(delta)
        for call in _calls(delta):
            yield from self._calls.feed(call)


def _marked(piece: Piece) -> TextDelta | ReasoningDelta:
    kind, text = piece
    return TextDelta(text) if kind == "text" else ReasoningDelta(text, "think")


def _speaks(event: Event) -> bool:
    if isinstance(event, (Source, ServerBlock, Notice)):
        return False
    return not isinstance(event, TextDelta) or bool(event.text.strip())


def _has_text_only(delta: Json) -> bool:
    """Whether a delta has nothing beside its content, as most have: it need not be searched for
    all that others send."""
    return all(value is None or name in ("content", "role") for name, value in delta.items())


def _delta_of(choice: Json) -> Json:
    """The choice's delta, or of an unstreamed answer its message, with an index for each call."""
    delta = choice.get("delta")
    if isinstance(delta, dict):
        return delta
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return {}
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    numbered = [{**c, "index": i} for i, c in enumerate(calls) if isinstance(c, Mapping)]
    return {**message, "tool_calls": numbered}


def _reasoning(delta: Json) -> Iterator[ReasoningDelta | _Blocks]:
    """The reasoning of a delta, once: servers may send it under two names and as blocks."""
    raw = delta.get("reasoning_details")
    pieces = [piece for piece in raw if isinstance(piece, Mapping)] if isinstance(raw, list) else []
    named = ((delta.get(name), name) for name in REASONING_FIELDS)
    text, field = next(((t, name) for t, name in named if isinstance(t, str) and t), (None, None))
    if field is None:
        text, field = _text_of(pieces), "reasoning"
    if text or pieces:
        yield ReasoningDelta(text or "", field)
    for start in range(0, len(pieces), BLOCKS_AT_ONCE):
        if start:
            yield ReasoningDelta("", field)
        yield _Blocks(pieces[start : start + BLOCKS_AT_ONCE])


def _text_of(pieces: Iterable[Json]) -> str:
    texts = [piece.get("text") or piece.get("summary") or "" for piece in pieces]
    return "".join(text for text in texts if isinstance(text, str))


def _content(content: object) -> Iterator[Piece | Json]:
    """The pieces of a content: a string, or a list of parts (Mistral sends `thinking` parts).
    Neighbouring parts of one kind are one piece, however many there are; a part without a text,
    such as a picture, is a piece as it is."""
    if isinstance(content, str):
        yield ("text", content)
    elif isinstance(content, list):
        for kind, pieces in groupby(_parts(content), key=_kind):
            if kind == "other":
                yield from pieces
            else:
                yield (kind, "".join(_texts(pieces)))


def _kind(piece: Piece | Json) -> Literal["text", "think", "other"]:
    return "other" if isinstance(piece, Mapping) else piece[0]


def _texts(pieces: Iterable[Piece | Json]) -> Iterator[str]:
    return (piece[1] for piece in pieces if not isinstance(piece, Mapping))


def _parts(content: Iterable[object]) -> Iterator[Piece | Json]:
    for part in content:
        if not isinstance(part, Mapping):
            continue
        if isinstance(part.get("text"), str):
            yield ("text", part["text"])
        elif part.get("type") == "thinking":
            thought = part.get("thinking")
            if isinstance(thought, str):
                yield ("think", thought)
            elif isinstance(thought, list):
                yield ("think", "".join(_texts(_parts(thought))))
        elif isinstance(part.get("type"), str) and part["type"] != "text":
            yield part


def _calls(delta: Json) -> Iterator[Json]:
    calls = delta.get("tool_calls")
    if isinstance(calls, list):
        for call in calls:
            if isinstance(call, Mapping):
                yield call
    legacy = delta.get("function_call")
    if isinstance(legacy, Mapping):
        yield {"index": 0, "function": legacy}


def _usage(chunk: Json) -> Usage | None:
    """Token counts, under the field names of OpenAI, DeepSeek or Anthropic-compatible servers."""
    usage = chunk.get("usage")
    if not isinstance(usage, Mapping):
        return None
    cached = _first(
        _count(_inner(usage, "prompt_tokens_details"), "cached_tokens"),
        _count(usage, "prompt_cache_hit_tokens"),
        _count(usage, "cache_read_input_tokens"),
        _count(usage, "cached_tokens"),
    )
    written = _first(
        _count(usage, "cache_creation_input_tokens"),
        _count(_inner(usage, "prompt_tokens_details"), "cache_write_tokens"),
    )
    sent = _count(usage, "prompt_tokens")
    if sent is None and (fresh := _count(usage, "input_tokens")) is not None:
        # Anthropic's `input_tokens` leaves out tokens that were read from or written to the cache.
        sent = fresh + (_count(usage, "cache_read_input_tokens") or 0) + (written or 0)
    found = Usage(
        input_tokens=sent,
        output_tokens=_first(_count(usage, "completion_tokens"), _count(usage, "output_tokens")),
        cached_tokens=cached,
        reasoning_tokens=_first(
            _count(_inner(usage, "completion_tokens_details"), "reasoning_tokens"),
            _count(usage, "reasoning_tokens"),
        ),
        written_tokens=written,
    )
    return None if found == Usage() else found


def _inner(usage: Json, name: str) -> Json:
    inner = usage.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _count(usage: Json, name: str) -> int | None:
    value = usage.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)
