"""What came of an edit task, and the table of it, for `edits.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

EXACT, REFUSED, DIFFERENT, UNDO, NO_ANSWER = (
    "exact",
    "refused",
    "wrong",
    "undo not exact",
    "no answer",
)
COLUMNS = (EXACT, REFUSED, DIFFERENT, UNDO, NO_ANSWER)


@dataclass(frozen=True)
class Outcome:
    """One task's end: its name, its kind, one of `COLUMNS`, and where it is not exact."""

    name: str
    kind: str
    end: str
    faults: list[str]


def table(outcomes: Sequence[Outcome]) -> str:
    """A row for each kind, with how many tasks ended in which way."""
    rows: list[tuple[str, ...]] = [("kind", *COLUMNS)]
    for kind in dict.fromkeys(one.kind for one in outcomes):
        ends = Counter(one.end for one in outcomes if one.kind == kind)
        rows.append((kind, *(str(ends[column]) for column in COLUMNS)))
    ends = Counter(one.end for one in outcomes)
    rows.append(("all", *(str(ends[column]) for column in COLUMNS)))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    )
