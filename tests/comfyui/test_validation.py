"""The validator against the validation of a real ComfyUI, which does not run anything here.

ComfyUI gets an empty file for each model and input file that the sampled templates name, so that it
takes their prompts as they are. Each prompt is then made wrong in many ways.
"""

import gzip
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.validation import validate
from plugin.assistant.workflow.validation_files import model_folder
from plugin.assistant.workflow.validation_problems import Problem
from plugin.tests.comfyui.instance import ComfyUI, running_comfyui
from plugin.tests.hosts import ROOT

pytestmark = pytest.mark.comfyui

PROMPTS = ROOT / "tests" / "workflow" / "data" / "prompts.json.gz"
EVERY = 1
BATCH = 40  # prompts in one request
Prompt = dict[str, dict[str, Any]]
OWN_CHECKS = {"FluxProUltraImageNode"}
"""Nodes whose own check of a value is not repeated by the validator."""


@pytest.fixture(scope="module")
def templates() -> dict[str, Prompt]:
    """The prompts of all official templates as the stock front end makes them."""
    recorded = json.loads(gzip.decompress(PROMPTS.read_bytes()))["prompts"]
    return {name: one["output"] for name, one in sorted(recorded.items()) if "output" in one}


@pytest.fixture(scope="module")
def host(
    comfyui_dir: Path, templates: dict[str, Prompt], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ComfyUI]:
    """A ComfyUI with the probe and with all files that the templates name."""
    folder = tmp_path_factory.mktemp("validating")
    probe = folder / "custom_nodes" / "validation_probe"
    probe.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("validation_probe.py"), probe / "__init__.py")
    for prompt in templates.values():
        for node in prompt.values():
            for name, value in node["inputs"].items():
                _put_file(folder, str(node.get("class_type")), name, value)
    with running_comfyui(ROOT, folder, {"ASSISTANT_DISCOVER": "0"}) as instance:
        yield instance


def _put_file(folder: Path, type_: str, name: str, value: Any) -> None:
    """An empty file where the node looks for its value."""
    if not isinstance(value, str) or not 0 < len(value) < 200 or ".." in value or ":" in value:
        return
    models = model_folder(type_, name)
    plain, _, where = value.partition(" [")
    if models is not None and "." in value and models not in ("configs", "diffusers"):
        path = folder / "models" / models / value
    elif (type_, name) in INPUT_FILES:
        path = folder / (where.rstrip("]") or "input") / plain
    else:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


INPUT_FILES = {
    ("LoadImage", "image"), ("LoadImageMask", "image"), ("LoadVideo", "file"),
    ("LoadAudio", "audio"), ("Load3D", "model_file"), ("LoadImageOutput", "image"),
    ("Load3DAdvanced", "model_file"),
}  # fmt: skip


@pytest.fixture(scope="module")
def definitions(host: ComfyUI) -> NodeDefinitions:
    return NodeDefinitions(host.read_json("/object_info"))


def remove_input(prompt: Prompt, node: str, chance: random.Random) -> None:
    del prompt[node]["inputs"][chance.choice(list(prompt[node]["inputs"]))]


def link_nowhere(prompt: Prompt, node: str, chance: random.Random) -> None:
    name = chance.choice(list(prompt[node]["inputs"]))
    prompt[node]["inputs"][name] = ["no such node", 0]


def link_past_the_outputs(prompt: Prompt, node: str, chance: random.Random) -> None:
    name = chance.choice(list(prompt[node]["inputs"]))
    prompt[node]["inputs"][name] = [chance.choice(list(prompt)), chance.choice([40, -30])]


def link_anything(prompt: Prompt, node: str, chance: random.Random) -> None:
    """Often of the wrong type, sometimes a circle."""
    name = chance.choice(list(prompt[node]["inputs"]))
    prompt[node]["inputs"][name] = [chance.choice(list(prompt)), 0]


def link_itself(prompt: Prompt, node: str, chance: random.Random) -> None:
    name = chance.choice(list(prompt[node]["inputs"]))
    prompt[node]["inputs"][name] = [node, 0]


def odd_value(prompt: Prompt, node: str, chance: random.Random) -> None:
    values = [None, "", "twelve", "12", -1, 10**12, 0.5, True, [], [1], {}, {"__value__": ["a"]}]
    name = chance.choice(list(prompt[node]["inputs"]))
    prompt[node]["inputs"][name] = chance.choice(values)


def unknown_type(prompt: Prompt, node: str, chance: random.Random) -> None:
    prompt[node]["class_type"] = f"No{prompt[node]['class_type']}"


def remove_node(prompt: Prompt, node: str, chance: random.Random) -> None:
    del prompt[node]


def extra_input(prompt: Prompt, node: str, chance: random.Random) -> None:
    prompt[node]["inputs"]["no_such_input"] = 1


MUTATIONS: tuple[Callable[[Prompt, str, random.Random], None], ...] = (
    remove_input, link_nowhere, link_past_the_outputs, link_anything, link_itself, odd_value,
    odd_value, odd_value, unknown_type, remove_node, extra_input,
)  # fmt: skip


def mutants(name: str, prompt: Prompt) -> Iterator[tuple[str, Prompt]]:
    """The prompt as it is, and one of each mutation at nodes that lots choose."""
    yield f"{name}: as it is", prompt
    chance = random.Random(name)
    with_inputs = [node for node, entry in prompt.items() if entry["inputs"]]
    for number, mutation in enumerate(MUTATIONS):
        if with_inputs:
            mutant = deepcopy(prompt)
            mutation(mutant, chance.choice(with_inputs), chance)
            yield f"{name}: {number} {mutation.__name__}", mutant


async def asked(host: ComfyUI, prompts: list[Prompt]) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    async with aiohttp.ClientSession(host.url) as session:
        for start in range(0, len(prompts), BATCH):
            body = prompts[start : start + BATCH]
            async with session.post("/validation_probe", json=body) as response:
                assert response.status == 200, await response.text()
                answers.extend(await response.json())
    return answers


def undecided(prompt: Prompt, answer: dict[str, Any], problems: list[Problem]) -> set[str]:
    """The nodes of which nobody can know whether ComfyUI names them.

    Where its check of a node breaks off (a link to nowhere), it depends on the order of a set which
    of the node's other links it had followed; so does which nodes of circles that share nodes it
    names. A file in a folder that no list shows may be there.
    """
    theirs = answer["nodes"]
    kinds = {error["type"] for entry in theirs.values() for error in entry["errors"]}
    free = {one.node for one in problems if one.code == "missing_file" and not one.blocks_run}
    free |= {node for node in theirs if theirs[node]["class_type"] in OWN_CHECKS}
    if "dependency_cycle" in kinds:
        free |= {one.node for one in problems if one.code == "cycle"} - theirs.keys()
    return free | not_followed(prompt, answer)


def not_followed(prompt: Prompt, answer: dict[str, Any]) -> set[str]:
    """The nodes that only nodes need whose check broke off."""
    broken = {
        node
        for node, entry in answer["nodes"].items()
        if any(error["type"].startswith("exception_during") for error in entry["errors"])
    }
    sure = {node for entry in answer["nodes"].values() for node in entry["dependent_outputs"]}
    pending = list(sure) if broken else []
    while pending:
        node = pending.pop()
        for value in prompt[node]["inputs"].values() if node not in broken else ():
            if isinstance(value, list) and value and value[0] in prompt.keys() - sure:
                sure.add(value[0])
                pending.append(value[0])
    return prompt.keys() - sure if broken else set()


def differs(prompt: Prompt, answer: dict[str, Any], problems: list[Problem]) -> str | None:
    """In what ComfyUI's answer and the validator's do not agree."""
    ours: dict[str, set[str]] = {}
    for problem in problems:
        if problem.blocks_run:
            ours.setdefault(problem.node, set()).add(problem.code)
    kind = (answer["error"] or {}).get("type")
    if kind == "missing_node_type":
        node = answer["error"]["extra_info"]["node_id"]
        return None if "unknown_node" in ours.get(node, ()) else f"unknown node {node}: {ours}"
    if kind == "prompt_no_outputs":
        return None if "no_output" in ours.get("", ()) else f"no output: {ours}"
    theirs = answer["nodes"]
    open_ = undecided(prompt, answer, problems)
    if theirs.keys() - open_ == ours.keys() - open_:
        return None
    why = {
        node: [(error["type"], error["details"]) for error in entry["errors"]]
        for node, entry in theirs.items()
        if node not in ours.keys() | open_
    }
    only = {node: codes for node, codes in ours.items() if node not in theirs.keys() | open_}
    return f"ComfyUI alone: {why}; the validator alone: {only}"


async def test_what_comfyui_refuses_blocks_at_the_same_nodes(
    host: ComfyUI,
    templates: dict[str, Prompt],
    definitions: NodeDefinitions,
    record_property: Callable[[str, object], None],
) -> None:
    """ComfyUI refuses values of inputs whose list of choices is empty, and the validator takes
    them; no prompt here has such an input, since each folder has files."""
    known = [
        name
        for name, prompt in templates.items()
        if all(node.get("class_type") in definitions for node in prompt.values())
    ]
    sample = [pair for name in known[::EVERY] for pair in mutants(name, templates[name])]
    answers = await asked(host, [prompt for _, prompt in sample])
    different, kinds = {}, Counter[str]()
    for (name, prompt), answer in zip(sample, answers, strict=True):
        found = differs(prompt, answer, validate(parse_workflow(prompt), definitions))
        kinds["accepted" if answer["accepted"] and not answer["nodes"] else "refused"] += 1
        if found is not None:
            different[name] = found
    record_property("counts", f"{len(known[::EVERY])} templates, {dict(kinds)}")
    assert not different, "\n".join(f"{name}: {why}" for name, why in different.items())
    assert kinds["accepted"] > 40
    assert kinds["refused"] > 200
