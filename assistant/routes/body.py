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
from ..messages.json_text import mended
from ..validation import NoFields, kind_of, parsed

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Bytes, counted while reading: ComfyUI's own limit may be larger or smaller."""
MAX_DEPTH = 100
"""Objects and lists within each other. Deeper ones would exhaust Python's stack later on."""
PARSE_INLINE_BYTES = 64 * 1024
"""Larger bodies are parsed in a thread, so that the event loop goes on meanwhile."""

_MEDIA_TYPE = "application/json"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


async def read_body(request: web.Request, shape: Any) -> Any:
    """The body in this shape (`validation.parsed`).

    Raises `Refused` for another media type (415) and for more than 32 MB (413), `InvalidRequest`,
    with the place of the fault, for a body that is no JSON object or has another shape. Half a
    character (`"\\ud83d"` alone) becomes U+FFFD, as browsers encode it.
    """
    if shape is NoFields and not request.can_read_body:
        return NoFields()
    if request.content_type != _MEDIA_TYPE:
        raise Refused(
            f"Expected a body of type {_MEDIA_TYPE}.", code="unsupported_media_type", status=415
        )
    content = await _read(request)
    if len(content) <= PARSE_INLINE_BYTES:
        return parsed(shape, parse_object(content))
    return await asyncio.to_thread(lambda: parsed(shape, parse_object(content)))


async def _read(request: web.Request) -> bytes:
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise _too_large()
    content = bytearray()
    try:
        async for chunk in request.content.iter_any():
            if len(content) + len(chunk) > MAX_BODY_BYTES:
                raise _too_large()
            content += chunk
    except web.RequestPayloadError as error:
        raise InvalidRequest("The body could not be decoded (chunks or compression).") from error
    return bytes(content)


def parse_object(content: bytes) -> dict[str, Any]:
    """UTF-8 JSON text as a dict; raises `InvalidRequest`. Pure."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The body is not UTF-8 at byte {error.start}.") from error
    try:
        value = json.loads(
            text, object_hook=_as_it_is, parse_constant=_refuse_constant, parse_float=_finite
        )
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


def _as_it_is(value: dict[str, Any]) -> dict[str, Any]:
    """Called for each object: Python code that lets the event loop run while a thread parses. The
    parser itself is C and would keep the interpreter for the whole body."""
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


def _too_deep() -> InvalidRequest:
    return InvalidRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")
