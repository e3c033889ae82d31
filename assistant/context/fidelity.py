"""How much of a group is sent: in full, admitted, clamped, or as lines (R14, R17, R29).

    FULL      as it is in the log
    ADMITTED  results that are giants are clamped, the round as a whole to its share of the budget
    CLAMPED   each result within `LLM_TOOL_OUTPUT_TRIM_CHARS`
    LINES     each result as one line (`digest`)
    BARE      lines, and images as text: the emergency

Every shape keeps what the user and the model wrote, the calls, and the pairing; whatever it leaves
out names the handle of its row. A shape is never longer than the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from ..messages.prompt import ImageContent, PromptMessage, TextContent
from .clamp import clamp_result
from .digest import digest
from .handles import row_handle
from .log import Group
from .repeats import Repeats
from .tokens import TextTokens, text_tokens

IMAGE_NOTE = "[An image was here.]"


class Shape(IntEnum):
    FULL = 0
    ADMITTED = 1
    CLAMPED = 2
    LINES = 3
    BARE = 4


@dataclass(frozen=True, slots=True)
class ShapeLimits:
    """`admit` is the most tokens of a round's results together, `clamp` the most characters of one
    result, `repeat` the least characters of what is sent once only; 0 switches a limit off."""

    admit: int = 0
    clamp: int = 0
    repeat: int = 0


class Shaper:
    """Shapes groups, each once: the same group and shape is the same object again."""

    def __init__(self, limits: ShapeLimits) -> None:
        self.limits = limits
        self.repeats = Repeats(limits.repeat)
        self._shaped: dict[tuple[int, int, Shape, bool], Group] = {}

    def __call__(self, group: Group, shape: Shape) -> Group:
        """The group in a shape that keeps its reasoning, which an open tool loop needs (R19)."""
        if shape is Shape.FULL or not (group.is_round or shape is Shape.BARE):
            return group
        key = (group.first, group.end, shape, False)
        if key not in self._shaped:
            self._shaped[key] = self._shape(group, shape)
        return self._shaped[key]

    def finished(self, group: Group, shape: Shape) -> Group:
        """The group of a finished turn: in its shape, without reasoning (R19)."""
        shaped = self(group, shape)
        if group.messages[0].reasoning is None:
            return shaped
        key = (group.first, group.end, shape, True)
        if key not in self._shaped:
            self._shaped[key] = without_reasoning(shaped)
        return self._shaped[key]

    def forget(self, before: int) -> None:
        """Drops what was kept of groups that end before the row `before`."""
        self._shaped = {key: g for key, g in self._shaped.items() if key[1] > before}
        self.repeats.forget(before)

    def _shape(self, group: Group, shape: Shape) -> Group:
        if not group.is_round:
            return without_images(group)
        if shape is Shape.ADMITTED:
            return admitted(group, self.limits.admit)
        if shape is Shape.CLAMPED:
            return clamped(self(group, Shape.ADMITTED), group, self.limits.clamp)
        lines = as_lines(self(group, Shape.CLAMPED), group)
        return lines if shape is Shape.LINES else without_images(lines)


def admitted(group: Group, tokens: int) -> Group:
    """The round's results within `tokens` together; short ones stay, long ones share the rest."""
    if tokens <= 0:
        return group
    count = group.count or text_tokens
    sizes = [count(result.text) for result in group.results]
    share = fair_share(sizes, tokens)
    shorter = [
        text if size <= share else _within(text, size, share, group, place)
        for place, (text, size) in enumerate(
            zip((result.text for result in group.results), sizes, strict=True), start=1
        )
    ]
    return _with_texts(group, shorter)


def clamped(group: Group, original: Group, chars: int) -> Group:
    """Each result within `chars`; a line that stands for a result already is left alone."""
    if chars <= 0:
        return group
    shorter = [
        result.text
        if len(result.text) <= chars or result.reduced == "digest"
        else clamp_result(whole.text, chars, _handle(original, place), original.facts.recall)
        for place, (result, whole) in enumerate(
            zip(group.results, original.results, strict=True), start=1
        )
    ]
    return _with_texts(group, shorter)


def as_lines(group: Group, original: Group) -> Group:
    """Each result as its line, unless what is sent now is shorter than that."""
    results = []
    for place, (result, whole) in enumerate(
        zip(group.results, original.results, strict=True), start=1
    ):
        line = digest(original.call_of(whole), whole, _handle(original, place), original.facts)
        shorter = len(line) < len(result.text) and result.reduced != "digest"
        results.append(replace(result, content=line, reduced="digest") if shorter else result)
    return _with_results(group, results)


def without_images(group: Group) -> Group:
    """Images as a note: the text stays (R29)."""
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
        )
        if message.images
        else message
        for message in group.messages
    )
    return group.with_messages(messages)


def without_reasoning(group: Group) -> Group:
    first = replace(group.messages[0], reasoning=None)
    return group.with_messages((first, *group.messages[1:]))


def fair_share(sizes: Sequence[int], total: int) -> int:
    """The largest share such that `sizes`, each cut down to it, add up to at most `total`."""
    left = max(0, total)
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _within(text: str, size: int, tokens: int, group: Group, place: int) -> str:
    """`text`, the group's message at `place` with `size` tokens, within `tokens` of them, or as
    near as clamping comes."""
    count: TextTokens = group.count or text_tokens
    handle, recall = _handle(group, place), group.facts.recall
    limit = max(1, len(text) * tokens // size)
    shorter = clamp_result(text, limit, handle, recall)
    while count(shorter) > tokens and limit > 1:
        # Head and tail may be denser than the whole.
        limit = limit * 3 // 4
        shorter = clamp_result(text, max(1, limit), handle, recall)
    return shorter


def _with_texts(group: Group, texts: Sequence[str]) -> Group:
    results = [
        result if text == result.text else replace(result, content=text)
        for result, text in zip(group.results, texts, strict=True)
    ]
    return _with_results(group, results)


def _with_results(group: Group, results: Sequence[PromptMessage]) -> Group:
    if all(new is old for new, old in zip(results, group.results, strict=True)):
        return group
    return group.with_messages((group.messages[0], *results))


def _handle(group: Group, place: int) -> str:
    row = group.rows[place]
    return row_handle(row) if row is not None else ""


def changed_rows(shaped: Group, whole: Group) -> tuple[int, ...]:
    """The rows of which `shaped` leaves something out."""
    return tuple(
        row
        for row, new, old in zip(whole.rows, shaped.messages, whole.messages, strict=True)
        if row is not None and new.content != old.content
    )
