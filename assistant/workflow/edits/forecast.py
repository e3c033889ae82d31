"""What a batch of edits would make of a workflow, before any canvas is asked: the result, the
difference in words, and the problems that it brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...garbage import without_collecting
from ..diff import compare
from ..live import LiveGraph
from ..node_definitions import NodeDefinitions
from ..node_words import live_words
from ..parse import parse_workflow
from ..validation import NO_PACKAGES, validate
from ..validation_packages import Package
from ..validation_problems import Problem, new_problems
from .apply import apply


@dataclass(frozen=True)
class Forecast:
    """A workflow with a batch applied, and what there is to say about it. See `Applied` for
    `content`, `ids`, `touched`, `removed`, `instances` and `base`."""

    content: dict[str, Any]
    ids: Mapping[str, str]
    touched: frozenset[str]
    removed: tuple[str, ...]
    instances: int | None
    base: Mapping[str, Mapping[str, Any]]
    diff: str
    """What changed, in the words of `diff.py`."""
    problems: tuple[Problem, ...]
    """The problems that were not there before, worst first."""
    before: str
    """The revision of the workflow before the batch: eight hex digits."""
    revision: str
    """The revision of `content`."""

    def json(self) -> dict[str, Any]:
        """The answer of `editWorkflow`: `{"ids", "diff", "problems", "revision", "instances"?}`."""
        answer = {
            "ids": dict(self.ids),
            "diff": self.diff,
            "problems": [problem.json() for problem in self.problems],
            "revision": self.revision,
        }
        return answer if self.instances is None else {**answer, "instances": self.instances}


def forecast(
    content: Mapping[str, Any],
    operations: object,
    definitions: NodeDefinitions,
    packages: Mapping[str, Package] = NO_PACKAGES,
) -> Forecast:
    """Apply the operations and say what that changes. `packages` is as for `validate`.

    `operations` is the list as a model sent it, or what `read_operations` made of it. Raises
    `EditRefused`, and `NotAWorkflow` where the content is none.
    """
    made = apply(content, operations, definitions)
    with without_collecting():
        live = [LiveGraph(parse_workflow(one), definitions) for one in (content, made.content)]
        before, after = (one.graph for one in live)
        problems = validate(after, definitions, packages, live[1])
        # Of what was wrong before only that counts of which something is wrong now.
        wrong = {one.node for one in problems}
        known = validate(before, definitions, packages, live[0], wrong) if wrong else []
        diff = compare(*map(live_words, live))
        return Forecast(
            content=made.content,
            ids=made.ids,
            touched=made.touched,
            removed=made.removed,
            instances=made.instances,
            base=made.base,
            diff=diff.text(),
            problems=tuple(new_problems(known, problems)),
            before=diff.revisions[0],
            revision=diff.revisions[1],
        )
