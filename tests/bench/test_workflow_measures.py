"""The measures that the views and the validator are held against."""

from __future__ import annotations

from typing import Any

import pytest
from plugin.bench.workflow_obeys import disobeys, lost_links, unknown_types
from plugin.bench.workflow_script import script

RESIZE = {
    "key": "by size",
    "inputs": {"required": {"width": ["INT", {"min": 0, "max": 100}]}},
}
DEFINITIONS: dict[str, Any] = {
    "Load": {
        "input": {"required": {"name": [["a.safetensors"], {}]}},
        "output": ["MODEL", "VAE"],
        "output_name": ["MODEL", "VAE"],
    },
    "Sample": {
        "input": {
            "required": {
                "model": ["MODEL"],
                "steps": ["INT", {"default": 20, "min": 1, "max": 100}],
                "sampler": [["euler", "heun"]],
                "add_noise": ["BOOLEAN", {}],
            },
            "optional": {"resize": ["COMFY_DYNAMICCOMBO_V3", {"options": [RESIZE]}]},
        },
        "output": ["LATENT"],
    },
}


def prompt(**values: Any) -> dict[str, Any]:
    given = {"model": ["1", 0], "steps": 8, "sampler": "euler", "add_noise": True, **values}
    return {
        "2": {"class_type": "Sample", "inputs": given},
        "1": {"class_type": "Load", "inputs": {"name": "not-here.safetensors"}},
    }


def test_code_has_each_node_after_those_it_needs_and_arguments_in_place() -> None:
    assert script(prompt(), DEFINITIONS).splitlines() == [
        "model, vae = Load('not-here.safetensors')",
        "latent = Sample(model, 8, 'euler', True)",
    ]


def test_code_names_an_argument_behind_one_that_is_left_out() -> None:
    without = prompt()
    del without["2"]["inputs"]["steps"]
    assert script(without, DEFINITIONS).endswith("Sample(model, sampler='euler', add_noise=True)")


def test_code_of_a_circle_ends() -> None:
    circle = {"1": {"class_type": "Sample", "inputs": {"model": ["1", 0]}}}
    assert script(circle, DEFINITIONS).count("Sample(") == 1


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({}, set()),
        ({"steps": "12"}, set()),
        ({"steps": 0}, {"steps"}),
        ({"steps": "flow"}, {"steps"}),
        ({"steps": ["1", 0]}, set()),
        ({"sampler": "lcm"}, {"sampler"}),
        ({"add_noise": "enable"}, {"add_noise"}),
        ({"resize": "by size", "resize.width": 50}, set()),
        ({"resize": "by size", "resize.width": 101}, {"resize.width"}),
        ({"resize": "by magic"}, {"resize"}),
    ],
)
def test_values_that_the_definitions_do_not_allow_are_named(
    values: dict[str, Any], wrong: set[str]
) -> None:
    assert disobeys(prompt(**values), DEFINITIONS) == {("2", name) for name in wrong}


def test_a_link_into_a_widget_that_is_not_there_is_named() -> None:
    known = {"name": "steps", "widget": {"name": "steps"}, "link": 1}
    nested = {"name": "resize.width", "widget": {"name": "resize.width"}, "link": 2}
    lost = {"name": "stpes", "widget": {"name": "stpes"}, "link": 3}
    free = {"name": "other", "widget": {"name": "other"}, "link": None}
    nodes = [{"id": 2, "type": "Sample", "inputs": [known, nested, lost, free]}]
    assert lost_links({"nodes": nodes}, DEFINITIONS) == {("2", "stpes")}


def test_types_that_are_not_installed_are_named() -> None:
    assert unknown_types({**prompt(), "3": {"class_type": "Other"}}, DEFINITIONS) == {"Other"}
