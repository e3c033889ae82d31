"""Two prompts are the same but for the ids of added nodes."""

from typing import Any

from plugin.tests.edits.same_prompt import prompt_differences, same_prompt


def node(kind: str, **inputs: Any) -> dict[str, Any]:
    return {"inputs": inputs, "class_type": kind, "_meta": {"title": kind}}


BEFORE = {"1": node("Loader", name="a"), "2": node("Sampler", steps=4, model=["1", 0])}


def with_lora(first: str, second: str) -> dict[str, Any]:
    """Two LoRAs in a row: the first has strength 1, the second 2."""
    return {
        "1": node("Loader", name="a"),
        first: node("Lora", strength=1, model=["1", 0]),
        second: node("Lora", strength=2, model=[first, 0]),
        "2": node("Sampler", steps=4, model=[second, 0]),
    }


def test_equal_prompts_are_the_same() -> None:
    assert same_prompt(BEFORE, dict(BEFORE))


def test_added_nodes_may_have_other_ids() -> None:
    assert same_prompt(with_lora("3", "4"), with_lora("9", "7"), {"3", "4"})
    assert same_prompt(with_lora("3", "4"), with_lora("4", "3"), {"3", "4"})


def test_the_ids_of_other_nodes_are_kept() -> None:
    assert not same_prompt(with_lora("3", "4"), with_lora("9", "7"))
    assert not same_prompt(with_lora("3", "4"), with_lora("3", "7"), {"3"})


def test_the_order_of_added_nodes_counts() -> None:
    found = with_lora("3", "4")
    found["3"], found["4"] = (
        {**found["3"], "inputs": {**found["3"]["inputs"], "strength": 2}},
        {**found["4"], "inputs": {**found["4"]["inputs"], "strength": 1}},
    )
    assert not same_prompt(with_lora("3", "4"), found, {"3", "4"})


def test_a_value_of_another_node_counts() -> None:
    found = with_lora("5", "6")
    found["2"] = node("Sampler", steps=5, model=["6", 0])
    assert not same_prompt(with_lora("3", "4"), found, {"3", "4"})
    assert prompt_differences(with_lora("3", "4"), found, {"3", "4"}) == ["/2/inputs/steps: 4 -> 5"]


def test_a_title_counts() -> None:
    found = {**BEFORE, "2": {**BEFORE["2"], "_meta": {"title": "Mine"}}}
    assert not same_prompt(BEFORE, found)


def test_the_version_of_a_package_does_not_count() -> None:
    made_with = {"title": "Sampler", "cnr_id": "comfy-core", "ver": "0.3.52"}
    assert same_prompt({**BEFORE, "2": {**BEFORE["2"], "_meta": made_with}}, BEFORE)


def test_a_node_too_many_or_too_few_counts() -> None:
    assert not same_prompt(BEFORE, {**BEFORE, "3": node("Save")})
    assert not same_prompt({**BEFORE, "3": node("Save")}, BEFORE, {"3"})
    assert not same_prompt(with_lora("3", "4"), {**with_lora("3", "4"), "8": node("Lora")}, {"3"})


def test_a_type_that_differs_counts() -> None:
    assert not same_prompt({**BEFORE, "3": node("Save")}, {**BEFORE, "4": node("Show")}, {"3"})


def test_whole_numbers_and_truth_values_are_told_apart() -> None:
    assert not same_prompt({"1": node("A", on=True)}, {"1": node("A", on=1)})
    assert same_prompt({"1": node("A", cfg=1)}, {"1": node("A", cfg=1.0)})


def test_an_added_instance_may_have_another_id() -> None:
    expected = {"1": node("A"), "7:2": node("B", x=["1", 0]), "7:3:4": node("C", x=["7:2", 0])}
    found = {"1": node("A"), "9:2": node("B", x=["1", 0]), "9:3:4": node("C", x=["9:2", 0])}
    assert same_prompt(expected, found, {"7"})
    assert not same_prompt(expected, found)


def test_a_node_added_inside_keeps_its_scope() -> None:
    expected = {"7:1": node("A"), "7:5": node("B", x=["7:1", 0])}
    assert same_prompt(expected, {"7:1": node("A"), "7:12": node("B", x=["7:1", 0])}, {"7:5"})
    assert not same_prompt(expected, {"7:1": node("A"), "12": node("B", x=["7:1", 0])}, {"7:5"})
