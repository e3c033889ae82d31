"""Numbers as the canvas keeps them when a widget is given a value."""

from typing import Any

import pytest
from hypothesis import given
from plugin.assistant.workflow.rounding import kept_number
from plugin.tests.workflow.strategies import JSON
from plugin.tests.workflow.workflows import live, node, socket, widget_socket, workflow


def kept(options: dict[str, Any], value: Any, type_: str = "FLOAT", **more: Any) -> Any:
    known = {"X": {"input": {"required": {"n": [type_, options]}}}}
    found = live(workflow(node(1, "X", **more)), known).node("1")
    assert found is not None
    return kept_number(found, found.widgets[0], value)


@pytest.mark.parametrize(
    ("options", "value", "expected"),
    [
        ({"step": 0.1}, 1.26, 1.3),
        ({"step": 0.1, "round": 0.01}, 8.25, 8.3),
        ({"step": 0.01, "max": 1.0}, 7, 1.0),
        ({"step": 0.01, "min": 0.5}, 0.1, 0.5),
        ({"step": 1}, 1.26, 1.26),
        ({}, 5000.25, 2048),
        ({"step": 0.001, "round": False, "max": 9}, 1.00049, 1.0),
        ({"step": 0.1}, [1, 2], None),
        ({"step": 0.1, "max": 1e25}, 1e24, 1e24),
    ],
)
def test_a_fraction_is_rounded_and_kept_in_its_range(
    options: dict[str, Any], value: Any, expected: Any
) -> None:
    assert kept(options, value) == expected


@pytest.mark.parametrize(
    ("options", "value", "expected"),
    [
        ({}, 2.5, 3),
        ({}, -2.5, -2),
        ({"step": 8, "min": 16}, 513, 512),
        ({"step": 8, "min": 1}, 10, 9),
        ({"step": 0}, 3.7, 4),
        ({}, "12", 12),
        ({}, [1, 2], None),
    ],
)
def test_a_whole_number_is_rounded_to_its_step_and_not_limited(
    options: dict[str, Any], value: Any, expected: Any
) -> None:
    assert kept(options, value, "INT") == expected


def test_other_widgets_keep_any_value() -> None:
    assert kept({}, 1.5, "STRING") == 1.5


def test_a_primitive_nodes_value_is_rounded_where_it_goes() -> None:
    primitive = node(1, "PrimitiveNode", outputs=[{"name": "F", "type": "FLOAT"}])
    primitive["widgets_values"] = [7.123456, "fixed"]
    sampler = node(2, "KSampler", inputs=[socket("model"), widget_socket("cfg", "FLOAT", link=1)])
    sampler["widgets_values"] = [7, "fixed", 20, 8.123456, "euler", "simple", 1]
    found = live(workflow(primitive, sampler, links=[[1, 1, 0, 2, 1, "FLOAT"]])).node("2")
    cfg = found.widget("cfg") if found is not None else None
    assert cfg is not None and cfg.value == 7.1
    alone = live(workflow({**sampler, "inputs": []})).node("2")
    file_value = alone.widget("cfg") if alone is not None else None
    assert file_value is not None and file_value.value == 8.123456


@given(JSON, JSON)
def test_any_value_and_options_are_taken(value: Any, option: Any) -> None:
    for type_ in ("INT", "FLOAT"):
        for name in ("step", "min", "max", "round"):
            kept({name: option}, value, type_)
