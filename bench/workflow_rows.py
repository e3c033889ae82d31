"""The rows of `bench/workflow.py`: each measures one thing over the templates."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.explanation import explain
from plugin.assistant.workflow.facts import facts, first_difference
from plugin.assistant.workflow.full_reading import read_full_view
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.validation import validate
from plugin.assistant.workflow.view import Level, view
from plugin.assistant.workflow.write import write_workflow
from plugin.bench.workflow_cases import Case, Row, counted, minified, problems
from plugin.bench.workflow_defects import INJECTORS, inject
from plugin.bench.workflow_obeys import disobeys, lost_links, unknown_types
from plugin.bench.workflow_questions import FRESH, QUESTIONS, score
from plugin.bench.workflow_raw import Raw
from plugin.bench.workflow_script import script

SEED = 1
FILES_AWAY = frozenset({"missing_model", "missing_file"})
"""Problems of templates whose files are not installed, which is usual."""
TRIES = 5
MANY = 5_000
"""Nodes of the large graph that is timed."""
PICTURE_OF_A_MODEL = ("Load3D", "image")
"""The page takes and uploads this picture when a prompt is queued."""


def equal_prompts(cases: Sequence[Case]) -> dict[str, Any]:
    """The API prompt against the stock front end's, where all node types are known."""
    known = [case for case in cases if case.recorded and not _unknown(case)]
    return counted([case.name for case in known if not _is_equal(case)], len(known))


def _unknown(case: Case) -> set[str]:
    return unknown_types(case.recorded or {}, case.site.definitions)


def _is_equal(case: Case) -> bool:
    return _plain(case.prompt) == _plain(case.recorded or {})


def _plain(prompt: Raw) -> str:
    """What ComfyUI reads of a prompt; titles are for people."""
    plain = {
        address: {
            "class_type": node.get("class_type"),
            "inputs": {
                name: None if (node.get("class_type"), name) == PICTURE_OF_A_MODEL else value
                for name, value in node["inputs"].items()
            },
        }
        for address, node in sorted(prompt.items())
    }
    return minified(plain)


def round_trips(cases: Sequence[Case]) -> dict[str, Any]:
    """Parsing and writing a UI workflow changes nothing in it."""
    changed = [case.name for case in cases if write_workflow(case.graph) != case.workflow]
    return counted(changed, len(cases))


def full_views(cases: Sequence[Case]) -> dict[str, Any]:
    """A full view reads back as the same graph."""

    def differs(case: Case) -> str | None:
        back = read_full_view(view(case.graph, case.site.definitions, "full"))
        return first_difference(facts(case.graph), facts(back))

    return counted([case.name for case in cases if differs(case)], len(cases))


def view_size(level: Level, cases: Sequence[Case]) -> dict[str, Any]:
    """Medians of a view's characters and of its share of other forms of the same workflow."""
    sizes = [len(view(case.graph, case.site.definitions, level)) for case in cases]
    others = {
        "file": [case.file_size for case in cases],
        "minified file": [len(minified(case.workflow)) for case in cases],
        "API JSON": [len(minified(case.prompt)) for case in cases],
        "code": [len(script(case.prompt, case.site.raw)) for case in cases],
    }
    shares = {
        name: statistics.median(
            100 * size / max(1, other) for size, other in zip(sizes, all_, strict=True)
        )
        for name, all_ in others.items()
    }
    said = ", ".join(f"{part:.1f} % of {name}" for name, part in shares.items())
    median = statistics.median(sizes)
    return {"measured": f"{median:.0f} characters: {said}", "median": median, "shares": shares}


def held_answers(level: Level, file: Path, cases: Sequence[Case]) -> dict[str, Any]:
    """The questions of a file whose answers a view holds, on its templates whatever the sample."""
    site = cases[0].site
    found, missing = score(
        lambda name: site.templates[name],
        lambda workflow: view(parse_workflow(workflow), site.definitions, level),
        file,
    )
    asked = len(found) + len(missing)
    return counted([f"{one.template}: {one.question}" for one in missing], asked)


def clean_templates(cases: Sequence[Case]) -> dict[str, Any]:
    """No problem but missing files, where values and links obey the definitions."""
    obeying = [case for case in cases if not _unknown(case) and not _disobeys(case)]
    found = {case.name: _serious(case) for case in obeying}
    result = counted([name for name, some in found.items() if some], len(obeying))
    return {**result, "problems": {name: some for name, some in found.items() if some}}


def _disobeys(case: Case) -> set[tuple[str, str]]:
    values = disobeys(case.recorded or case.prompt, case.site.raw)
    return values | lost_links(case.workflow, case.site.raw)


def _serious(case: Case) -> list[Raw]:
    found = problems(validate(case.graph, case.site.definitions))
    return [one for one in found if one["code"] not in FILES_AWAY]


def named_shifts(cases: Sequence[Case]) -> dict[str, Any]:
    """The values and links of newer templates that do not fit, each named by the validator."""
    named = Counter[bool]()
    missing = []
    for case in cases:
        wrong = _disobeys(case)
        said = {(one["node"], one["input"]) for one in _serious(case)} if wrong else set()
        for place in wrong:
            named[place in said] += 1
            if place not in said:
                missing.append(f"{case.name}: {place[0]}.{place[1]}")
    return counted(missing, named.total())


def found_defects(cases: Sequence[Case]) -> dict[str, Any]:
    """Injected defects that are found at the right node and input, by code."""
    found: Counter[str] = Counter()
    injected: Counter[str] = Counter()
    missing = []
    for case in cases:
        before = problems(validate(case.graph, case.site.installed))
        for code in INJECTORS:
            defect = inject(case.workflow, case.site.furnished, code, SEED)
            if defect is None or defect.is_found(before):
                continue
            injected[code] += 1
            after = validate(parse_workflow(defect.workflow), case.site.installed)
            if defect.is_found(problems(after)):
                found[code] += 1
            else:
                missing.append(f"{case.name}: {code} at {defect.nodes[0]}.{defect.input}")
    result = counted(missing, injected.total())
    by_code = {code: f"{found[code]} of {injected[code]}" for code in INJECTORS}
    return {**result, "by_code": by_code}


def known_families(cases: Sequence[Case]) -> dict[str, Any]:
    """Templates with model files of their own whose family the analysis knows."""
    explained = {case.name: explain(case.graph, case.site.definitions) for case in cases}
    own = {
        name: one
        for name, one in explained.items()
        if one.analysis.models and not one.analysis.service
    }
    return counted([name for name, one in own.items() if not one.analysis.family], len(own))


def said_tasks(cases: Sequence[Case]) -> dict[str, Any]:
    """Templates about which the analysis has a sentence."""
    silent = [
        case.name for case in cases if not explain(case.graph, case.site.definitions).sentence
    ]
    return counted(silent, len(cases))


def odd_templates(cases: Sequence[Case]) -> dict[str, Any]:
    """Official templates in which the rules see something odd."""
    found = {
        case.name: [one.message for one in explain(case.graph, case.site.definitions).findings]
        for case in cases
    }
    odd = {name: some for name, some in found.items() if some}
    return {"measured": f"{len(odd)} of {len(cases)}", "odd": odd}


def timed(step: Callable[[Case], object], cases: Sequence[Case]) -> dict[str, Any]:
    """Milliseconds of a step over each template."""
    times = []
    for case in cases:
        assert case.graph.root is not None  # the parsed graph is not part of what is timed
        started = time.perf_counter()
        step(case)
        times.append(1000 * (time.perf_counter() - started))
    median, worst = statistics.median(times), max(times)
    measured = f"median {median:.1f} ms, worst {worst:.0f} ms"
    return {"measured": measured, "median_ms": round(median, 2), "worst_ms": round(worst, 1)}


def large_graph(cases: Sequence[Case]) -> dict[str, Any]:
    """Milliseconds to parse and view a chain of 5,000 nodes, and of four times as many."""
    site = cases[0].site
    view(parse_workflow(_chain(10)), site.definitions)
    small, large = (_read_time(_chain(count), site.definitions) for count in (MANY, 4 * MANY))
    measured = f"{small:.0f} ms; {4 * MANY:,} nodes: {large:.0f} ms"
    return {"measured": measured, "ms": round(small), "ms_four_times": round(large)}


def _chain(count: int) -> Raw:
    nodes = [
        {
            "id": number,
            "type": "ImageScaleBy",
            "inputs": [{"name": "image", "type": "IMAGE", "link": number - 1 or None}],
            "outputs": [{"name": "IMAGE", "type": "IMAGE", "links": [number]}],
            "widgets_values": ["lanczos", 1.5],
        }
        for number in range(1, count + 1)
    ]
    links = [[number, number, 0, number + 1, 0, "IMAGE"] for number in range(1, count)]
    return {"nodes": nodes, "links": links, "version": 0.4}


def _read_time(workflow: Raw, definitions: NodeDefinitions) -> float:
    """The best of some, in milliseconds: the others had to share the machine."""
    times = []
    for _ in range(TRIES):
        started = time.perf_counter()
        view(parse_workflow(workflow), definitions)
        times.append(1000 * (time.perf_counter() - started))
    return min(times)


def _parse(case: Case) -> Graph:
    return parse_workflow(case.workflow)


ROWS: tuple[Row, ...] = (
    Row("parse and write", "644 of 644", round_trips),
    Row("prompts equal to the front end's", "99 %", equal_prompts),
    Row("full view reads back", "644 of 644", full_views),
    Row("size of outline", "at most 2 % of the file", partial(view_size, "outline")),
    Row(
        "size of normal",
        "at most 7 % of the file and 50 % of API JSON",
        partial(view_size, "normal"),
    ),
    Row("size of full", "", partial(view_size, "full")),
    Row("answers in normal", "95 %", partial(held_answers, "normal", QUESTIONS)),
    Row("answers in full", "", partial(held_answers, "full", QUESTIONS)),
    Row("fresh answers in normal", "95 %", partial(held_answers, "normal", FRESH)),
    Row("fresh answers in full", "", partial(held_answers, "full", FRESH)),
    Row("clean templates", "99 %", clean_templates),
    Row("what does not fit is named", "all", named_shifts),
    Row("defects found", "99 %", found_defects),
    Row("families known", "", known_families),
    Row("tasks said", "", said_tasks),
    Row("odd templates", "0, or explained", odd_templates),
    Row("time to parse", "", partial(timed, _parse)),
    Row(
        "time of a prompt",
        "",
        partial(timed, lambda case: api_prompt(case.graph, case.site.definitions)),
    ),
    Row(
        "time of a view",
        "",
        partial(timed, lambda case: view(case.graph, case.site.definitions, "normal")),
    ),
    Row(
        "time of a validation",
        "",
        partial(timed, lambda case: validate(case.graph, case.site.definitions)),
    ),
    Row(
        "time of an analysis",
        "",
        partial(timed, lambda case: explain(case.graph, case.site.definitions)),
    ),
    Row(f"time of {MANY:,} nodes", "300 ms, linear from there", large_graph),
)
