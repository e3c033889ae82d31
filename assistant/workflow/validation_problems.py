"""What a check of a workflow finds: problems, and what would mend each.

A problem's identity is its node, its input and its code; the sentence may change.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from ..messages.fences import escaped, quoted

Code = Literal[
    "unknown_node",
    "no_output",
    "cycle",
    "dangling_link",
    "missing_input",
    "wrong_type",
    "not_a_choice",
    "out_of_range",
    "missing_model",
    "missing_file",
    "unknown_widget",
]
WORST_FIRST: Final[tuple[Code, ...]] = get_args(Code)
"""Problems of the graph come before those of single values, and these before absent files."""
LONGEST_VALUE: Final = 120
"""Characters of a value in a sentence; the workflow itself has the whole value."""


class NoValue:
    """The type of `NO_VALUE`, since `None` and `False` are values."""

    def __repr__(self) -> str:
        return "NO_VALUE"


NO_VALUE: Final = NoValue()


@dataclass(frozen=True)
class Fix:
    """What would mend a problem. `value` is the right value of the input; of a link `node.output`.

    `name`, `folder` and `address` say what to get, where it belongs, and where it can be had: a
    model file with its folder in `models`, or the package of a node.
    """

    text: str
    value: Any = NO_VALUE
    name: str | None = None
    folder: str | None = None
    address: str | None = None

    def json(self) -> dict[str, Any]:
        """The fix for the command line and for clients; what it does not say is left out."""
        found: dict[str, Any] = {"text": self.text}
        if self.value is not NO_VALUE:
            found["value"] = self.value
        for key in ("name", "folder", "address"):
            if getattr(self, key) is not None:
                found[key] = getattr(self, key)
        return found


@dataclass(frozen=True)
class Problem:
    """One defect. `node` is an address such as "57:8"; node and input are "" where none is meant.

    `blocks_run` says whether ComfyUI refuses an output of the prompt for it.
    """

    node: str
    input: str
    code: Code
    message: str
    fix: Fix | None = None
    blocks_run: bool = False

    @property
    def identity(self) -> tuple[str, str, Code]:
        return self.node, self.input, self.code

    def json(self) -> dict[str, Any]:
        """The problem for the command line and for clients."""
        return {
            "node": self.node,
            "input": self.input,
            "code": self.code,
            "message": self.message,
            "fix": self.fix.json() if self.fix is not None else None,
            "blocks_run": self.blocks_run,
        }


def worst_first(problems: Iterable[Problem]) -> list[Problem]:
    """What blocks the run first, then by kind, then as they were found; one of each identity."""
    first: dict[tuple[str, str, Code], Problem] = {}
    for problem in problems:
        known = first.get(problem.identity)
        if known is None or (problem.blocks_run and not known.blocks_run):
            first[problem.identity] = problem
    rank = {code: place for place, code in enumerate(WORST_FIRST)}
    return sorted(first.values(), key=lambda one: (not one.blocks_run, rank[one.code]))


def about(problems: Iterable[Problem], addresses: Collection[str]) -> list[Problem]:
    """The problems of these nodes and of what is inside of these instances, and of no node."""
    inside = tuple(f"{address}:" for address in addresses)
    wanted = set(addresses)
    return [
        one for one in problems if not one.node or one.node in wanted or one.node.startswith(inside)
    ]


def new_problems(before: Iterable[Problem], after: Iterable[Problem]) -> list[Problem]:
    """The problems that an edit brought: those whose identity was not there before."""
    known = {one.identity for one in before}
    return [one for one in after if one.identity not in known]


def shown(value: Any) -> str:
    """A value from the workflow as data in a sentence: JSON on one line, clamped."""
    if isinstance(value, str):
        clamped = value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 3]}..."
        return quoted(clamped)
    try:
        text = escaped(json.dumps(value, ensure_ascii=False, default=str))
    except (ValueError, RecursionError):  # integers of thousands of digits, nesting without end
        return "a value that cannot be written"
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def listed(values: Sequence[Any], limit: int = 6) -> str:
    """The first values as data, and how many more there are."""
    text = ", ".join(shown(value) for value in values[:limit])
    more = len(values) - limit
    return f"{text} and {more} more" if more > 0 else text
