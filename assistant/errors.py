"""The exceptions of the assistant, in one tree.

    AssistantError                 base class; `message` is one sentence for the user
    +-- InvalidRequest             400: the request has a wrong form; `where` is the wrong field
    +-- Refused                    401/403/413/415/429: the request is not allowed
    +-- NotAWorkflow               422: what was to be read as a workflow is none
    +-- NotFound                   404: the thing does not exist
    +-- Conflict                   409: the thing exists already, or its state does not allow this
    +-- NotLoaded                  503: the assistant's modules could not be loaded
    +-- StoreError                 503: the database could not be read or written
        +-- FileFailed             ... because its file is read-only, locked or damaged, or the disk
                                   is full
    +-- ToolError                  a tool failed; the model reads the message
    +-- ProviderError              502: a request to the LLM's server failed; has the next steps
        +-- ContextOverflow        the request is larger than the model's window
        +-- ToolsRefused           the server does not accept `tools`
        +-- RolesRefused           the server accepts only alternating user and assistant messages

Each message says what happened and, where there is one, the next step. `code` is short and stable:
the panel, the tests and other clients compare it. Messages never contain keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class AssistantError(Exception):
    """The base class. `message` is one sentence for the user."""

    code = "internal"
    status = 500

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class InvalidRequest(AssistantError):
    """A request of a wrong form. `where` is a path such as `messages[2].parts[0].type`."""

    code = "invalid_request"
    status = 400

    def __init__(self, message: str, *, where: str = "", code: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message, code=code)
        self.where = where


class Refused(AssistantError):
    """A request that is not allowed.

    `extra` are further fields of the response's error object; `retry_after` is in seconds.
    """

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


class NotAWorkflow(AssistantError):
    """A file or a message's graph that is no workflow, or one too large to be worked with."""

    code = "not_a_workflow"
    status = 422


class NotFound(AssistantError):
    """The requested thing does not exist."""

    code = "not_found"
    status = 404


class Conflict(AssistantError):
    """The thing exists already, or its state does not allow the request.

    `extra` are further fields of the response, beside its error object.
    """

    code = "conflict"
    status = 409

    def __init__(
        self, message: str, *, code: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, code=code)
        self.extra = dict(extra or {})


class NotLoaded(AssistantError):
    """The assistant could not be imported or built when ComfyUI started."""

    code = "not_loaded"
    status = 503


class StoreError(AssistantError):
    """The database could not be read or written."""

    code = "store_failed"
    status = 503


class FileFailed(StoreError):
    """The database's file cannot be read or written now; a later try may succeed.

    `damaged` is True when the content of the file is the cause.
    """

    def __init__(self, message: str, *, damaged: bool = False) -> None:
        super().__init__(message)
        self.damaged = damaged


class ToolError(AssistantError):
    """A tool failed. The model reads the message, so the message names a call that would work."""

    code = "tool_failed"


class ProviderError(AssistantError):
    """A request to the LLM's server failed, or could not be made.

    `code` is one of `CODES`; `happened` is the message without its advice, for as long as the
    request is tried again; `actions` are the next steps that the panel offers, the likeliest
    first; `detail` is the server's error text without keys, which the panel shows on demand;
    `retry_after` is in seconds, if the server sent it.
    """

    status = 502
    CODES = frozenset(
        (
            "no_provider unreachable key_refused unknown_model rate_limited no_credit timeout "
            "provider_error cut garbage empty too_large content_filter context_overflow "
            "output_limit bad_request tools_refused not_installed"
        ).split()
    )
    ACTIONS = frozenset(
        (
            "retry continue open-settings enter-key choose-model new-chat edit remove-attachment"
        ).split()
    )

    def __init__(
        self,
        message: str,
        *,
        code: str,
        actions: tuple[str, ...] = ("retry",),
        detail: str = "",
        retry_after: float | None = None,
        happened: str = "",
    ) -> None:
        if code not in self.CODES:
            raise ValueError(f"unknown provider error code {code!r}")
        if unknown := set(actions) - self.ACTIONS:
            raise ValueError(f"unknown actions {sorted(unknown)}")
        super().__init__(message, code=code)
        self.actions = actions
        self.detail = detail
        self.retry_after = retry_after
        self.happened = happened or message


class ContextOverflow(ProviderError):
    """The request is larger than the model's window."""

    def __init__(
        self,
        message: str,
        *,
        actions: tuple[str, ...] = ("new-chat", "choose-model"),
        detail: str = "",
    ) -> None:
        super().__init__(message, code="context_overflow", actions=actions, detail=detail)


class ToolsRefused(ProviderError):
    """The server does not accept `tools`; the same request without them may work."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message, code="tools_refused", actions=("choose-model",), detail=detail)


class RolesRefused(ProviderError):
    """The server accepts only alternating user and assistant messages; the request may work when
    its messages are joined so."""

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message, code="bad_request", actions=("choose-model",), detail=detail)


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault in the configuration, as a sentence for the user.

    `hides_provider` is True where the fault hides which provider the user chose.
    """

    code: str
    message: str
    variable: str | None = None
    hides_provider: bool = False
