"""Reads streams with real clients: the `ai` package, v6 and v7, and the panel's own reader.

    oracle = Oracle(node24, ai_package_dirs)  # fixtures of tests/conftest.py
    reading = oracle.read("v7", [Stream(body)])[0]
    reading.message, reading.errors
    oracle.final_message(body, "v6")  # the message; fails the test on any error

`comparable` brings a message of any reader, or our own `message_to_ui`, to the parts that all
readers must agree on.
"""

import base64
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle, pairwise, takewhile
from pathlib import Path
from typing import Any

from plugin.assistant.messages import chunks
from plugin.assistant.messages.chunks import Chunk

SCRIPT = Path(__file__).with_name("read_stream.mjs")
WEB = SCRIPT.parent.parent.parent / "web"
READERS = ("v6", "v7", "panel")
TIME_LIMIT = 120.0  # seconds for one run of Node


@dataclass(frozen=True)
class Stream:
    """The bytes of an answer, how they are cut, and the message that they continue, if any."""

    body: bytes
    pieces: tuple[int, ...] = ()
    message: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Reading:
    """The message at the end, and every error that was reported."""

    message: dict[str, Any] | None
    errors: list[str]


@dataclass(frozen=True)
class Oracle:
    """Runs the readers. `packages` are folders with `node_modules/ai`, by major."""

    node: str
    packages: Mapping[str, Path]

    def read(self, reader: str, streams: Sequence[Stream]) -> list[Reading]:
        """All streams through one reader ("v6", "v7" or "panel"), in one run of Node."""
        kind, folder = ("panel", WEB) if reader == "panel" else ("ai", self.packages[reader])
        asked = [
            {
                "bytes": base64.b64encode(stream.body).decode(),
                "pieces": list(stream.pieces),
                "message": stream.message,
            }
            for stream in streams
        ]
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "streams.json"
            file.write_text(json.dumps(asked), encoding="ascii")
            command = [self.node, str(SCRIPT), kind, str(folder), str(file)]
            done = subprocess.run(command, capture_output=True, timeout=TIME_LIMIT)
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return [Reading(**reading) for reading in json.loads(done.stdout)]

    def final_message(
        self, body: bytes, reader: str, message: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The message that a reader has at the end; an error of the stream fails the test."""
        reading = self.read(reader, [Stream(body, message=message)])[0]
        assert not reading.errors, f"{reader}: {reading.errors}"
        assert reading.message is not None, f"{reader} read no message"
        return reading.message


def encoded(sent: Sequence[Chunk]) -> bytes:
    """The body of an answer, a comment in its midst and its end included."""
    events = [chunks.encode(chunk) for chunk in sent]
    middle = len(events) // 2
    return b"".join((*events[:middle], chunks.KEEP_ALIVE, *events[middle:], chunks.DONE))


def pieces(body: bytes, lengths: Sequence[int]) -> tuple[int, ...]:
    """Pieces of `body` with the lengths `lengths`, repeated until the end of `body`."""
    ends = takewhile(lambda end: end < len(body), accumulate(cycle(lengths)))
    starts = [0, *ends]
    return tuple(after - before for before, after in pairwise(starts))


def comparable(message: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A UI message without what a reader may choose: fields that are absent or null, whether a text
    is still open, the id of a reasoning part (v7), and arguments that are still streaming."""
    if message is None:
        return None
    body = json.loads(json.dumps(message))  # joins surrogate pairs that came in two pieces
    parts = [_comparable_part(part) for part in body["parts"]]
    return {"id": body["id"], "metadata": body.get("metadata") or {}, "parts": parts}


def _comparable_part(part: Mapping[str, Any]) -> dict[str, Any]:
    ignored = {"rawInput"}
    if part["type"] in ("text", "reasoning"):
        ignored |= {"state", "id"}
    if part.get("state") == "input-streaming":
        ignored |= {"input"}
    return {name: part[name] for name in part if name not in ignored and part[name] is not None}
