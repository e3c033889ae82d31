"""Laws of the validator: over official templates, and over graphs of any JSON."""

import json
import random
import re
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import NotAWorkflow
from plugin.assistant.workflow.graph import Graph
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.validation import validate
from plugin.assistant.workflow.validation_problems import Code, Problem
from plugin.preview.catalog import load_catalog
from plugin.tests.workflow.catalog_rules import offences
from plugin.tests.workflow.strategies import GRAPHS, JSON
from plugin.tests.workflow.workflows import definitions, recorded_prompts, sample, template

FILES = ("missing_model", "missing_file")
TYPES = ["KSampler", "SaveImage", "LoadImage", "ResizeImageMaskNode", "BatchImagesNode", "Other"]
NAMES = st.sampled_from(
    [
        "image",
        "images",
        "model",
        "seed",
        "steps",
        "resize_type",
        "resize_type.width",
        "images.image0",
    ]
)
LINKS = st.tuples(st.sampled_from("1234"), st.integers(-2, 4)).map(list)
PROMPTS = st.dictionaries(
    st.sampled_from("1234"),
    st.fixed_dictionaries(
        {"class_type": st.sampled_from(TYPES), "inputs": st.dictionaries(NAMES, LINKS | JSON)},
        optional={"_meta": JSON},
    ),
    min_size=1,
)


def problems_of(document: Any) -> tuple[Graph, list[Problem]]:
    graph = parse_workflow(document)
    return graph, validate(graph, definitions())


def by_place(problems: list[Problem]) -> set[tuple[str, str]]:
    return {(one.node, one.input) for one in problems}


RECORDED = [name for name in sample() if name in recorded_prompts()]
"""Templates of the sample that the front end makes a prompt of."""

INCOMPLETE = {"video_ltx2_i2v_lora": [("75", "video", "missing_input")]}
"""Templates that ComfyUI itself refuses in part, though each of their values is right."""


@pytest.mark.parametrize("name", RECORDED)
def test_a_template_that_obeys_the_catalog_lacks_files_only(name: str) -> None:
    """And of another one each value that does not obey is named."""
    prompt = recorded_prompts()[name]
    wrong = set(offences(prompt, load_catalog().nodes))
    _, problems = problems_of(template(name))
    if wrong:
        assert wrong <= by_place(problems)
    else:
        others = [one.identity for one in problems if one.code not in FILES]
        assert others == INCOMPLETE.get(name, [])


@given(prompt=PROMPTS, nodes=st.sets(st.sampled_from(["", "1", "2", "3", "4", "5"])))
def test_the_problems_of_some_nodes_are_those_of_all_that_these_nodes_have(
    prompt: Any, nodes: set[str]
) -> None:
    graph, problems = problems_of(prompt)
    of_some = [one for one in problems if one.node in nodes]
    assert validate(graph, definitions(), nodes=nodes) == of_some


@pytest.mark.parametrize("name", RECORDED[::6])
def test_a_workflow_and_its_prompt_have_the_same_blocking_problems(name: str) -> None:
    prompt = recorded_prompts()[name]
    if any("class_type" not in node for node in prompt.values()):
        prompt = {key: {"class_type": "", **node} for key, node in prompt.items()}
    _, of_file = problems_of(template(name))
    _, of_prompt = problems_of(prompt)
    assert {one.identity for one in of_file if one.blocks_run} == {
        one.identity for one in of_prompt if one.blocks_run
    }


@pytest.mark.parametrize("name", RECORDED[::6])
def test_other_ids_in_another_order_have_the_same_problems(name: str) -> None:
    prompt = recorded_prompts()[name]
    keys = list(prompt)
    random.Random(name).shuffle(keys)
    anew = {key: f"n{place}" for place, key in enumerate(keys)}

    def moved(value: Any) -> Any:
        linked = isinstance(value, list) and len(value) == 2 and value[0] in anew
        return [anew[value[0]], value[1]] if linked else value

    other = {
        anew[key]: {
            **prompt[key],
            "inputs": {name: moved(value) for name, value in prompt[key]["inputs"].items()},
        }
        for key in keys
    }
    _, before = problems_of(prompt)
    _, after = problems_of(other)
    identities = {(anew.get(one.node, ""), one.input, one.code, one.blocks_run) for one in before}
    assert {(one.node, one.input, one.code, one.blocks_run) for one in after} == identities


def check_laws(graph: Graph, problems: list[Problem]) -> None:
    """Each problem's node is there, once for one code and input; what blocks comes first."""
    assert len({one.identity for one in problems}) == len(problems)
    blocks = [one.blocks_run for one in problems]
    assert blocks == sorted(blocks, reverse=True)
    for one in problems:
        assert one.code in get_args(Code)
        assert not one.node or graph.place(one.node) is not None or graph.format == "prompt"
        assert one.message.endswith(".")
        assert not re.search(r"[\x00-\x1f\u202e]", one.message)
        json.dumps(one.json())


@given(GRAPHS)
def test_any_graph_is_answered(document: Mapping[str, Any]) -> None:
    try:
        graph, problems = problems_of(document)
    except NotAWorkflow:
        return
    check_laws(graph, problems)


@given(PROMPTS)
def test_any_prompt_is_answered(document: Mapping[str, Any]) -> None:
    try:
        graph, problems = problems_of(document)
    except NotAWorkflow:
        return
    check_laws(graph, problems)


def test_a_chain_of_twenty_thousand_nodes_is_answered() -> None:
    """The longest circle that can be drawn, too: nothing here recurses."""
    count = 20_000
    prompt: dict[str, Any] = {
        str(place): {"class_type": "ImageInvert", "inputs": {"image": [str(place + 1), 0]}}
        for place in range(count)
    }
    prompt["save"] = {"class_type": "PreviewImage", "inputs": {"images": ["0", 0]}}
    _, problems = problems_of(prompt)
    assert [one.identity for one in problems] == [(str(count - 1), "image", "dangling_link")]
    prompt[str(count - 1)]["inputs"]["image"] = ["0", 0]
    _, problems = problems_of(prompt)
    assert {one.code for one in problems} == {"cycle"}
    assert len(problems) == count
