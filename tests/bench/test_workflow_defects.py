"""The injector spoils one thing, at a place that counts, and says where."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import pytest
from plugin.bench import workflow_raw as raw
from plugin.bench.workflow_defects import INJECTORS, Defect, furnish, inject
from plugin.bench.workflow_raw import Placed, Raw
from plugin.preview.catalog import load_catalog
from plugin.preview.templates import templates_folder

SUBGRAPH = "image_z_image_turbo"
PLAIN = "sd3.5_large_canny_controlnet_example"
DYNAMIC = "utility_image_stitch"


@cache
def load(template: str) -> Raw:
    path = templates_folder() / f"{template}.json"
    workflow: Raw = json.loads(path.read_text(encoding="utf-8"))
    return workflow


@cache
def definitions() -> dict[str, Any]:
    return furnish(load_catalog().nodes, [load(one) for one in (SUBGRAPH, PLAIN, DYNAMIC)])


def spoiled(template: str, code: str, seed: int = 1) -> tuple[Defect, Placed]:
    defect = inject(load(template), definitions(), code, seed)
    assert defect is not None
    nodes = {place.address: place for place in raw.placed(defect.workflow)}
    return defect, nodes[defect.nodes[0]]


@pytest.mark.parametrize("template", [SUBGRAPH, PLAIN, DYNAMIC])
@pytest.mark.parametrize("code", sorted(INJECTORS))
def test_a_defect_is_a_change_of_a_copy_and_the_same_seed_gives_the_same(
    template: str, code: str
) -> None:
    before = copy.deepcopy(load(template))
    defect = inject(load(template), definitions(), code, 1)
    assert load(template) == before
    assert defect == inject(load(template), definitions(), code, 1)
    if defect is not None:
        assert defect.code == code
        assert defect.workflow != before


def test_every_code_has_a_place_in_a_workflow_with_a_loader_and_a_picture() -> None:
    assert all(inject(load(PLAIN), definitions(), code, 1) for code in INJECTORS)


@pytest.mark.parametrize("seed", range(6))
def test_a_missing_input_is_a_required_one_whose_link_is_gone(seed: int) -> None:
    defect, place = spoiled(SUBGRAPH, "missing_input", seed)
    slots = {slot["name"]: slot for slot in place.node["inputs"]}
    assert slots[defect.input]["link"] is None
    assert defect.input in raw.required(definitions()[place.type])
    assert raw.linked(place, defect.input) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_link_of_a_wrong_type_comes_from_an_output_of_another_type(seed: int) -> None:
    defect, place = spoiled(PLAIN, "wrong_type", seed)
    link = raw.linked(place, defect.input)
    assert link is not None
    origin = next(one for one in place.scope.nodes if one["id"] == link.origin)
    made = definitions()[origin["type"]]["output"][link.origin_slot]
    wanted = raw.specs(definitions()[place.type])[defect.input][0]
    assert made != wanted


@pytest.mark.parametrize("seed", range(6))
def test_the_nodes_of_a_cycle_lead_back_to_the_first(seed: int) -> None:
    defect, _ = spoiled(PLAIN, "cycle", seed)
    nodes = {place.address: place for place in raw.placed(defect.workflow)}
    ring = set(defect.nodes)
    for address in ring:
        origins = {str(link.origin) for link in nodes[address].scope.links().values()}
        assert address in origins
        fed = [one for one in nodes[address].scope.links().values() if str(one.target) == address]
        assert any(str(one.origin) in ring for one in fed)


@pytest.mark.parametrize("seed", range(6))
def test_a_value_out_of_range_is_beyond_the_limits_of_its_widget(seed: int) -> None:
    defect, place = spoiled(DYNAMIC, "out_of_range", seed)
    found = {one.name: one for one in raw.widgets(place.node, definitions()[place.type]) or []}
    limits = raw.options(found[defect.input].spec)
    value = place.node["widgets_values"][found[defect.input].place]
    assert not limits["min"] <= value <= limits["max"]


def test_a_model_that_a_subgraph_shows_outside_is_spoiled_there_too() -> None:
    found = [spoiled(SUBGRAPH, "missing_model", seed) for seed in range(8)]
    assert {place.type for _, place in found} <= {"UNETLoader", "VAELoader", "CLIPLoader"}
    for defect, place in found:
        assert place.address.startswith("57:")
        widget = next(one for one in raw.widgets(place.node, definitions()[place.type]) or [])
        assert widget.name == defect.input
        assert place.node["widgets_values"][0] not in (raw.choices(widget.spec) or [])


def test_nothing_is_spoiled_where_no_output_needs_it() -> None:
    workflow = copy.deepcopy(load(PLAIN))
    for node in workflow["nodes"]:
        if node["type"] in ("SaveImage", "PreviewImage"):
            node["mode"] = raw.MUTED
    codes = sorted(set(INJECTORS))
    assert [code for code in codes if inject(workflow, definitions(), code, 1)] == []


def test_a_problem_counts_only_at_the_node_and_input_of_the_defect() -> None:
    defect = Defect("missing_input", {}, ("57:3",), "model")
    right = {"node": "57:3", "input": "model", "code": "missing_input"}
    assert defect.is_found([right])
    assert not defect.is_found([{**right, "node": "3"}])
    assert not defect.is_found([{**right, "input": "vae"}])
    assert not defect.is_found([{**right, "code": "dangling_link"}])
