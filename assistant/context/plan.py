"""history -> plan: the stages of R13 in order, and a report of what each did.

The plan is a value: the messages of one request and its report. The same input gives the same
bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..config import Settings
from ..errors import AssistantError, ContextOverflow, InvalidRequest
from ..messages.prompt import PromptMessage
from .groups import groups_of, protected
from .history import Kept, from_first_user, limit_messages, limit_tokens
from .rendering import alternate
from .repair import repair
from .report import PARTS, Report, Size
from .system import SystemText, has_system, is_first_turn, with_system
from .tokens import (
    CHARS_PER_TOKEN,
    MESSAGE_TOKENS,
    message_chars,
    message_tokens,
    schema_text,
    text_tokens,
)
from .tool_results import admit_results, clamp_long_results, omit_old_results
from .validator import faults
from .window import Window

RESULT_SHARE = 2
"""The results of one round may have at most this part of the prompt: a half."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What a plan must fit: the window, and whether the server wants strict alternation."""

    window: Window = field(default_factory=Window)
    alternation: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """One request: its messages, its tools as they are sent, and what was done to get there."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[Mapping[str, Any], ...]
    report: Report


def plan(
    history: Iterable[PromptMessage],
    system: SystemText | None,
    tools: tuple[Mapping[str, Any], ...],
    settings: Settings,
    budget: Budget,
) -> Plan:
    """The request for a history whose last user message is to be answered.

    Raises InvalidRequest when there is nothing to answer, and ContextOverflow when even the last
    message does not fit a window that is known.
    """
    given = tuple(history)
    if not _asks(given):
        raise InvalidRequest("expected a last user message with some content", where="messages")
    repaired = repair(given)
    used = None if has_system(repaired.messages) else system
    messages = with_system(repaired.messages, used)
    omitted = omit_old_results(messages, settings.tool_result_keep_last_rounds)
    clamped = clamp_long_results(omitted.messages, settings.tool_output_trim_chars)
    room = budget.window.prompt - _fixed_tokens(messages, tools)
    largest = min(budget.window.prompt // RESULT_SHARE, room - _asked_tokens(messages))
    admitted = admit_results(clamped.messages, largest)
    recent = limit_messages(admitted.messages, settings.history_max_messages)
    fitting = limit_tokens(recent.messages, room, message_tokens)
    opened = from_first_user(fitting.messages) if budget.alternation else Kept(fitting.messages)
    chosen = alternate(opened.messages) if budget.alternation else opened.messages
    limits = {
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS": omitted.rounds,
        "LLM_TOOL_OUTPUT_TRIM_CHARS": clamped.results,
        "LLM_HISTORY_MAX_MESSAGES": recent.left_out,
        "LLM_CONTEXT_WINDOW": admitted.results + fitting.left_out,
    }
    report = Report(
        first_turn=is_first_turn(given),
        system_kind=used.kind if used else "client",
        parts=_sizes(chosen, used, tools),
        window=budget.window.tokens,
        reserve=budget.window.reserve,
        limits_applied=(*(used.limits if used else ()), *(n for n, c in limits.items() if c)),
        left_out=used.left_out if used else (),
        rounds_omitted=omitted.rounds,
        results_clamped=clamped.results + admitted.results,
        messages_trimmed=recent.left_out + fitting.left_out + opened.left_out,
        messages_sent=sum(message.role != "system" for message in chosen),
        repairs=repaired.changes,
    )
    _check(chosen, report, budget)
    return Plan(chosen, tools, report)


def _asks(history: tuple[PromptMessage, ...]) -> bool:
    users = [message for message in history if message.role == "user"]
    return bool(users) and not users[-1].is_empty


def _fixed_tokens(messages: tuple[PromptMessage, ...], tools: tuple[Mapping[str, Any], ...]) -> int:
    """What stands in every request: system messages and tool schemas."""
    system = sum(message_tokens(message) for message in messages if message.role == "system")
    return system + text_tokens(schema_text(tools))


def _asked_tokens(messages: tuple[PromptMessage, ...]) -> int:
    """What stands in the request whatever is cut, the newest round's results aside."""
    groups = groups_of(messages)
    kept = [message for index in protected(groups) for message in groups[index].messages]
    return sum(MESSAGE_TOKENS if m.role == "tool" else message_tokens(m) for m in kept)


def _sizes(
    messages: tuple[PromptMessage, ...],
    system: SystemText | None,
    tools: tuple[Mapping[str, Any], ...],
) -> dict[str, Size]:
    """The parts of the report; `current` is the last user message, `system` without user
    context."""
    sizes = dict.fromkeys(PARTS, Size())
    last_user = max(n for n, message in enumerate(messages) if message.role == "user")
    for number, message in enumerate(messages):
        name = {"system": "system", "tool": "tool_results"}.get(message.role, "history")
        name = "current" if number == last_user else name
        sizes[name] += Size(message_chars(message), message_tokens(message))
    if system is not None and system.user_context_chars:
        share = Size(system.user_context_chars, system.user_context_chars // CHARS_PER_TOKEN)
        sizes["user_context"] = share
        whole = sizes["system"]
        sizes["system"] = Size(whole.chars - share.chars, max(0, whole.tokens - share.tokens))
    schemas = schema_text(tools)
    sizes["tool_schemas"] = Size(len(schemas), text_tokens(schemas))
    return sizes


def _check(messages: tuple[PromptMessage, ...], report: Report, budget: Budget) -> None:
    """Raises rather than lets a request leave that must fail."""
    if found := faults(messages, alternation=budget.alternation):
        raise AssistantError(f"The request would be invalid: {'; '.join(found)}.")
    window = budget.window
    if window.known and report.total.tokens > window.tokens - window.margin:
        raise ContextOverflow(
            f"Your message needs about {report.total.tokens:,} tokens and the model's window has "
            f"{window.tokens:,}: shorten it, or choose a model with a larger window."
        )
