"""What the rows of `bench/workflow.py` measure: templates and the definitions of one ComfyUI."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.validation_problems import Problem
from plugin.bench.workflow_defects import furnish
from plugin.bench.workflow_raw import Raw

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "workflow" / "data" / "prompts.json.gz"
"""The stock front end's own prompts; `scripts/make_prompts.py` makes them."""


@dataclass(frozen=True)
class Site:
    """All templates by id with the texts of their files, and the definitions of one ComfyUI."""

    texts: Mapping[str, str]
    definitions: NodeDefinitions

    @cached_property
    def templates(self) -> dict[str, Raw]:
        return {name: json.loads(text) for name, text in self.texts.items()}

    @cached_property
    def recorded(self) -> dict[str, Raw]:
        """The front end's prompts of the templates that it could open."""
        outcomes = json.loads(gzip.decompress(RECORDED.read_bytes()))["prompts"]
        return {name: one["output"] for name, one in outcomes.items() if "output" in one}

    @cached_property
    def raw(self) -> dict[str, Any]:
        return {name: one.raw for name, one in self.definitions.items()}

    @cached_property
    def furnished(self) -> dict[str, Any]:
        """The definitions as JSON, as if every file that the templates name were installed."""
        return furnish(self.raw, self.templates.values())

    @cached_property
    def installed(self) -> NodeDefinitions:
        return NodeDefinitions(self.furnished)


@dataclass(frozen=True)
class Case:
    """One template."""

    name: str
    site: Site

    @property
    def workflow(self) -> Raw:
        return self.site.templates[self.name]

    @cached_property
    def graph(self) -> Graph:
        return parse_workflow(self.workflow)

    @cached_property
    def prompt(self) -> Raw:
        return api_prompt(self.graph, self.site.definitions)

    @property
    def recorded(self) -> Raw | None:
        """The stock front end's prompt; None where it could not make one."""
        return self.site.recorded.get(self.name)

    @property
    def file_size(self) -> int:
        """Characters of the template's file."""
        return len(self.site.texts[self.name])


@dataclass(frozen=True, slots=True)
class Row:
    """`measure` gives `measured`, a short text, and the figures that it is made of."""

    name: str
    goal: str
    measure: Callable[[Sequence[Case]], dict[str, Any]]


def minified(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def problems(found: Iterable[Problem]) -> list[Raw]:
    """Problems as the command line gives them."""
    return [one.json() for one in found]


def share(good: int, count: int) -> str:
    """`good` of `count`, with the share in per cent, never rounded up to all."""
    return f"{good} of {count} ({int(1000 * good / count) / 10 if count else 0:.1f} %)"


def counted(names: Iterable[str], count: int) -> dict[str, Any]:
    """The figures of a row that names what fell short."""
    missing = list(names)
    good = count - len(missing)
    return {"measured": share(good, count), "good": good, "count": count, "missing": missing}
