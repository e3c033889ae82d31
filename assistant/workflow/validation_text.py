"""The problems of a workflow as a few lines for a model, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..messages.fences import quoted
from .validation_problems import Fix, Problem
from .words import id_word

MOST_PROBLEMS: Final = 40
NO_PROBLEMS: Final = "No problems found."


def problems_text(problems: Sequence[Problem], limit: int = MOST_PROBLEMS) -> str:
    """A line for each of the first `limit` problems: where, what, and how to mend it; `stops` marks
    what ComfyUI would refuse to run."""
    if not problems:
        return NO_PROBLEMS
    blocking = sum(problem.blocks_run for problem in problems)
    lines = [f"{len(problems)} problems, {blocking} of them stop the run:"]
    lines.extend(map(_line, problems[:limit]))
    if len(problems) > limit:
        lines.append(f"and {len(problems) - limit} more; ask for single nodes to see theirs")
    return "\n".join(lines)


def _line(problem: Problem) -> str:
    place = id_word(problem.node) if problem.node else "workflow"
    if problem.input:
        place += f".{problem.input}" if problem.input.isprintable() else f".{quoted(problem.input)}"
    mark = " stops" if problem.blocks_run else ""
    fix = f" Fix: {_fix(problem.fix)}" if problem.fix is not None else ""
    return f"{place} {problem.code}{mark}: {problem.message}{fix}"


def _fix(fix: Fix) -> str:
    named = [fix.text]
    if fix.folder is not None:
        named.append(f"folder {quoted(fix.folder)}")
    if fix.address is not None:
        named.append(f"from {quoted(fix.address)}")
    return "; ".join(named)
