"""Where values of a prompt come from: switches, computed numbers, types of outputs, cycles."""

from __future__ import annotations

from typing import Any

from plugin.assistant.workflow.flow import Flow, Source
from plugin.tests.workflow.prompts_of_templates import definitions


def node(type_: str, **inputs: Any) -> dict[str, Any]:
    return {"class_type": type_, "inputs": inputs}


def flow(**nodes: dict[str, Any]) -> Flow:
    return Flow({name.removeprefix("n"): one for name, one in nodes.items()}, definitions())


def test_a_known_switch_is_looked_through_and_its_other_side_is_not_needed() -> None:
    read = flow(
        n1=node("UNETLoader", unet_name="a.safetensors"),
        n2=node("LoraLoaderModelOnly", model=["1", 0], lora_name="b.safetensors"),
        n3=node("ComfySwitchNode", switch=["4", 0], on_false=["1", 0], on_true=["2", 0]),
        n4=node("PrimitiveBoolean", value=False),
        n5=node("KSampler", model=["3", 0]),
        n6=node("SaveImage", images=["5", 0]),
    )
    assert read.source("5", "model") == Source("1", 0)
    assert "2" in read.reached
    assert "2" not in read.distances
    assert list(read.before("5", "MODEL")) == ["1"]


def test_a_switch_whose_state_is_not_known_is_not_looked_through() -> None:
    read = flow(
        n1=node("UNETLoader"),
        n3=node("ComfySwitchNode", switch=["9", 0], on_false=["1", 0], on_true=["1", 0]),
        n5=node("KSampler", model=["3", 0]),
        n9=node("SomethingElse"),
    )
    assert read.source("5", "model") == Source("3", 0)
    assert read.kind(Source("3", 0)) == "MODEL"


def test_numbers_that_nodes_compute_are_known() -> None:
    read = flow(
        n1=node("PrimitiveInt", value=1280),
        n2=node("ComfyMathExpression", expression="a/2", **{"values.a": ["1", 0]}),
        n3=node("EmptyLatentImage", width=["2", 1], height=["4", 1]),
        n4=node("ResolutionSelector", aspect_ratio="16:9 (Widescreen)", megapixels=1, multiple=8),
    )
    assert read.number("3", "width") == 640
    assert read.value("3", "width") == 640
    assert read.number("3", "height") == 768


def test_a_number_that_only_the_run_tells_is_not_known() -> None:
    read = flow(
        n1=node("LoadImage", image="a.png"),
        n2=node("GetImageSize", image=["1", 0]),
        n3=node("EmptyLatentImage", width=["2", 0], height=True),
    )
    assert read.number("3", "width") is None
    assert read.number("3", "height") is None


def test_links_in_a_circle_end() -> None:
    read = flow(
        n1=node("ComfySwitchNode", switch=False, on_false=["1", 0], on_true=["1", 0]),
        n2=node("ComfyMathExpression", expression="a", **{"values.a": ["2", 1]}),
        n3=node("KSampler", model=["1", 0], steps=["2", 1], latent_image=["3", 0]),
        n4=node("SaveImage", images=["3", 0]),
    )
    assert read.source("3", "model") is None
    assert read.value("3", "steps") is None
    assert read.kind(Source("1", 0)) == "*"
    assert read.ancestors("3") == {"1", "2", "3"}
    assert read.distances["3"] == 1


def test_an_input_of_a_usual_name_tells_what_an_unknown_node_gives() -> None:
    read = flow(
        n1=node("UNETLoader"),
        n2=node("NotInstalledAnywhere", model=["1", 0]),
        n3=node("KSampler", model=["2", 0]),
    )
    assert list(read.before("3", "MODEL")) == ["2", "1"]


def test_values_that_look_like_links_and_nodes_of_a_wrong_form_are_no_links() -> None:
    read = Flow(
        {
            "1": "no node",
            "2": {"inputs": [1]},
            "3": node("KSampler", seed=["7", 0], cfg=["2", "x"]),
        },
        definitions(),
    )
    assert read.link("3", "seed") is None
    assert read.link("3", "cfg") is None
    assert read.value("3", "seed") == ["7", 0]
    assert read.inputs("2") == {}


def test_numbers_that_are_used_twice_at_each_step_are_computed_once() -> None:
    links = {"n0": node("PrimitiveInt", value=1)}
    for step in range(1, 45):
        before = [str(step - 1), 0 if step == 1 else 1]
        values = {"values.a": before, "values.b": before}
        links[f"n{step}"] = node("ComfyMathExpression", expression="a + b - 1", **values)
    links["n99"] = node("EmptyLatentImage", width=["44", 1])
    assert flow(**links).number("99", "width") == 1


def test_a_chain_of_switches_that_decide_each_other_ends() -> None:
    links = {"n0": node("PrimitiveBoolean", value=True)}
    for step in range(1, 3_000):
        links[f"n{step}"] = node(
            "ComfySwitchNode", switch=[str(step - 1), 0], on_false=["0", 0], on_true=["0", 0]
        )
    links["n5000"] = node("EmptyLatentImage", width=["2999", 0])
    assert flow(**links).number("5000", "width") is None


def test_switches_that_decide_each_other_in_a_circle_have_no_state() -> None:
    read = flow(
        n1=node("ComfySwitchNode", switch=["2", 0], on_false=["3", 0], on_true=["3", 0]),
        n2=node("ComfySwitchNode", switch=["1", 0], on_false=["3", 0], on_true=["3", 0]),
        n3=node("PrimitiveInt", value=7),
        n4=node("EmptyLatentImage", width=["1", 0]),
    )
    assert read.number("4", "width") is None
