"""A request's body: read within its limit, decoded as JSON, and checked against its shape.

JSON is read more strictly than `json.loads` does, so that every value can be stored and sent on.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from typing import Any, NoReturn

from aiohttp import web

from ..errors import InvalidRequest, Refused
from ..messages.json_reading import MOST_VALUES, check_values, loads
from ..messages.json_text import mended
from ..validation import NoFields, kind_of, parsed
from .memory import Memory

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Bytes, counted while reading: ComfyUI's own limit may be larger or smaller."""
MAX_DEPTH = 100
"""Objects and lists within each other. Deeper ones would exhaust Python's stack later on."""
PARSE_INLINE_BYTES = 64 * 1024
"""Larger bodies are parsed in a thread, so that the event loop goes on meanwhile."""
SMALL_BYTES = 1024 * 1024
"""A body up to this size is always taken."""
MOST_HELD_BYTES = 256 * 1024 * 1024
"""Bytes of all larger bodies that are being received or parsed; beyond that a request is refused
with a time to come again."""
RETRY_SECONDS = 5
PARSED_AT_A_TIME = 2
"""Large bodies that are parsed at a time: a parsed body takes several times its bytes."""

_MEDIA_TYPE = "application/json"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class BodyReader:
    """Reads the bodies of all requests to one event loop. `most_values` bounds what the JSON of a
    body may hold (`json_reading.check_values`); `silent_seconds` is how long a client may send
    nothing in the middle of its body; `memory` gets the bytes of large bodies."""

    def __init__(
        self,
        memory: Memory,
        most_values: int = MOST_VALUES,
        silent_seconds: float = 30.0,
    ) -> None:
        self._memory = memory
        self._most_values = most_values
        self._silent_seconds = silent_seconds
        self._held = 0
        self._parsing = asyncio.Semaphore(PARSED_AT_A_TIME)

    async def read(self, request: web.Request, shape: Any) -> Any:
        """The body in this shape (`validation.parsed`).

        Raises `Refused` for another media type (415), for more than 32 MB or too many values (413),
        for a client that sends no more of its body (408) and when too much is being received (503);
        `InvalidRequest`, with the place of the fault, for a body that is no JSON object or has
        another shape. Half a character (`"\\ud83d"` alone) becomes U+FFFD, as browsers encode it.
        """
        if shape is NoFields and not request.can_read_body:
            return NoFields()
        if request.content_type != _MEDIA_TYPE:
            raise Refused(
                f"Expected a body of type {_MEDIA_TYPE}.", code="unsupported_media_type", status=415
            )
        if (request.content_length or 0) > MAX_BODY_BYTES:
            raise _too_large()
        content = bytearray()
        try:
            await self._receive(request, content)
            if len(content) <= PARSE_INLINE_BYTES:
                return self._parsed(shape, content)
            async with self._parsing:
                return await asyncio.to_thread(self._parsed, shape, content)
        finally:
            if len(content) > SMALL_BYTES:
                self._held -= len(content)
                self._memory.used(len(content))

    async def _receive(self, request: web.Request, content: bytearray) -> None:
        """Adds the body to `content`, and to `_held` once it is larger than `SMALL_BYTES`."""
        while not request.content.at_eof():
            chunk = await self._next(request)
            before = 0 if len(content) <= SMALL_BYTES else len(content)
            content += chunk
            if len(content) > SMALL_BYTES:
                self._held += len(content) - before
                if self._held > MOST_HELD_BYTES:
                    raise _busy()
            if len(content) > MAX_BODY_BYTES:
                raise _too_large()

    async def _next(self, request: web.Request) -> bytes:
        try:
            return await asyncio.wait_for(request.content.readany(), self._silent_seconds)
        except asyncio.TimeoutError:
            seconds = f"{self._silent_seconds:.0f} seconds"
            raise Refused(
                f"Nothing more of the body came for {seconds}.", code="timeout", status=408
            ) from None
        except web.RequestPayloadError as error:
            raise InvalidRequest("The body could not be decoded.") from error

    def _parsed(self, shape: Any, content: bytearray) -> Any:
        return parsed(shape, parse_object(content, self._most_values))


def parse_object(content: bytes | bytearray, most_values: int = MOST_VALUES) -> dict[str, Any]:
    """UTF-8 JSON text as a dict; raises `InvalidRequest`, and `Refused` for too many values.
    Pure."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The body is not UTF-8 at byte {error.start}.") from error
    check_values(text, most_values)
    try:
        value = loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidRequest(f"The body is not JSON: {error.msg} at {place}.") from error
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:  # Python's own limit on the digits of a whole number
        raise InvalidRequest("The body holds a number with too many digits.") from error
    if not isinstance(value, dict):
        raise InvalidRequest(f"The body must be a JSON object, not {kind_of(value)}.")
    _check_depth(value)
    if _SURROGATE_ESCAPE.search(text):
        whole: dict[str, Any] = _with_whole_characters(value)
        return whole
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return
    raise _too_deep()


def _with_whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, dict):
        return {
            _with_whole_characters(key): _with_whole_characters(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_whole_characters(item) for item in value]
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidRequest(f"The body holds {name}, which is not JSON.")


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise InvalidRequest(f"The body holds a number that is too large: {literal[:40]}.")
    return number


def _too_large() -> Refused:
    megabytes = MAX_BODY_BYTES // (1024 * 1024)
    return Refused(
        f"The request is larger than {megabytes} MB. Send smaller or fewer attachments.",
        code="too_large",
        status=413,
    )


def _busy() -> Refused:
    return Refused(
        "Too many large requests come in at once. Try again.",
        code="busy",
        status=503,
        retry_after=RETRY_SECONDS,
    )


def _too_deep() -> InvalidRequest:
    return InvalidRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")
