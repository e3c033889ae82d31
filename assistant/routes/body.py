"""A request's body: read within its limit, parsed strictly, its fields by type.

Whatever a client sends, `read_json` gives an object of plain JSON values that can be stored and
sent on, or raises. What the values mean is the handlers' business.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from aiohttp import web

from ..errors import InvalidRequest, Refused
from ..messages.json_text import mended

MAX_BODY_BYTES = 32 * 1024 * 1024
"""Bytes, counted while reading: ComfyUI's own limit may be larger or smaller."""
MAX_DEPTH = 100
"""Objects and lists within each other. Deeper ones would exhaust Python's stack later on."""
LONGEST_SHOWN = 80
"""Characters of a client's own field name that an error repeats."""
PARSE_INLINE_BYTES = 64 * 1024
"""Larger bodies are parsed in a thread, so that the event loop goes on meanwhile."""

_MEDIA_TYPE = "application/json"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


async def read_json(request: web.Request) -> dict[str, Any]:
    """The body as a JSON object.

    Raises `Refused` for another media type (415) and for more than 32 MB (413), `InvalidRequest`
    for what is no JSON object, saying what is wrong and where. Half a character (`"\\ud83d"` alone)
    becomes U+FFFD, as browsers encode it.
    """
    if request.content_type != _MEDIA_TYPE:
        raise Refused(
            f"Expected a body of type {_MEDIA_TYPE}.", code="unsupported_media_type", status=415
        )
    content = await _read(request)
    if len(content) <= PARSE_INLINE_BYTES:
        return parse_object(content)
    return await asyncio.to_thread(parse_object, content)


async def refuse_fields(request: web.Request) -> None:
    """For handlers that take no fields: the body must be empty, or `{}`."""
    if request.can_read_body:
        only(await read_json(request))


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
        raise InvalidRequest(f"The body must be a JSON object, not {_kind(value)}.")
    _check_depth(value)
    if _SURROGATE_ESCAPE.search(text):
        whole: dict[str, Any] = _with_whole_characters(value)
        return whole
    return value


def text(body: Mapping[str, Any], name: str, *, most: int, least: int = 1) -> str:
    """The string `name` of `least` to `most` characters; raises `InvalidRequest`."""
    value = body.get(name)
    if not isinstance(value, str):
        raise InvalidRequest(f"expected a string, got {_got(body, name)}", where=name)
    if not least <= len(value) <= most:
        raise InvalidRequest(f"expected {least} to {most} characters, got {len(value)}", where=name)
    return value


def optional_text(body: Mapping[str, Any], name: str, *, most: int) -> str | None:
    """The string `name` of at most `most` characters, None where it is missing or null."""
    return None if body.get(name) is None else text(body, name, most=most, least=0)


def optional_integer(body: Mapping[str, Any], name: str, *, low: int, high: int) -> int | None:
    """The whole number `name` from `low` to `high`, None where it is missing or null."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRequest(f"expected a whole number, got {_got(body, name)}", where=name)
    if not low <= value <= high:
        raise InvalidRequest(f"expected a whole number from {low} to {high}", where=name)
    return value


def only(body: Mapping[str, Any], *names: str) -> None:
    """Raises `InvalidRequest` for a field that is none of `names`."""
    for name in body:
        if name not in names:
            expected = f"one of {', '.join(names)}" if names else "no fields"
            raise InvalidRequest(f"unknown field; expected {expected}", where=name[:LONGEST_SHOWN])


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
    """Called for each object, so that a thread that parses lets the event loop run in between: the
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


def _got(body: Mapping[str, Any], name: str) -> str:
    return _kind(body[name]) if name in body else "nothing"


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)
