"""A provider's events -> chunks, for one request.

The writer closes an open part before the next part begins, so that its chunks are a stream that
clients accept wherever the answer stops.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..llm.stream_events import (
    Event,
    Finish,
    KeptReasoning,
    ModelName,
    Notice,
    Picture,
    ReasoningDelta,
    ServerBlock,
    Source,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from ..messages import chunks
from ..messages.chunks import Chunk
from ..messages.fences import plain_line
from ..messages.foreign_json import many_values
from ..messages.json_text import json_text
from ..tools.tool import Tool
from ..tools.toolset import Toolset
from .json_limits import fault_of

SHOWN = 500
"""Characters of wrong arguments that the error message repeats."""
MOST_MARKS = 100_000
"""Brackets, commas and strings of a call's arguments: each value is read, checked and written."""
_BACKSLASH = re.compile(r"(?P<escape>\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))|\\")
UNFINISHED = "The answer was cut off before this call was complete. It did not run."


@dataclass(slots=True)
class Call:
    """A tool call of this answer. `tool` is None for an unknown name; `error` is set when the call
    cannot run."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    tool: Tool | None = None
    value: Any = None
    error: str | None = None

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


class AnswerWriter:
    """Writes one answer. `new_id` makes a call's id unique in the chat; `sources` are the addresses
    that the message has from its earlier requests: each source is in it once."""

    def __init__(
        self,
        emit: Callable[[Chunk], None],
        toolset: Toolset,
        new_id: Callable[[str], str],
        prefix: str,
        sources: Iterable[str] = (),
    ) -> None:
        self._emit = emit
        self._toolset = toolset
        self._new_id = new_id
        self._prefix = prefix
        self._parts = 0
        self._open: str | None = None
        self._open_id = ""
        self._blanks: list[str] = []
        self._details: list[Any] = []
        self._field = "think"
        self._calls: dict[int, Call] = {}
        self._known = frozenset(sources)
        self._sources: dict[str, str | None] = {}
        self.answered = False
        """True once there was text, a picture or a call; reasoning alone is no answer."""
        self.usage: Usage | None = None
        self.model: str | None = None
        self.finish: str | None = None

    @property
    def spoke(self) -> bool:
        """True once a part of the answer or a call was emitted."""
        return bool(self._parts or self._calls)

    def add(self, event: Event) -> None:
        """Emits the chunks of an event."""
        if isinstance(event, TextDelta):
            self._add_text(event.text)
        elif isinstance(event, ReasoningDelta):
            self._add_reasoning(event)
        elif isinstance(event, KeptReasoning):
            self._details = list(event.blocks)
        elif isinstance(event, ToolCallStart):
            self._start_call(event)
        elif isinstance(event, ToolCallDelta):
            call = self._calls[event.index]
            call.pieces.append(event.arguments)
            self._emit(chunks.tool_input_delta(call.id, event.arguments))
        elif isinstance(event, Source):
            self._sources[event.url] = event.title or self._sources.get(event.url)
        elif isinstance(event, Picture):
            self._add_picture(event)
        elif isinstance(event, ServerBlock):
            self._add_block(event)
        elif isinstance(event, Usage):
            self.usage = event
        elif isinstance(event, ModelName):
            self.model = event.name
        elif isinstance(event, Notice):
            self._close()
            said: dict[str, Any] = {"code": event.code, "message": event.message}
            if event.seconds:
                said["seconds"] = event.seconds
            # The same id again: a later notice of this code replaces the earlier one.
            self._emit(chunks.data("notice", said, part_id=f"{self._prefix}-{event.code}"))
        elif isinstance(event, Finish):
            self.finish = event.reason

    def finish_calls(self) -> None:
        """Closes the answer and announces each of its calls, as available or as an error."""
        self._close()
        self._name_sources()
        for call in self._calls.values():
            self._announce(call)

    def cut(self) -> None:
        """Closes an answer that ended early; its calls do not run."""
        self._close()
        self._name_sources()
        for call in self._calls.values():
            error = chunks.tool_input_error(
                call.id, call.name, self._title(call.name), call.arguments, UNFINISHED
            )
            self._emit(error)

    def _add_text(self, text: str) -> None:
        if self._open != "text":
            # Models often send line breaks before a tool call; alone they are no text.
            self._blanks.append(text)
            if not text.strip():
                return
            text = "".join(self._blanks)
            self._begin("text", chunks.text_start)
            self.answered = True
        self._emit(chunks.text_delta(self._open_id, text))

    def _add_reasoning(self, event: ReasoningDelta) -> None:
        if self._open != "reasoning":
            self._begin("reasoning", chunks.reasoning_start)
            self._field = event.field
        if event.text:
            self._emit(chunks.reasoning_delta(self._open_id, event.text))

    def _add_picture(self, picture: Picture) -> None:
        self._close()
        self._parts += 1
        self.answered = True
        self._emit(chunks.file(picture.media_type, picture.url))

    def _add_block(self, block: ServerBlock) -> None:
        """The text goes on around a block: a part of its own would tear its Markdown."""
        content = block.content if fault_of(block.content) is None else json_text(block.content)
        part_id = f"{self._prefix}-block-{block.number}"
        self._emit(chunks.server_block(part_id, block.kind, content))

    def _name_sources(self) -> None:
        """Emits the sources, in the order in which they came first: numbers in the text count them
        so. At the end, since a title may come after its address."""
        for number, (url, title) in enumerate(self._sources.items()):
            if url not in self._known:
                self._emit(chunks.source_url(f"{self._prefix}-source-{number}", url, title))
        self._sources.clear()

    def _start_call(self, event: ToolCallStart) -> None:
        self._close()
        self.answered = True
        call = Call(self._new_id(event.id), event.name, tool=self._toolset.get(event.name))
        self._calls[event.index] = call
        start = chunks.tool_input_start(
            call.id, call.name, self._title(call.name), on_server=_on_server(call)
        )
        self._emit(start)

    def _announce(self, call: Call) -> None:
        title = self._title(call.name)
        call.value, call.error = parse_arguments(call.arguments)
        if call.tool is None:
            known = ", ".join(self._toolset.names)
            call.error = f"There is no tool {call.name!r}. The tools are: {known}."
        if call.error is not None:
            shown = call.value if call.value is not None else call.arguments
            self._emit(chunks.tool_input_error(call.id, call.name, title, shown, call.error))
            return
        available = chunks.tool_input_available(
            call.id, call.name, title, call.value, on_server=_on_server(call)
        )
        self._emit(available)

    def _title(self, name: str) -> str:
        tool = self._toolset.get(name)
        return tool.title if tool else plain_line(name)

    def _begin(self, kind: str, start: Callable[[str], Chunk]) -> None:
        self._close()
        self._open = kind
        self._open_id = f"{self._prefix}-{self._parts}"
        self._parts += 1
        self._emit(start(self._open_id))

    def _close(self) -> None:
        if self._open == "text":
            self._emit(chunks.text_end(self._open_id))
        elif self._open == "reasoning":
            self._emit(chunks.reasoning_end(self._open_id, self._kept()))
        self._open = None
        self._blanks = []
        self._details = []

    def _kept(self) -> dict[str, Any]:
        """The fields that the provider wants back with this reasoning inside an open tool loop
        (R19)."""
        kept: dict[str, Any] = {} if self._field == "think" else {"field": self._field}
        if self._details and fault_of(self._details) is None:
            kept["details"] = self._details
        return kept


def parse_arguments(text: str) -> tuple[Any, str | None]:
    """A call's arguments as an object, or the sentence that names their fault."""
    if not text.strip():
        return {}, None
    if many_values(text, MOST_MARKS):
        return None, f"The arguments hold too many values, over {MOST_MARKS:,}: {text[:SHOWN]}"
    try:
        value = _read(text)
    except (ValueError, RecursionError) as error:
        return None, f"The arguments are no valid JSON ({error}): {text[:SHOWN]}"
    if value is None:
        return {}, None
    if not isinstance(value, dict):
        return None, f"The arguments must be a JSON object, got: {text[:SHOWN]}"
    if fault := fault_of(value):
        return None, f"The arguments cannot be taken. {fault}"
    return value, None


def _read(text: str) -> Any:
    """The JSON value; a backslash that begins no escape is one, as in the path of a file on
    Windows. Raises ValueError and RecursionError."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        plain = _BACKSLASH.sub(lambda found: found["escape"] or r"\\", text)
        if plain == text:
            raise
        return json.loads(plain, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _on_server(call: Call) -> bool:
    return call.tool is None or call.tool.place == "server"
