"""The responses of handlers: JSON, an empty body, or an error, which always has the same shape.

{"error": {"code": "not_found", "message": "There is no chat with this id."}}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from ..errors import AssistantError, Conflict, InvalidRequest, ProviderError, Refused
from ..messages.json_pieces import is_large, pieces_in_thread, whole
from .sending import LargeAnswer

JSON = "application/json; charset=utf-8"
INTERNAL = "Something went wrong inside the assistant. ComfyUI's log says more."


def answer(
    body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """The body as JSON; `Message` objects in it are written as clients see them. A large body is
    encoded in a thread, in pieces, while it is sent."""
    given = {"Content-Type": JSON, **(headers or {})}
    if is_large(body):
        return LargeAnswer(pieces_in_thread(body), status=status, headers=given)
    return web.Response(body=whole(body), status=status, headers=given)


def nothing() -> web.Response:
    return web.Response(status=204)


def error_answer(error: AssistantError) -> web.Response:
    """The error as JSON with its status.

    The `extra` of a `Refused` goes into the error object. The `extra` of a `Conflict`, which says
    which chat is busy, goes beside it. An error with `retry_after` also sends `Retry-After`.
    """
    problem: dict[str, Any] = {"code": error.code, "message": error.message}
    body: dict[str, Any] = {"error": problem}
    retry_after: float | None = None
    if isinstance(error, Refused):
        problem.update(error.extra)
        retry_after = error.retry_after
    elif isinstance(error, InvalidRequest) and error.where:
        problem["where"] = error.where
    elif isinstance(error, Conflict):
        body.update(error.extra)
    elif isinstance(error, ProviderError):
        problem["actions"] = list(error.actions)
        if error.detail:
            problem["detail"] = error.detail
        retry_after = error.retry_after
    headers = {} if retry_after is None else {"Retry-After": str(math.ceil(max(0.0, retry_after)))}
    return answer(body, error.status, headers)


def internal_error() -> web.Response:
    """The response to an unexpected exception, without the exception's text."""
    return answer({"error": {"code": "internal", "message": INTERNAL}}, 500)
