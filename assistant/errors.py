"""Everything that we raise on purpose, in one tree.

    AssistantError                 what happened, in one sentence that a user can read
    +-- InvalidRequest             400: a request that we cannot understand, and where it went wrong
    +-- Refused                    403/401/413/415/429: a request that we will not serve
    +-- NotFound                   404
    +-- Conflict                   409: the thing exists already, or is busy
    +-- StoreError                 the database could not be read or written
        +-- FileFailed             ... because its file fails: full, read-only, locked, damaged
    +-- ToolError                  a tool could not do its work; the model reads the sentence
    +-- ProviderError              the LLM's server failed us; says the user's next steps
        +-- ContextOverflow        the request is larger than the model's window
        +-- ToolsRefused           the server does not take `tools`
        +-- RolesRefused           the server wants user and assistant in turns

Every error says what happened and, where there is one, the next step. `code` is stable and short:
it is what the panel, the tests and other clients look at. Messages never contain keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AssistantError(Exception):
    """The base of all errors that we raise on purpose. `message` is one sentence for the user."""

    code = "internal"
    status = 500

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidRequest(AssistantError):
    """A request that we cannot understand. `where` is a path such as
    `messages[2].parts[0].type`."""

    code = "invalid_request"
    status = 400

    def __init__(self, message: str, *, where: str = "", code: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message, code=code)
        self.where = where


class Refused(AssistantError):
    """A request that we understand and will not serve. `extra` goes into the answer's error
    object."""

    code = "refused"
    status = 403

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int = 403,
        extra: Mapping[str, Any] | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.status = status
        self.extra = dict(extra or {})
        self.retry_after = retry_after


class NotFound(AssistantError):
    """What was asked for does not exist."""

    code = "not_found"
    status = 404


class Conflict(AssistantError):
    """The thing exists already, or is in a state that does not allow this. `extra` says more."""

    code = "conflict"
    status = 409

    def __init__(
        self, message: str, *, code: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.extra = dict(extra or {})


class StoreError(AssistantError):
    """The database could not be read or written."""

    code = "store_failed"
    status = 503


class FileFailed(StoreError):
    """The database's file cannot be read or written now. It may go on by itself. `damaged` says
    that it is because of what is in it."""

    def __init__(self, message: str, *, damaged: bool = False) -> None:
        super().__init__(message)
        self.damaged = damaged


class ToolError(AssistantError):
    """A tool could not do its work. The model reads the message, so it says what would work."""

    code = "tool_failed"


class ProviderError(AssistantError):
    """The LLM's server failed us.

    `code` is one of the values below; `actions` are the panel's next steps, the likeliest first;
    `detail` is the server's own wording, with keys removed, for the fold below the sentence.
    `retry_after` is in seconds, where the server said so.
    """

    status = 502
    CODES = frozenset(
        (
            "no_provider unreachable key_refused unknown_model rate_limited provider_error timeout "
            "cut garbage empty content_filter context_overflow output_limit bad_request "
            "tools_refused"
        ).split()
    )
    ACTIONS = frozenset("retry continue open-settings enter-key choose-model new-chat".split())

    def __init__(
        self,
        message: str,
        *,
        code: str,
        actions: tuple[str, ...] = ("retry",),
        detail: str = "",
        retry_after: float | None = None,
    ) -> None:
        if code not in self.CODES:
            raise ValueError(f"unknown provider error code {code!r}")
        if unknown := set(actions) - self.ACTIONS:
            raise ValueError(f"unknown actions {sorted(unknown)}")
        super().__init__(message, code=code)
        self.actions = actions
        self.detail = detail
        self.retry_after = retry_after


class ContextOverflow(ProviderError):
    """The request is larger than the model's window."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(
            message, code="context_overflow", actions=("new-chat", "choose-model"), detail=detail
        )


class ToolsRefused(ProviderError):
    """The server does not take `tools`; the same request without them may work."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message, code="tools_refused", actions=("choose-model",), detail=detail)


class RolesRefused(ProviderError):
    """The server wants user and assistant in turns; the same request so rendered may work."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message, code="bad_request", actions=("choose-model",), detail=detail)
