"""Random batches of edits on the official templates, each read by a second reader:

    python bench/edit_fuzz.py --batches 10000 [--seed 1] [--from 0] [--object-info F]

Half of the batches have an operation that must be refused. Of a valid batch

- the written workflow, read by `edit_reader.py`, is what the operations make of that reader's model
  of the workflow before: every node, value, link and output, also those that no operation names;
- the API prompt that we make of it is the one that the second reader makes;
- all problems that are new are in the answer;
- the result is JSON that is read and written again as the same bytes;
- what was given is not changed. Nor is it by a refused batch, whose error names the operation.

Prints how many batches of each kind there were, and each failure with its batch; exit code 1 with
any. The same seed gives the same batches.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
        "register"
    ]()

from plugin.assistant.errors import NotAWorkflow
from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.edits.forecast import Forecast, forecast
from plugin.assistant.workflow.edits.refused import EditRefused
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.validation import validate
from plugin.assistant.workflow.write import write_workflow
from plugin.bench.edit_batches import Batches, fresh
from plugin.bench.edit_reader import (
    Info,
    Json,
    Model,
    Unreadable,
    prompt,
    read,
    widget_specs,
)
from plugin.bench.edit_wrong import wrong_operation
from plugin.preview.catalog import load_catalog
from plugin.preview.templates import templates_folder

COMPUTED = ("{", "//", "/*", "%", "\\")
"""Signs of texts that the front end computes: both sides may have them differently."""
MOST_OPERATIONS = 8
PROGRESS = 500
DIGITS = 12
"""Of a fraction; front ends keep fewer."""
COMPARED = ("type", "title", "mode", "values", "links")


@dataclass
class Subject:
    """A template that both readers read as the same."""

    name: str
    text: str
    model: Model

    def workflow(self) -> Json:
        decoded: Json = json.loads(self.text)
        return decoded


@dataclass
class Outcome:
    """What became of one batch."""

    kind: str
    failures: list[str] = field(default_factory=list)
    operations: list[Json] = field(default_factory=list)


def subjects(info: Info, definitions: NodeDefinitions) -> Iterator[Subject]:
    """The templates that the second reader knows, and whose prompts are the same by both."""
    for path in sorted(Path(templates_folder()).glob("*.json")):
        text = path.read_text(encoding="utf-8")
        if '"nodes"' not in text or path.stem.startswith("index"):
            continue
        document = json.loads(text)
        try:
            model = read(document, info)
            if not list(unlike(prompt(model), ours(document, definitions))):
                yield Subject(path.stem, text, model)
        except Unreadable:
            continue


def readable_types(info: Info, definitions: NodeDefinitions) -> list[str]:
    """The types whose new nodes both readers read as the same."""
    found = []
    for type_, definition in info.items():
        at = Batches({"": {"nodes": {}, "inputs": [], "outputs": {}}}, info, [], Random(0))
        try:
            node = fresh(at, type_)
        except (Unreadable, KeyError, IndexError):
            continue
        if definition.get("api_node") or any("." in name for name in node["values"]):
            continue
        document = {"nodes": [{"id": 1, "type": type_}], "links": [], "version": 0.4}
        theirs = {"1": {"type": type_, "values": {}, "links": {}}}
        theirs["1"]["values"] = {k: v for k, v in node["values"].items() if _in_prompt(k)}
        specs = [spec for _, spec in widget_specs(definition)]
        if not list(unlike(theirs, ours(document, definitions))) and specs:
            found.append(type_)
    return found


def _in_prompt(name: str) -> bool:
    return name.rpartition(".")[2] != "control_after_generate"


def ours(document: Json, definitions: NodeDefinitions) -> dict[str, Json]:
    """Our API prompt in the form of the second reader's."""
    found = {}
    for address, node in api_prompt(parse_workflow(document), definitions).items():
        values, links = {}, {}
        for name, value in node["inputs"].items():
            if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
                links[name] = (value[0], value[1])
            else:
                values[name] = value
        found[address] = {"type": node["class_type"], "values": values, "links": links}
    return found


def unlike(theirs: dict[str, Json], mine: dict[str, Json]) -> Iterator[str]:
    """Where two prompts differ."""
    for address in {**theirs, **mine}:
        one, other = theirs.get(address), mine.get(address)
        if one is None or other is None:
            yield f"{address} is in one prompt only"
            continue
        for part in ("type", "links"):
            if one[part] != other[part]:
                yield f"{address} {part}: {one[part]} {other[part]}"
        for name in {**one["values"], **other["values"]}:
            values = one["values"].get(name), other["values"].get(name)
            if not alike(*values):
                yield f"{address}.{name}: {values[0]!r} {values[1]!r}"


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) and any(sign in one for sign in COMPUTED):
        return True
    return (type(one) is bool and one is other) or (type(other) is not bool and one == other)


class Fuzz:
    """Runs batches; the same seed and number give the same one."""

    def __init__(self, info: Info, seed: int, most_subjects: int | None = None) -> None:
        self.info = info
        self.definitions = NodeDefinitions(info)
        self.types = readable_types(info, self.definitions)
        self.subjects = list(subjects(info, self.definitions))[:most_subjects]
        self.seed = seed

    def run(self, number: int) -> Outcome:
        try:
            return self._run(number)
        except Unreadable as reason:
            return Outcome(f"result that the second reader does not know ({reason})")

    def _run(self, number: int) -> Outcome:
        random = Random(f"{self.seed}:{number}")
        subject = random.choice(self.subjects)
        at = Batches(subject.model, self.info, self.types, random)
        operations = at.batch(random.randint(1, MOST_OPERATIONS))
        if number % 2:
            return self._refused(subject, at, operations, random)
        if number % 10 == 4:
            return self._wrapped(subject, at, operations, random)
        if number % 10 == 8:
            return self.unwrapped(subject, at, operations, random)
        if not operations:
            return Outcome("no occasion for an operation")
        outcome = Outcome(f"valid on {subject.name}", operations=operations)
        made = self._made(subject, operations, outcome)
        if made is not None:
            outcome.failures += self._same_model(at, made)
        return outcome

    def _made(self, subject: Subject, operations: list[Json], outcome: Outcome) -> Forecast | None:
        """The forecast of a valid batch, with all that is true of each."""
        given, listed = subject.workflow(), deepcopy(operations)
        try:
            made = forecast(given, listed, self.definitions)
        except EditRefused as refused:
            outcome.failures.append(f"refused: {refused.operation}: {refused.message}")
            return None
        if json.dumps(given) != json.dumps(subject.workflow()) or listed != operations:
            outcome.failures.append("what was given was changed")
        text = json.dumps(made.content)
        again = parse_workflow(json.loads(text))
        if json.dumps(write_workflow(again)) != text:
            outcome.failures.append("it is not written as it was read")
        before, after = (
            {
                (one.node, one.input, one.code)
                for one in validate(parse_workflow(graph), self.definitions)
            }
            for graph in (given, made.content)
        )
        named = {(one.node, one.input, one.code) for one in made.problems}
        if after - before - named:
            outcome.failures.append(f"problems that are not named: {after - before - named}")
        try:
            theirs = prompt(read(made.content, self.info))
        except Unreadable as reason:
            # A bypassed node may pass on what the second reader cannot tell.
            outcome.kind = outcome.kind.replace(" on ", f", no prompt ({reason}) on ")
            return made
        outcome.failures += unlike(theirs, ours(made.content, self.definitions))
        return made

    def _same_model(self, at: Batches, made: Forecast) -> list[str]:
        expected = with_ids(at.model, dict(made.ids), at.new)
        return list(differing(expected, read(made.content, self.info)))

    def _wrapped(
        self, subject: Subject, at: Batches, operations: list[Json], random: Random
    ) -> Outcome:
        """The last operation makes a subgraph of some nodes: the prompt is the same in it."""
        scope = random.choice(list(at.paths))
        ids = list(at.model.get(scope, {"nodes": {}})["nodes"])
        if not ids:
            return Outcome("no nodes to wrap")
        some = random.sample(ids, random.randint(1, min(5, len(ids))))
        wrap: Json = {"op": "wrap", "title": "Part", "id": "part"}
        wrap["nodes"] = [at.address(scope, id_) for id_ in some]
        outcome = Outcome(f"wrap on {subject.name}", operations=[*operations, wrap])
        made = self._made(subject, outcome.operations, outcome)
        if made is None:
            if outcome.failures and (
                "PrimitiveNode" in outcome.failures[0] or "is off" in outcome.failures[0]
            ):
                return Outcome("wrap that is refused")
            return outcome
        try:
            expected = prompt(with_ids(at.model, dict(made.ids), at.new))
        except Unreadable:
            return outcome
        part = made.ids["part"]
        inside = read(made.content, self.info)
        key = _type_at(inside, part)
        prefix = part.rpartition(":")[0]
        names = {
            f"{prefix}:{id_}" if prefix else id_: f"{part}:{id_}" for id_ in inside[key]["nodes"]
        }
        outcome.failures += unlike(renamed(expected, names), prompt(inside))
        return outcome

    def unwrapped(
        self, subject: Subject, at: Batches, operations: list[Json], random: Random
    ) -> Outcome:
        """The last operation puts the nodes of a subgraph in its instance's place."""
        instances = [
            id_
            for id_, node in at.model[""]["nodes"].items()
            if node["type"] in at.model and node["mode"] == 0
        ]
        if not instances:
            return Outcome("no subgraph to unwrap")
        id_ = random.choice(instances)
        inner = list(at.model[at.model[""]["nodes"][id_]["type"]]["nodes"])
        outcome = Outcome(f"unwrap on {subject.name}")
        outcome.operations = [*operations, {"op": "unwrap", "node": id_}]
        made = self._made(subject, outcome.operations, outcome)
        if made is None:
            return outcome
        ids = {name: address.rpartition(":")[2] for name, address in made.ids.items()}
        try:
            inside = prompt(with_ids(at.model, ids, at.new))
        except Unreadable:
            return outcome
        names = {f"{id_}:{ids.get(one, one)}": ids.get(one, one) for one in inner}
        expected = renamed(inside, names)
        found = prompt(read(made.content, self.info))
        added = found.keys() - expected.keys()
        for node in found.values():
            for name, source in list(node["links"].items()):
                if source[0] in added and "value" in found[source[0]]["values"]:
                    node["values"][name] = found[node["links"].pop(name)[0]]["values"]["value"]
        found = {one: node for one, node in found.items() if one not in added}
        outcome.failures += unlike(expected, found)
        return outcome

    def _refused(
        self, subject: Subject, at: Batches, operations: list[Json], random: Random
    ) -> Outcome:
        """One operation is wrong: nothing is changed, and the error names it."""
        place = random.randint(0, len(operations))
        wrong, codes = wrong_operation(subject.model, self.info, random)
        # What is wrong with the workflow as it is has to come first.
        listed = [wrong, *operations] if place == 0 else [*_harmless(place), wrong, *operations]
        number = listed.index(wrong)
        outcome = Outcome(f"refused, {'/'.join(sorted(codes))}", operations=listed)
        given = subject.workflow()
        try:
            forecast(given, deepcopy(listed), self.definitions)
        except EditRefused as refused:
            if refused.operation != number:
                outcome.failures.append(f"operation {refused.operation}: {refused.message}")
            elif refused.code not in codes:
                outcome.failures.append(f"code {refused.code}: {refused.message}")
        else:
            outcome.failures.append("it was not refused")
        if json.dumps(given) != json.dumps(subject.workflow()):
            outcome.failures.append("what was given was changed")
        return outcome


def _harmless(count: int) -> list[Json]:
    """Operations before the wrong one, which would change the workflow if they were carried out."""
    return [{"op": "add", "id": f"note{number}", "type": "Note"} for number in range(count)]


def _type_at(model: Model, address: str) -> str:
    key = ""
    for id_ in address.split(":"):
        key = str(model[key]["nodes"][id_]["type"])
    return key


def with_ids(model: Model, ids: dict[str, str], new: dict[str, tuple[str, str]]) -> Model:
    """The model with the real ids of the nodes that the batch named."""
    real = {name: ids[name].rpartition(":")[2] for name in new if name in ids}
    found: Model = {}
    for key, scope in model.items():
        level = deepcopy(scope)
        level["nodes"] = {real.get(id_, id_): node for id_, node in level["nodes"].items()}
        for node in level["nodes"].values():
            node["links"] = {
                name: (real.get(source[0], source[0]), source[1])
                for name, source in node["links"].items()
            }
        for name, source in level["outputs"].items():
            if source is not None:
                level["outputs"][name] = (real.get(source[0], source[0]), source[1])
        found[key] = level
    return found


def renamed(theirs: dict[str, Json], names: dict[str, str]) -> dict[str, Json]:
    """A prompt whose addresses begin otherwise."""

    def address(old: str) -> str:
        parts = old.split(":")
        for length in range(len(parts), 0, -1):
            head = ":".join(parts[:length])
            if head in names:
                return ":".join([names[head], *parts[length:]])
        return old

    return {
        address(old): {
            **node,
            "links": {name: (address(one), slot) for name, (one, slot) in node["links"].items()},
        }
        for old, node in theirs.items()
    }


def plain(value: Any) -> Any:
    """A value in a form that tells *true* from 1, but not 1 from 1.0, nor 0.3 from what binary
    fractions make of it, which a front end rounds when it sets a value."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return round(value, DIGITS)
    return ("bool", value) if isinstance(value, bool) else value


def differing(expected: Model, found: Model) -> Iterator[str]:
    """Where two models differ in what counts."""
    used = {node["type"] for scope in expected.values() for node in scope["nodes"].values()}
    kept = {key for key in expected if not key or key in used}
    if kept != found.keys():
        yield f"subgraphs {kept ^ found.keys()}"
        return
    for key in kept:
        one, other = expected[key], found[key]
        if one["inputs"] != other["inputs"] or one["outputs"] != other["outputs"]:
            yield f"{key}: {one['inputs']} {one['outputs']} {other['inputs']} {other['outputs']}"
        if one["nodes"].keys() != other["nodes"].keys():
            yield f"{key}: nodes {one['nodes'].keys() ^ other['nodes'].keys()}"
            continue
        for id_, node in one["nodes"].items():
            for part in COMPARED:
                if plain(node[part]) != plain(other["nodes"][id_][part]):
                    yield f"{key}:{id_} {part}: {node[part]} {other['nodes'][id_][part]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--batches", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first number")
    parser.add_argument("--shown", type=int, default=20, help="failures that are printed")
    given = parser.parse_args()
    fuzz = Fuzz(load_catalog().nodes, given.seed)
    print(f"{len(fuzz.subjects)} templates, {len(fuzz.types)} types", flush=True)
    kinds: Counter[str] = Counter()
    failed = 0
    for number in range(given.first, given.first + given.batches):
        try:
            outcome = fuzz.run(number)
        except (
            ArithmeticError,
            AssertionError,
            LookupError,
            NotAWorkflow,
            TypeError,
            ValueError,
        ) as error:
            outcome = Outcome("error", [f"{type(error).__name__}: {error}"])
        kinds[outcome.kind.partition(" on ")[0]] += 1
        if number % PROGRESS == PROGRESS - 1:
            print(f"{number + 1}: {failed} failed", file=sys.stderr, flush=True)
        if outcome.failures:
            failed += 1
            if failed <= given.shown:
                print(f"{number} {outcome.kind}: {outcome.failures[:3]}")
                print(f"  {json.dumps(outcome.operations)}", flush=True)
    for kind, count in sorted(kinds.items()):
        print(f"{count:6} {kind}")
    print(f"{failed} of {given.batches} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
