"""Makes the report of a draft: figures only, no text of the conversation (R18, R32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import report_parts as parts
from .compaction_policy import triggers
from .draft import CountedMessage, Draft
from .handles import range_handle
from .left_out import LeftOut
from .limits import Limits
from .log import ChatLog
from .projections import Projections
from .report import PARTS, Report, Size, TriggerState
from .system import SystemText
from .tokens import CHARS_PER_TOKEN, TextTokens, message_chars, schema_text, schema_tokens
from .window import Budget

PART_OF_ROLE = {"system": parts.SYSTEM, "tool": parts.TOOL_RESULTS}


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
    omitted, trimmed, fitted, repeated = _shortened(draft)
    cuts = projections.cuts
    handles = [range_handle(cuts[0].first, projections.end)] if cuts else []
    handles += [item.handle for item in shortened]
    cut = projections.end - cuts[0].first if cuts else 0
    cut += sum(len(group) for group in draft.dropped)
    changes = {
        "LLM_REPEAT_MIN_CHARS": repeated,
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS": omitted,
        "LLM_TOOL_OUTPUT_TRIM_CHARS": trimmed,
        # Each cut has stored the limit that asked for it; "" is a cut by the user.
        **{cut.limit: 1 for cut in cuts if cut.limit},
        **({limits.room_setting: 1} if draft.forced else {}),
        **({limits.trigger_setting: 1} if fitted and not draft.forced else {}),
        **{placed.note.kind.setting: 1 for placed in draft.notes if placed.note.kind.setting},
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
        results_clamped=trimmed + fitted,
        results_repeated=repeated,
        messages_trimmed=cut,
        messages_sent=draft.count,
        repairs=log.repairs,
        strength=_strength(omitted, trimmed + fitted + repeated, cut),
        summarised=projections.summary.messages if projections.summary else 0,
        cuts=len(cuts),
        emergency=draft.forced,
        triggers=tuple(
            TriggerState(each.what, each.setting, each.now, each.at)
            for each in triggers(draft, limits)
        ),
        summarises=limits.summarise,
    )


def _shortened(draft: Draft) -> tuple[int, int, int, int]:
    """The numbers of rounds sent as digests, of results within their own limit, of results
    shortened to make the request fit, and of messages replaced because an earlier message has the
    same content."""
    omitted = trimmed = fitted = repeated = 0
    for sent, whole in zip(draft.tail, draft.whole, strict=True):
        if sent is whole:
            continue
        changed = [
            new
            for new, old in zip(sent.messages, whole.messages, strict=True)
            if new.content != old.content
        ]
        repeated += sum(message.reduced == "repeat" for message in changed)
        results = [message.reduced for message in changed if message.role == "tool"]
        omitted += "digest" in results
        trimmed += results.count("trim")
        fitted += results.count("fit")
    return omitted, trimmed, fitted, repeated


def _strength(omitted: int, shorter: int, cut: int) -> str:
    """How strongly the request is compressed, in the words of R18."""
    if cut:
        return "High"
    if omitted:
        return "Medium"
    return "Low" if shorter else "Absent"


def _sizes(
    draft: Draft,
    system: SystemText | None,
    tools: tuple[Mapping[str, Any], ...],
    count: TextTokens | None,
) -> dict[str, Size]:
    """The size of each part by its name. `current` is the last user message; `system` does not
    include the user context."""
    sizes = {part.name: Size() for part in PARTS}
    for counted in draft.system:
        sizes[parts.SYSTEM.name] += _size(counted)
    if draft.summary is not None:
        sizes[parts.SUMMARY.name] += _size(draft.summary)
    for placed in draft.notes:
        sizes[placed.note.kind.part.name] += _size(placed.counted)
    groups = (*draft.head, *draft.asked, *draft.tail)
    last_user = max(index for index, group in enumerate(groups) if group.role == "user")
    for index, group in enumerate(groups):
        for message, tokens in zip(group.messages, group.sizes, strict=True):
            part = PART_OF_ROLE.get(message.role, parts.HISTORY)
            part = parts.CURRENT if index == last_user else part
            sizes[part.name] += Size(message_chars(message), tokens)
    if system is not None and system.user_context_chars:
        share = Size(system.user_context_chars, system.user_context_chars // CHARS_PER_TOKEN)
        sizes[parts.USER_CONTEXT.name] = share
        whole = sizes[parts.SYSTEM.name]
        rest = Size(whole.chars - share.chars, max(0, whole.tokens - share.tokens))
        sizes[parts.SYSTEM.name] = rest
    schemas = schema_text(tools)
    sizes[parts.TOOL_SCHEMAS.name] = Size(len(schemas), schema_tokens(schemas, count))
    return sizes


def _size(counted: CountedMessage) -> Size:
    return Size(message_chars(counted.message), counted.tokens)
