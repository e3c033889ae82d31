"""Shortens results of the running turn when a request is over its trigger (R17).

The longest results give first, all down to one level. What the turn is to keep, skills and recalled
pages, gives only when nothing else is left to shorten (`kept`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .clamp_json import fair_share
from .draft import Draft
from .fidelity import GroupReducer, kept_places
from .log import Group
from .tokens import text_tokens

LEAST_RESULT = 400
"""Tokens of a result below which a cut inside the turn is better than a shorter result."""


PASSES = 4
STEP = 1.1
"""The ratio of a level to the next lower one."""


@dataclass(frozen=True, slots=True)
class _Result:
    """A result of the running turn: its group's index among the draft's sent groups, its place in
    the group, and the tokens of its text as it is sent."""

    index: int
    place: int
    tokens: int


def relieved(
    draft: Draft,
    tokens: int,
    asked: int,
    reducer: GroupReducer,
    *,
    least: int = 0,
    kept: bool = False,
) -> Draft:
    """The draft with results of the turn that answers the row `asked` shortened until it has
    `tokens` tokens. The results keep `least` tokens together."""
    for _ in range(PASSES):
        shorter = _levelled(draft, draft.tokens - tokens, asked, reducer, least, kept=kept)
        if shorter is draft:
            break
        draft = shorter
    return draft


def _levelled(
    draft: Draft, excess: int, asked: int, reducer: GroupReducer, least: int, *, kept: bool
) -> Draft:
    """The draft with its longest results cut to one level, so that it has `excess` tokens less; a
    message has more tokens than its text, so it may still have a few too many."""
    if excess <= 0:
        return draft
    sent = (*draft.asked, *draft.tail)
    results = [result for result in _results(sent, asked) if kept or not _is_kept(sent, result)]
    sizes = [result.tokens for result in results]
    share = _step(fair_share(sizes, max(least, sum(sizes) - excess)))
    long = [result for result in results if result.tokens > share]
    if not long:
        return draft
    shorter = list(sent)
    for result in long:
        group = shorter[result.index]
        messages = list(group.messages)
        messages[result.place] = reducer.levelled(group, result.place, share)
        shorter[result.index] = group.with_messages(tuple(messages))
    count = len(draft.asked)
    return replace(draft, asked=tuple(shorter[:count]), tail=tuple(shorter[count:]))


def _step(share: int) -> int:
    """The next lower step of a scale on which the levels stand, so that a result keeps its level
    while the turn grows a little."""
    step = 1.0
    while step * STEP <= share:
        step *= STEP
    return max(1, int(step))


def relief_of(groups: Sequence[Group], asked: int) -> int:
    """The tokens that `relieved` can save among `groups`, with `LEAST_RESULT` left of each
    result."""
    results = [result for result in _results(groups, asked) if not _is_kept(groups, result)]
    return sum(max(0, result.tokens - LEAST_RESULT) for result in results)


def _results(groups: Sequence[Group], asked: int) -> list[_Result]:
    return [
        _Result(index, place, (group.count or text_tokens)(result.text))
        for index, group in enumerate(groups)
        if group.is_round and group.first > asked
        for place, result in enumerate(group.results, start=1)
        if result.reduced != "digest"
    ]


def _is_kept(groups: Sequence[Group], result: _Result) -> bool:
    return result.place in kept_places(groups[result.index])
