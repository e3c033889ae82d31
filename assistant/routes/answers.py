"""The responses of handlers: JSON, an empty body, or an error, which always has the same shape.

{"error": {"code": "not_found", "message": "There is no chat with this id."}}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from ..errors import AssistantError, Conflict, InvalidRequest, ProviderError, Refused

INTERNAL = "Something went wrong inside the assistant. ComfyUI's log says more."


def answer(
    body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


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
    return web.json_response(body, status=error.status, headers=headers)


def internal_error() -> web.Response:
    """The response to an unexpected exception, without the exception's text."""
    return web.json_response({"error": {"code": "internal", "message": INTERNAL}}, status=500)
