"""Fidelity: how much of a group is sent (R14, R17, R29).

    FULL       as in the log
    CAPPED     the results of a round together within the room of a request
    CLAMPED    each result within `LLM_TOOL_OUTPUT_TRIM_CHARS`
    DIGESTS    each result as one line (`digest`)
    TEXT_ONLY  digests, and a note instead of each image; for emergencies

Every fidelity keeps the text of user and model, the calls, and the pairing of calls and results. A
shortened result names the handle of its row. A group is never longer at a later fidelity of this
list than at an earlier one.

Results that the running turn is to keep, skills and recalled pages (`ToolFacts.kept`), stay whole
in it at every fidelity but CAPPED and TEXT_ONLY (`GroupReducer.running`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Literal

from ..messages.prompt import ImageContent, PromptMessage, TextContent
from .clamp import ResultClamp, clamp_result
from .clamp_json import fair_share
from .digest import digest
from .handles import row_handle
from .log import Group
from .repeats import Repeats
from .superseded import Superseded
from .tokens import TextTokens, text_tokens

IMAGE_NOTE = "[An image was here.]"
SKILL_LINE = "[Its instructions were for that message; {by} them.]"
NEXT_TRY = 0.97
"""The share of the estimated characters that is tried, since the ends of a text may have more
tokens per character than all of it."""
LEAST_BESIDE_KEPT = 20
"""Tokens that a result has beside results that the turn is to keep."""


class Fidelity(IntEnum):
    FULL = 0
    CAPPED = 1
    CLAMPED = 2
    DIGESTS = 3
    TEXT_ONLY = 4


@dataclass(frozen=True, slots=True)
class FidelityLimits:
    """`round_tokens` is the most tokens of a round's results together, `result_chars` the most
    characters of one result, `repeat_chars` the least characters of a content whose repetitions are
    replaced; 0 switches a limit off."""

    round_tokens: int = 0
    result_chars: int = 0
    repeat_chars: int = 0


class GroupReducer:
    """Reduces groups to a fidelity, each once: the same group and fidelity give the same object."""

    def __init__(self, limits: FidelityLimits) -> None:
        self.limits = limits
        self.repeats = Repeats(limits.repeat_chars)
        self.superseded = Superseded()
        self._reduced: dict[tuple[int, int, Fidelity, str], Group] = {}
        self._levelled: dict[tuple[int, int, int, int], PromptMessage] = {}

    def __call__(self, group: Group, fidelity: Fidelity) -> Group:
        """The group at `fidelity`, with its reasoning, which an open tool loop needs (R19)."""
        if fidelity is Fidelity.FULL or not (group.is_round or fidelity is Fidelity.TEXT_ONLY):
            return group
        key = (group.first, group.end, fidelity, "")
        if key not in self._reduced:
            self._reduced[key] = self._reduce(group, fidelity)
        return self._reduced[key]

    def _digests(self, group: Group) -> Group:
        """Made from results that are not clamped, since a line is mostly shorter than the limit and
        clamping takes time."""
        digests = digested(self(group, Fidelity.CAPPED), group)
        most = self.limits.result_chars
        if most and any(len(result.text) > most for result in digests.results):
            return digested(self(group, Fidelity.CLAMPED), group)
        return digests

    def levelled(self, group: Group, place: int, tokens: int) -> PromptMessage:
        """The result at `place` of `group`, as it is sent, within `tokens`, or as close as clamping
        comes. Kept for the next requests of the turn, which mostly ask for the same."""
        message = group.messages[place]
        key = (group.first, place, tokens, len(message.text))
        if key not in self._levelled:
            text = within(message.text, tokens, group, place)
            self._levelled[key] = replace(message, content=text, reduced=message.reduced or "fit")
        return self._levelled[key]

    def unmasked(self, group: Group, *, finished: bool) -> Group:
        """The group with digests and with the results that its turn was to keep when a mask was
        made."""
        kept = self.running(group, Fidelity.DIGESTS)
        if not finished or group.messages[0].reasoning is None:
            return kept
        key = (group.first, group.end, Fidelity.DIGESTS, "unmasked")
        if key not in self._reduced:
            self._reduced[key] = without_reasoning(kept)
        return self._reduced[key]

    def running(self, group: Group, fidelity: Fidelity) -> Group:
        """The group of the running turn at `fidelity`, with the results that the turn is to
        keep."""
        kept = kept_places(group)
        if not kept or fidelity not in (Fidelity.CLAMPED, Fidelity.DIGESTS):
            return self(group, fidelity)
        key = (group.first, group.end, fidelity, "running")
        if key not in self._reduced:
            reduced, full = self(group, fidelity), self(group, Fidelity.CAPPED)
            self._reduced[key] = reduced.with_messages(
                tuple(
                    full.messages[place] if place in kept else message
                    for place, message in enumerate(reduced.messages)
                )
            )
        return self._reduced[key]

    def finished(self, group: Group, fidelity: Fidelity) -> Group:
        """The group of a finished turn at `fidelity`, without its reasoning (R19)."""
        reduced = self(group, fidelity)
        if group.messages[0].reasoning is None:
            return reduced
        key = (group.first, group.end, fidelity, "finished")
        if key not in self._reduced:
            self._reduced[key] = without_reasoning(reduced)
        return self._reduced[key]

    def without_skill(self, group: Group) -> Group:
        """The user message of a finished turn with one line instead of the skill that it activated
        (R12)."""
        if group.is_round or not group.messages[0].skill_chars:
            return group
        key = (group.first, group.end, Fidelity.FULL, "skill")
        if key not in self._reduced:
            self._reduced[key] = _with_skill_line(group)
        return self._reduced[key]

    def forget(self, before: int) -> None:
        """Drops the cached groups that end before the row `before`."""
        self._reduced = {key: g for key, g in self._reduced.items() if key[1] > before}
        self._levelled = {key: m for key, m in self._levelled.items() if key[0] >= before}
        self.repeats.forget(before)
        self.superseded.forget(before)

    def _reduce(self, group: Group, fidelity: Fidelity) -> Group:
        if not group.is_round:
            return without_images(group)
        if fidelity is Fidelity.CAPPED:
            return capped(group, self.limits.round_tokens, kept_places(group))
        if fidelity is Fidelity.CLAMPED:
            return clamped(self(group, Fidelity.CAPPED), group, self.limits.result_chars)
        digests = self._digests(group)
        return digests if fidelity is Fidelity.DIGESTS else without_images(digests)


def kept_places(group: Group) -> frozenset[int]:
    """The places in a round of the results that its turn is to keep."""
    kept = group.facts.kept
    if not kept or not group.is_round:
        return frozenset()
    calls = group.messages[0].tool_calls
    named = {place for place, call in enumerate(calls, start=1) if call.name in kept}
    return frozenset(place for place in named if not group.messages[place].failed)


def capped(group: Group, tokens: int, kept: frozenset[int] = frozenset()) -> Group:
    """The round with its results within `tokens` together: short results stay whole, long results
    share the rest. Those at the places `kept` are shortened last."""
    if tokens <= 0:
        return group
    count = group.count or text_tokens
    sizes = {place: count(result.text) for place, result in enumerate(group.results, start=1)}
    if sum(sizes.values()) <= tokens:
        return group
    first = {place: sizes[place] for place in kept}
    others = {place: size for place, size in sizes.items() if place not in kept}
    room = tokens - min(sum(first.values()), max(0, tokens - LEAST_BESIDE_KEPT * len(others)))
    shares = dict.fromkeys(others, fair_share(list(others.values()), room))
    shares |= dict.fromkeys(first, fair_share(list(first.values()), tokens - room))
    shorter = [
        result.text
        if sizes[place] <= shares[place]
        else within(result.text, shares[place], group, place)
        for place, result in enumerate(group.results, start=1)
    ]
    return _with_texts(group, shorter, "fit")


def clamped(group: Group, original: Group, chars: int) -> Group:
    """The round with each result within `chars`; digests stay as they are."""
    if chars <= 0:
        return group
    shorter = [
        result.text
        if len(result.text) <= chars or result.reduced == "digest"
        else clamp_result(whole.text, chars, _handle(original, index), original.facts.recall)
        for index, (result, whole) in enumerate(
            zip(group.results, original.results, strict=True), start=1
        )
    ]
    return _with_texts(group, shorter, "trim")


def digested(group: Group, original: Group) -> Group:
    """The round with each result as its digest, unless the result in `group` is shorter."""
    results = []
    for index, (result, whole) in enumerate(
        zip(group.results, original.results, strict=True), start=1
    ):
        line = digest(original.call_of(whole), whole, _handle(original, index), original.facts)
        shorter = len(line) < len(result.text) and result.reduced != "digest"
        results.append(replace(result, content=line, reduced="digest") if shorter else result)
    return _with_results(group, results)


def _with_skill_line(group: Group) -> Group:
    """The message with the first line of its skill and the handle that gives all of it."""
    message = group.messages[0]
    title = message.text[: message.skill_chars].partition("\n")[0]
    recall, handle = group.facts.recall, _handle(group, 0)
    line = SKILL_LINE.format(by=f"{recall} {handle} gives" if recall else f"handle {handle} has")
    text = f"{title}\n\n{line}"
    if len(text) >= message.skill_chars or not isinstance(message.content, str):
        return group
    own = message.text[message.skill_chars :]
    return group.with_messages(
        (replace(message, content=text + own, skill_chars=len(text), reduced="digest"),)
    )


def without_images(group: Group) -> Group:
    """The group with `IMAGE_NOTE` instead of each image (R29)."""
    if not any(message.images for message in group.messages):
        return group
    messages = tuple(
        replace(
            message,
            content=tuple(
                TextContent(IMAGE_NOTE) if isinstance(part, ImageContent) else part
                for part in message.content
                if not isinstance(part, str)
            ),
            reduced=message.reduced or "fit",
        )
        if message.images
        else message
        for message in group.messages
    )
    return group.with_messages(messages)


def without_reasoning(group: Group) -> Group:
    first = replace(group.messages[0], reasoning=None)
    return group.with_messages((first, *group.messages[1:]))


def within(text: str, tokens: int, group: Group, index: int) -> str:
    """`text`, the group's message `index`, clamped to `tokens` or as close as clamping comes."""
    count: TextTokens = group.count or text_tokens
    size = max(1, count(text))
    clamp = ResultClamp(text, _handle(group, index), group.facts.recall)
    limit = max(1, int(len(text) * tokens / size * NEXT_TRY))
    shorter = clamp.within(limit)
    while (tokens_now := count(shorter)) > tokens and limit > 1:
        limit = max(1, min(limit - 1, int(limit * tokens / tokens_now * NEXT_TRY)))
        shorter = clamp.within(limit)
    return shorter


def _with_texts(group: Group, texts: Sequence[str], reduced: Literal["trim", "fit"]) -> Group:
    results = [
        result if text == result.text else replace(result, content=text, reduced=reduced)
        for result, text in zip(group.results, texts, strict=True)
    ]
    return _with_results(group, results)


def _with_results(group: Group, results: Sequence[PromptMessage]) -> Group:
    if all(new is old for new, old in zip(results, group.results, strict=True)):
        return group
    return group.with_messages((group.messages[0], *results))


def _handle(group: Group, index: int) -> str:
    row = group.rows[index]
    return row_handle(row) if row is not None else ""


def changed_rows(reduced: Group, whole: Group) -> tuple[int, ...]:
    """The rows whose content is shorter in `reduced` than in `whole`."""
    return tuple(
        row
        for row, new, old in zip(whole.rows, reduced.messages, whole.messages, strict=True)
        if row is not None and new.content != old.content
    )
