"""The rows of `bench/workflow.py`: each measures one thing over the templates."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.write import write_workflow
from plugin.bench.workflow_defects import INJECTORS, Defect, furnish, inject
from plugin.bench.workflow_raw import Raw

SEED = 1


@dataclass(frozen=True)
class Site:
    """All templates by id, and the definitions of one ComfyUI."""

    templates: Mapping[str, Raw]
    definitions: NodeDefinitions

    @cached_property
    def furnished(self) -> dict[str, Any]:
        """The definitions as JSON, as if every file that the templates name were installed."""
        raw = {name: one.raw for name, one in self.definitions.items()}
        return furnish(raw, self.templates.values())

    @cached_property
    def installed(self) -> NodeDefinitions:
        return NodeDefinitions(self.furnished)


@dataclass(frozen=True)
class Case:
    """One template."""

    name: str
    workflow: Raw
    site: Site

    @cached_property
    def graph(self) -> Graph:
        return parse_workflow(self.workflow)

    @property
    def file_size(self) -> int:
        """Characters of the UI workflow as minified JSON."""
        return len(minified(self.workflow))


@dataclass(frozen=True, slots=True)
class Row:
    """`measure` gives `measured`, a short text, and the figures that it is made of."""

    name: str
    goal: str
    measure: Callable[[Sequence[Case]], dict[str, Any]]


def minified(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def share(good: int, count: int) -> str:
    """`good` of `count`, with the share in per cent, never rounded up to all."""
    return f"{good} of {count} ({int(1000 * good / count) / 10 if count else 0:.1f} %)"


def counted(names: Iterable[str], count: int) -> dict[str, Any]:
    """The figures of a row that names what fell short."""
    missing = list(names)
    good = count - len(missing)
    return {"measured": share(good, count), "good": good, "count": count, "missing": missing}


def round_trips(cases: Sequence[Case]) -> dict[str, Any]:
    """Parsing and writing a UI workflow changes nothing in it."""
    changed = [case.name for case in cases if write_workflow(case.graph) != case.workflow]
    return counted(changed, len(cases))


def parse_times(cases: Sequence[Case]) -> dict[str, Any]:
    return timed(parse_workflow, [case.workflow for case in cases])


def timed(function: Callable[[Any], object], given: Sequence[Any]) -> dict[str, Any]:
    """Milliseconds of one call for each of the values."""
    times = []
    for value in given:
        started = time.perf_counter()
        function(value)
        times.append(1000 * (time.perf_counter() - started))
    median, worst = statistics.median(times), max(times)
    return {
        "measured": f"median {median:.1f} ms, worst {worst:.0f} ms",
        "median_ms": round(median, 2),
        "worst_ms": round(worst, 1),
    }


def defects(case: Case) -> list[Defect]:
    """One defect of each code that the template has a place for."""
    found = (inject(case.workflow, case.site.furnished, code, SEED) for code in INJECTORS)
    return [one for one in found if one is not None]


ROWS: tuple[Row, ...] = (
    Row("parse and write", "644 of 644", round_trips),
    Row("time to parse", "", parse_times),
)
