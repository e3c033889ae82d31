"""The definitions of nodes: both forms of inputs, the dynamic inputs of the newer nodes, order."""

from typing import Any

import pytest
from hypothesis import given
from plugin.assistant.workflow.inputs import Input, connects, read_input
from plugin.assistant.workflow.node_definitions import NO_DEFINITIONS, NodeDefinitions
from plugin.tests.workflow.strategies import JSON
from plugin.tests.workflow.workflows import definitions


def definition(required: Any = None, optional: Any = None, **more: Any) -> Any:
    raw = {"input": {"required": required, "optional": optional}, **more}
    return NodeDefinitions({"X": raw})["X"]


def test_comfyuis_own_definitions_are_all_read() -> None:
    assert len(definitions()) > 800
    for one in definitions().values():
        assert one.title and one.module
        assert all(spec.types and spec.name for spec in one.inputs)
    assert len(NO_DEFINITIONS) == 0


def test_a_choice_of_both_forms_has_its_choices_and_default() -> None:
    old = read_input("a", [["x", "y"], {"default": "y"}], False)
    new = read_input("a", ["COMBO", {"options": ["x", "y"], "default": "y"}], False)
    for one in (old, new):
        assert (one.type, one.choices, one.default, one.has_widget) == (
            "COMBO",
            ("x", "y"),
            "y",
            True,
        )


def test_inputs_stand_in_the_order_of_the_front_ends_widgets() -> None:
    one = definition(
        {"b": ["INT"], "a": ["INT"], "left out": ["INT"]},
        {"d": ["INT"], "c": ["INT"]},
        input_order={"required": ["a", "b"], "optional": ["c", "d", "a"]},
    )
    assert [spec.name for spec in one.inputs] == ["a", "b", "c", "d", "left out"]
    assert [spec.optional for spec in one.inputs] == [False, False, True, True, False]


@pytest.mark.parametrize(
    ("spec", "types", "widget"),
    [
        (["IMAGE,MASK", {}], ("IMAGE", "MASK"), False),
        (["*", {}], ("*",), False),
        (["INT", {"forceInput": True}], ("INT",), False),
        (["FLOAT,INT", {"widgetType": "FLOAT"}], ("FLOAT", "INT"), True),
        (["COMFY_MATCHTYPE_V3", {"template": {"allowed_types": "A,B"}}], ("A", "B"), False),
        ([], ("UNKNOWN",), False),
    ],
)
def test_an_input_says_what_may_be_linked_to_it(
    spec: Any, types: tuple[str, ...], widget: bool
) -> None:
    one = read_input("a", spec, False)
    assert (one.types, one.has_widget) == (types, widget)


def test_dotted_names_of_dynamic_inputs_are_found() -> None:
    images = {"template": {"input": {"required": {"image": ["IMAGE"]}}, "prefix": "i", "max": 3}}
    branch = {"required": {"width": ["INT", {"max": 9}], "images": ["COMFY_AUTOGROW_V3", images]}}
    options = [{"key": "on", "inputs": branch}, {"key": "off", "inputs": {}}]
    one = definition(
        {"mode": ["COMFY_DYNAMICCOMBO_V3", {"options": options}]},
        {"more": ["COMFY_AUTOGROW_V3", images]},
    )
    on = {"mode": "on"}.get
    width = one.input("mode.width", on)
    assert width is not None and (width.type, width.options["max"]) == ("INT", 9)
    assert one.input("mode.width", {"mode": "off"}.get) is None
    assert one.input("mode.width") is None
    assert getattr(one.input("mode.images.i2", on), "type", None) == "IMAGE"
    assert getattr(one.input("more.i0"), "type", None) == "IMAGE"
    assert one.input("more.i3") is None and one.input("more.x0") is None
    assert one.input("more.i00") is None


def test_a_group_with_names_has_these_and_no_others() -> None:
    template = {"input": {"required": {"image": ["IMAGE"]}}, "names": ["first", "second"]}
    one = definition({"images": ["COMFY_AUTOGROW_V3", {"template": template}]})
    assert one.input("images.second") is not None and one.input("images.third") is None


def test_outputs_without_a_name_get_the_front_ends() -> None:
    one = definition({}, output=["IMAGE", ["a", "b"]], output_name=["picture"])
    assert [(out.name, out.type) for out in one.outputs] == [
        ("picture", "IMAGE"),
        ("output_1", "COMBO"),
    ]


@pytest.mark.parametrize(
    ("output", "input_", "fits"),
    [
        ("IMAGE", "IMAGE", True),
        ("IMAGE", "image", True),
        ("IMAGE", "MASK", False),
        ("IMAGE", "IMAGE,MASK", True),
        ("LATENT", "IMAGE,MASK", False),
        ("*", "MASK", True),
        ("IMAGE", "", True),
    ],
)
def test_types_of_links(output: str, input_: str, fits: bool) -> None:
    assert connects(output, input_) is fits


@given(JSON)
def test_any_json_is_read_as_definitions(raw: Any) -> None:
    for object_info in (
        raw,
        {"X": raw},
        {"X": {"input": raw}},
        {"X": {"input": {"required": raw}}},
    ):
        for one in NodeDefinitions(object_info).values():
            assert all(isinstance(spec, Input) for spec in one.inputs)
            assert [one.title, one.category, one.module, list(one.outputs)]
    spec = read_input("a", [raw, raw], True)
    assert spec.types and spec.branches is not None and spec.inside("b", lambda _: raw, "a") is None
