"""A draft -> its report: figures only, no text of the conversation (R18, R32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .draft import Counted, Draft
from .handles import range_handle
from .left_out import LeftOut
from .limits import Limits
from .log import ChatLog
from .projections import Projections
from .report import PARTS, Report, Size
from .system import SystemText
from .tokens import CHARS_PER_TOKEN, TextTokens, message_chars, schema_text, schema_tokens
from .window import Budget


def report_of(
    draft: Draft,
    log: ChatLog,
    system: SystemText | None,
    tools: tuple[Mapping[str, Any], ...],
    budget: Budget,
    limits: Limits,
    projections: Projections,
    shortened: Sequence[LeftOut],
) -> Report:
    """The report of a draft that is about to be sent."""
    used = None if log.systems else system
    omitted, clamped, repeated = _shortened(draft)
    cuts = projections.cuts
    handles = [range_handle(cuts[0].first, projections.end)] if cuts else []
    handles += [item.handle for item in shortened]
    cut = projections.end - cuts[0].first if cuts else 0
    cut += sum(len(group) for group in draft.dropped)
    changes = {
        "LLM_REPEAT_MIN_CHARS": repeated,
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS": omitted,
        "LLM_TOOL_OUTPUT_TRIM_CHARS": clamped,
        "LLM_CONTEXT_WINDOW" if limits.cached else "LLM_HISTORY_MAX_MESSAGES": cut,
        "LLM_RECALL_TOKENS": draft.extra is not None and draft.extra.recalled is not None,
        "LLM_WRAP_UP_SHARE": draft.extra is not None and draft.extra.note is not None,
    }
    return Report(
        first_turn=log.first_turn,
        system_kind=used.kind if used else "client",
        parts=_sizes(draft, used, tools, budget.count),
        window=budget.window.tokens,
        reserve=budget.window.reserve,
        limits_applied=(*(used.limits if used else ()), *(n for n, c in changes.items() if c)),
        left_out=(*(used.left_out if used else ()), *handles),
        rounds_omitted=omitted,
        results_clamped=clamped,
        results_repeated=repeated,
        messages_trimmed=cut,
        messages_sent=draft.count,
        repairs=log.repairs,
        strength=_strength(omitted, clamped + repeated, cut),
        summarised=projections.summary.messages if projections.summary else 0,
        cuts=len(cuts),
        emergency=draft.forced,
        next_trigger=_next_trigger(draft, limits) if limits.summarise else None,
    )


def _shortened(draft: Draft) -> tuple[int, int, int]:
    """Rounds that are lines, results that are clamped, and messages that are sent once only."""
    omitted = clamped = repeated = 0
    for shaped, whole in zip(draft.tail, draft.whole, strict=True):
        if shaped is whole:
            continue
        changed = [
            new
            for new, old in zip(shaped.messages, whole.messages, strict=True)
            if new.content != old.content
        ]
        lines = sum(message.reduced == "digest" for message in changed)
        again = sum(message.reduced == "repeat" for message in changed)
        omitted += lines > 0
        repeated += again
        clamped += sum(message.role == "tool" for message in changed) - lines - again
    return omitted, clamped, repeated


def _strength(omitted: int, shorter: int, cut: int) -> str:
    """How strongly the request is compressed, in the words of R18."""
    if cut:
        return "High"
    if omitted:
        return "Medium"
    return "Low" if shorter else "Absent"


def _next_trigger(draft: Draft, limits: Limits) -> dict[str, Any]:
    """The limit that will ask for the next summary first: where it is and how far that is."""
    groups = [group for group in draft.whole if group.role != "system"]
    now = {
        "tokens": (draft.tokens, limits.prompt if limits.cached else limits.trigger),
        "messages": (draft.count, limits.messages),
        "messages since the last summary": (sum(map(len, groups)), limits.since_messages),
        "turns since the last summary": (
            sum(group.role == "user" for group in groups),
            limits.since_turns,
        ),
    }
    shares = {name: (value / at, value, at) for name, (value, at) in now.items() if at > 0}
    name = max(shares, key=lambda name: shares[name][0])
    share, value, at = shares[name]
    return {"what": name, "now": value, "at": at, "share": round(share, 3)}


def _sizes(
    draft: Draft,
    system: SystemText | None,
    tools: tuple[Mapping[str, Any], ...],
    count: TextTokens | None,
) -> dict[str, Size]:
    """The parts of the report; `current` is the last user message, `system` without user
    context."""
    sizes = dict.fromkeys(PARTS, Size())
    for counted in draft.system:
        sizes["system"] += _size(counted)
    if draft.summary is not None:
        sizes["summary"] = _size(draft.summary)
    if draft.extra is not None:
        sizes["recalled"] = _size(draft.extra.recalled) if draft.extra.recalled else Size()
        sizes["history"] = _size(draft.extra.note) if draft.extra.note else Size()
    groups = (*draft.head, *draft.asked, *draft.tail)
    users = [n for n, group in enumerate(groups) if group.role == "user"]
    for number, group in enumerate(groups):
        for place, message in enumerate(group.messages):
            name = {"system": "system", "tool": "tool_results"}.get(message.role, "history")
            name = "current" if number == users[-1] else name
            sizes[name] += Size(message_chars(message), group.sizes[place])
    if system is not None and system.user_context_chars:
        share = Size(system.user_context_chars, system.user_context_chars // CHARS_PER_TOKEN)
        sizes["user_context"] = share
        whole = sizes["system"]
        sizes["system"] = Size(whole.chars - share.chars, max(0, whole.tokens - share.tokens))
    schemas = schema_text(tools)
    sizes["tool_schemas"] = Size(len(schemas), schema_tokens(schemas, count))
    return sizes


def _size(counted: Counted) -> Size:
    return Size(message_chars(counted.message), counted.tokens)
