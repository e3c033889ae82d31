"""Makes a `ProviderError` of a failure at the LLM's server. Pure.

Each message is one sentence with the provider's name and the next step; where no server answers as
it should, also with its address. `wordings` holds the patterns of
servers' error texts; `connection` turns the openai client's exceptions into calls of this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from ..errors import ContextOverflow, ProviderError, RolesRefused, ToolsRefused
from ..messages.foreign_json import foreign_json
from ..messages.json_text import json_text
from .caps import CapReached, Counted
from .network import NetworkFault
from .provider import Provider
from .redaction import without_keys
from .silence import MOST_EMPTY_LINES
from .wordings import (
    NETWORK_FAULTS,
    STATUS_MEANINGS,
    WORDINGS,
    StatusMeaning,
    Wording,
    prompt_leaves_room,
)

LONGEST_WAIT_IN_MINUTES = 60
LONGEST_WAIT_SECONDS = 365 * 24 * 3600.0  # a longer wait that a server asks for counts as this one
EXCERPT = 120  # characters of an unreadable answer that are shown
LONGEST_TEXT = 16_000
"""Characters of a server's error text that are read: the patterns of `wordings` are matched against
each."""
LONGEST_CODE = 200
STATUSES = range(100, 600)
_CAPS: Mapping[Counted, tuple[str, str]] = {
    "line": ("LLM_MAX_LINE_BYTES", "more than {:,} bytes in one piece, so the answer ends here"),
    "calls": (
        "LLM_MAX_CALLS_PER_ROUND",
        "more than {:,} tool calls at once, so the answer ends here and none of them ran",
    ),
    "arguments": (
        "LLM_MAX_ARGUMENT_BYTES",
        "tool calls with more than {:,} bytes of arguments, so the answer ends here and none of "
        "them ran",
    ),
    "text": ("LLM_MAX_ANSWER_BYTES", "more than {:,} bytes of text, so the answer ends here"),
    "reasoning": (
        "LLM_MAX_REASONING_BYTES",
        "more than {:,} bytes of reasoning, so the answer ends here",
    ),
    "pieces": ("", "more than {:,} pieces of an answer, so the answer ends here"),
    "parts": ("", "text and reasoning in turn more than {:,} times, so the answer ends here"),
}
"""The setting of each cap (empty: a fixed limit), and what is said where it is reached."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error answer of a server: HTTP status (or the code inside a stream), text, error code.

    `retry_after` is in seconds, `request_bytes` the size of the request (0: not known).
    """

    status: int
    text: str
    code: str = ""
    retry_after: float | None = None
    request_bytes: int = 0

    @property
    def words(self) -> str:
        """The text that the patterns of `wordings` are matched against."""
        return f"{self.code} {self.text}".strip()


def read_refusal(status: int, headers: Mapping[str, str], body: str, now: datetime) -> Refusal:
    """The refusal in an HTTP error answer; `headers` have lower-case names.

    `now` turns a `Retry-After` date into seconds.
    """
    try:
        value = foreign_json(body)
    except ValueError:
        value = body
    refusal = refusal_in(value, status)
    return Refusal(status, refusal.text, refusal.code, _retry_after(headers, now))


def refusal_in(value: Any, status: int = 0) -> Refusal:
    """The error in a body or a chunk: `{"error": {...}}`, `{"error": "..."}`, `{"detail": ...}`."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, Mapping):
        return Refusal(status, str(value or "")[:LONGEST_TEXT])
    inner = value.get("error", value)
    if not isinstance(inner, Mapping):
        return Refusal(status, str(inner)[:LONGEST_TEXT])
    code = inner.get("code")
    if not status and isinstance(code, int) and code in STATUSES:
        status = code
    words = next((inner[k] for k in ("message", "detail", "msg") if inner.get(k)), inner)
    text = words if isinstance(words, str) else json_text(words)
    raw = inner.get("metadata")
    if isinstance(raw, Mapping) and isinstance(raw.get("raw"), str):
        # OpenRouter puts the upstream server's text there.
        text = f"{text[:LONGEST_TEXT]}: {raw['raw'][:LONGEST_TEXT]}"
    kinds = [str(inner[k])[:LONGEST_CODE] for k in ("code", "type") if inner.get(k) is not None]
    return Refusal(status, text[:LONGEST_TEXT], " ".join(kinds))


def refused(provider: Provider, refusal: Refusal, *, had_tools: bool = False) -> ProviderError:
    """The error for a refusal: by its text, or else by its status.

    `had_tools` says whether the request had tools; a request without tools is never
    `tools_refused`.
    """
    detail = without_keys(refusal.text, provider.api_key)
    words = {
        "host": provider.title,
        "place": provider.place,
        "model": provider.model or "(none)",
    }
    wait = refusal.retry_after
    for wording in WORDINGS:
        if refusal.status in wording.not_with or not wording.pattern.search(refusal.words):
            continue
        if wording.code == "tools_refused" and not had_tools:
            continue
        code = wording.code
        if code == "context_overflow" and prompt_leaves_room(refusal.text):
            return output_limit(provider, detail)
        happened, sentence = _said(wording, words)
        if code == "context_overflow":
            return ContextOverflow(sentence, detail=detail)
        if code == "roles_refused":
            return RolesRefused(sentence, detail=detail)
        if code == "tools_refused":
            return ToolsRefused(sentence, detail=detail)
        wait = wording.retry_after if wait is None else wait
        return ProviderError(
            sentence,
            code=code,
            actions=wording.actions,
            detail=detail,
            retry_after=wait,
            happened=happened,
        )
    fitting = (m for m in STATUS_MEANINGS if m.first <= refusal.status <= m.last)
    meaning = next(fitting, STATUS_MEANINGS[-1])
    waiting = (
        f" It asks to wait {_duration(wait)}." if wait and meaning.code == "rate_limited" else ""
    )
    size = f" ({_size(refusal.request_bytes)})" if refusal.request_bytes else ""
    happened, sentence = _said(meaning, {"status": str(refusal.status), "size": size, **words})
    return ProviderError(
        sentence + waiting,
        code=meaning.code,
        actions=meaning.actions,
        detail=detail,
        retry_after=wait,
        happened=happened,
    )


def _said(meaning: Wording | StatusMeaning, words: Mapping[str, str]) -> tuple[str, str]:
    """What happened, and the same with the advice that belongs after it."""
    sentence = meaning.sentence.format(**words)
    if not meaning.advice:
        return sentence, sentence
    return f"{sentence}.", f"{sentence}: {meaning.advice}."


def output_limit(provider: Provider, detail: str = "") -> ProviderError:
    message = (
        f"{provider.title} allows no answer as long as LLM_MAX_OUTPUT_TOKENS asks for with "
        f"{provider.model}: set it lower, or leave it empty."
    )
    return ProviderError(message, code="output_limit", actions=("choose-model",), detail=detail)


def unreachable(
    provider: Provider, reason: str, fault: NetworkFault = "no_answer"
) -> ProviderError:
    """No connection was made; `reason` is the network library's text."""
    start = "start the server (such as Ollama) or " if provider.local else ""
    return ProviderError(
        NETWORK_FAULTS[fault].format(host=provider.place, start=start),
        code="unreachable",
        actions=("open-settings",) if fault == "link_local" else ("retry", "open-settings"),
        detail=without_keys(reason, provider.api_key),
    )


def timed_out(provider: Provider, seconds: float, *, started: bool) -> ProviderError:
    """No bytes came for `seconds`, before the answer or, if it had `started`, within it."""
    if started:
        sentence = (
            f"{provider.title} fell silent for {_duration(seconds)} in the middle of its answer."
        )
        return ProviderError(sentence, code="timeout", actions=("continue", "retry"))
    sentence = (
        f"{provider.place} did not answer within {_duration(seconds)}: the model may still be "
        "loading or be too large for that machine; try again, or raise LLM_TIMEOUT_SECONDS."
    )
    return ProviderError(sentence, code="timeout", actions=("retry", "choose-model"))


def silent(provider: Provider, seconds: float, *, started: bool) -> ProviderError:
    """The connection was kept busy, but nothing of an answer came."""
    message = (
        f"{provider.title} keeps the connection open, but sent nothing of an answer for "
        f"{_duration(seconds)} or {MOST_EMPTY_LINES:,} lines: try again, or choose another model."
    )
    actions = ("continue", "retry") if started else ("retry",)
    return ProviderError(message, code="timeout", actions=(*actions, "choose-model"))


def too_large(provider: Provider, reached: CapReached, *, started: bool) -> ProviderError:
    """The answer ended at a cap; what came before it is kept."""
    setting, what = _CAPS[reached.counted]
    where = f" ({setting})" if setting else ""
    message = f"{provider.title} sent {what.format(reached.most)}{where}."
    actions = ("continue", "retry") if started else ("retry",)
    return ProviderError(message, code="too_large", actions=(*actions, "choose-model"))


def cut(provider: Provider, *, started: bool, detail: str = "") -> ProviderError:
    """The connection broke, or the stream ended without a finish reason."""
    actions = ("continue", "retry") if started else ("retry",)
    advice = "you can let it continue" if started else "try again"
    message = f"The answer from {provider.title} broke off before its end: {advice}."
    return ProviderError(
        message, code="cut", actions=actions, detail=without_keys(detail, provider.api_key)
    )


def garbage(provider: Provider, excerpt: str, *, started: bool = False) -> ProviderError:
    """An answer, or a piece of it, that does not follow the protocol."""
    if started:
        message = f"{provider.title} sent something unreadable in the middle of its answer."
        actions = ("continue", "retry")
    else:
        message = (
            f"{provider.place} answered, but not as an LLM server does: check that the address is "
            "that of an OpenAI-compatible API (it usually ends in /v1)."
        )
        actions = ("open-settings", "retry")
    words = " ".join(excerpt[:LONGEST_TEXT].split())
    detail = without_keys(words, provider.api_key, longest=EXCERPT)
    return ProviderError(message, code="garbage", actions=actions, detail=detail)


def empty(provider: Provider) -> ProviderError:
    message = (
        f"{provider.model or 'The model'} at {provider.title} gave an empty answer: try again, or "
        "choose another model."
    )
    return ProviderError(message, code="empty", actions=("retry", "choose-model"))


def redirected(provider: Provider, target: str) -> ProviderError:
    """A redirect, which is not followed: the key and the chat are for the configured host."""
    message = f"{provider.place} sends us to another address: set the one that it moved to."
    detail = without_keys(target, provider.api_key)
    return ProviderError(message, code="unreachable", actions=("open-settings",), detail=detail)


def unusable_key(provider: Provider) -> ProviderError:
    message = (
        f"The key for {provider.title} holds characters that no key has (a line break, or letters "
        "outside ASCII): enter it again."
    )
    return ProviderError(message, code="key_refused", actions=("enter-key", "open-settings"))


def not_installed(error: ImportError) -> ProviderError:
    """A package that the plugin needs cannot be imported: its requirements were not installed, or
    with another Python."""
    message = (
        f"The Python package {error.name or 'openai'} is missing: install requirements.txt of the "
        "plugin's folder with the Python that starts ComfyUI, then restart ComfyUI."
    )
    return ProviderError(message, code="not_installed")


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds of `Retry-After-Ms` or `Retry-After` (seconds, or a date as in RFC 9110)."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    text = headers.get("retry-after", "").strip()
    for value, factor in ((milliseconds, 0.001), (text, 1.0)):
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return min(float(value) * factor, LONGEST_WAIT_SECONDS)
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return min(max(0.0, (moment - now).total_seconds()), LONGEST_WAIT_SECONDS)


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes <= LONGEST_WAIT_IN_MINUTES else f"{round(minutes / 60)} h"
