"""Projections as JSON and back, for the rows beside a chat's log (R28, R51).

What cannot be read, because it is damaged or of another version, is empty projections: the chat is
then planned anew from its log, which has everything. Whether what was read still fits the log is
`projections.valid`'s to say.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from .projections import Covered, Projections, Told
from .summary.ledger import Ledger
from .summary.state import Quote, Summary

VERSION = 1
"""Of the shape below. Another one is not read: planning anew is cheaper than a wrong guess."""

Item = TypeVar("Item")


def to_json(projections: Projections) -> dict[str, Any]:
    """A JSON object that `from_json` makes the same projections of."""
    told = projections.told
    return {
        "version": VERSION,
        "cuts": [_from_covered(cut) for cut in projections.cuts],
        "summary": _from_summary(projections.summary) if projections.summary else None,
        "summary_tokens": projections.summary_tokens,
        "head_row": projections.head_row,
        "asked_row": projections.asked_row,
        "mask": _from_covered(projections.mask) if projections.mask else None,
        "made_at": projections.made_at,
        "told": [told.text, _from_covered(told.rows)] if told else None,
    }


def from_json(value: Any) -> Projections:
    """The projections of a JSON value; empty ones for anything that `to_json` does not write."""
    try:
        return _projections(_mapping(value))
    except (ValueError, KeyError):
        return Projections()


def _projections(body: Mapping[str, Any]) -> Projections:
    if body["version"] != VERSION:
        raise ValueError(f"version {body['version']!r}")
    cuts = _all(body["cuts"], _covered)
    for earlier, later in itertools.pairwise(cuts):
        if earlier.end != later.first:
            raise ValueError("a gap between two cuts")
    return Projections(
        cuts=cuts,
        summary=_if_any(body["summary"], _summary),
        summary_tokens=_count(body["summary_tokens"]),
        head_row=_if_any(body["head_row"], _count),
        asked_row=_if_any(body["asked_row"], _count),
        mask=_if_any(body["mask"], _covered),
        made_at=_count(body["made_at"]),
        told=_if_any(body["told"], _told),
    )


def _from_covered(covered: Covered) -> list[Any]:
    return [covered.first, covered.end, covered.digest]


def _covered(value: Any) -> Covered:
    first, end, digest = _list(value, 3)
    if _count(first) > _count(end):
        raise ValueError("a range that ends before it begins")
    return Covered(first, end, _text(digest))


def _told(value: Any) -> Told:
    text, rows = _list(value, 2)
    return Told(_text(text), _covered(rows))


def _from_summary(summary: Summary) -> dict[str, Any]:
    return {
        "first": summary.first,
        "end": summary.end,
        "messages": summary.messages,
        "goal": summary.goal,
        "requests": [list(quote) for quote in summary.requests],
        "corrections": [list(quote) for quote in summary.corrections],
        "ledger": _from_ledger(summary.ledger),
        "values": list(summary.values),
        "errors": [list(quote) for quote in summary.errors],
        "decisions": [list(quote) for quote in summary.decisions],
        "last_words": summary.last_words,
        "told": summary.told,
        "told_end": summary.told_end,
    }


def _summary(value: Any) -> Summary:
    body = _mapping(value)
    return Summary(
        first=_count(body["first"]),
        end=_count(body["end"]),
        messages=_count(body["messages"]),
        goal=_text(body["goal"]),
        requests=_all(body["requests"], _quote),
        corrections=_all(body["corrections"], _quote),
        ledger=_ledger(body["ledger"]),
        values=_all(body["values"], _text),
        errors=_all(body["errors"], _quote),
        decisions=_all(body["decisions"], _quote),
        last_words=_text(body["last_words"]),
        told=_text(body["told"]),
        told_end=_count(body["told_end"]),
    )


def _from_ledger(ledger: Ledger) -> dict[str, Any]:
    """Lists instead of objects: the order is that of the latest change, and has to stay."""
    return {
        "values": [[*key, *change] for key, change in ledger.values.items()],
        "added": [list(entry) for entry in ledger.added.items()],
        "removed": [list(entry) for entry in ledger.removed.items()],
    }


def _ledger(value: Any) -> Ledger:
    body = _mapping(value)
    return Ledger(
        values=dict(_all(body["values"], _change)),
        added=dict(_all(body["added"], _node)),
        removed=dict(_all(body["removed"], _node)),
    )


def _change(value: Any) -> tuple[tuple[str, str], tuple[str | None, str]]:
    node, widget, old, new = _list(value, 4)
    return (_text(node), _text(widget)), (_if_any(old, _text), _text(new))


def _node(value: Any) -> tuple[str, str]:
    node, kind = _list(value, 2)
    return _text(node), _text(kind)


def _quote(value: Any) -> Quote:
    row, words = _list(value, 2)
    return _count(row), _text(words)


def _all(value: Any, read: Callable[[Any], Item]) -> tuple[Item, ...]:
    return tuple(read(item) for item in _list(value))


def _if_any(value: Any, read: Callable[[Any], Item]) -> Item | None:
    return None if value is None else read(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("expected an object")
    return value


def _list(value: Any, length: int | None = None) -> Iterable[Any]:
    if not isinstance(value, list) or length not in (None, len(value)):
        raise ValueError("expected a list")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("expected a number from 0")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a text")
    return value
