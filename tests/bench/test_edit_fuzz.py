"""A sample of the fuzz of edits, and what the fuzz would find."""

import json
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

import pytest
from plugin.assistant.workflow.edits.forecast import Forecast, forecast
from plugin.bench import edit_fuzz
from plugin.bench.edit_batches import Batches
from plugin.bench.edit_fuzz import Fuzz, alike, differing, unlike
from plugin.bench.edit_reader import DYNAMIC, Unreadable, prompt, read
from plugin.preview.catalog import load_catalog

SAMPLE, SLICE = 150, 10


@cache
def fuzz() -> Fuzz:
    return Fuzz(load_catalog().nodes, seed=21)


@pytest.mark.parametrize("first", range(0, SAMPLE, SLICE))
def test_a_batch_does_what_it_says_and_a_refused_one_nothing(first: int) -> None:
    for number in range(first, first + SLICE):
        outcome = fuzz().run(number)
        assert outcome.failures == [], json.dumps([outcome.kind, outcome.operations])


def test_the_second_reader_knows_half_of_the_templates() -> None:
    assert len(fuzz().subjects) > 320
    assert len(fuzz().types) > 500


def test_an_operation_that_is_left_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(content: Mapping[str, Any], operations: Any, definitions: Any) -> Forecast:
        return forecast(content, operations[:-1], definitions)

    counting = [n for n in range(0, 80, 2) if _changes(fuzz().run(n).operations)]
    monkeypatch.setattr(edit_fuzz, "forecast", forgetful)
    found = [n for n in counting if fuzz().run(n).failures]
    assert found == counting and found


def _changes(operations: list[dict[str, Any]]) -> bool:
    """Whether the last operation surely changes the model; what is connected may be so already."""
    return bool(operations) and operations[-1]["op"] in ("add", "insert", "remove")


def test_a_refused_batch_that_is_carried_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_fuzz, "forecast", lambda content, operations, definitions: None)
    assert fuzz().run(1).failures == ["it was not refused"]


def test_a_workflow_without_an_occasion_gives_no_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batches, "batch", lambda self, count: [])
    outcome = fuzz().run(0)
    assert (outcome.kind, outcome.failures) == ("no occasion for an operation", [])


def test_what_differs_is_said() -> None:
    node = {"type": "A", "title": None, "mode": 0, "values": {"x": 1}, "links": {}}
    scope = {"nodes": {"1": node}, "inputs": [], "outputs": {}}
    other = {**scope, "nodes": {"1": {**node, "values": {"x": True}}}}
    assert list(differing({"": scope}, {"": scope})) == []
    assert list(differing({"": scope}, {"": other})) == [":1 values: {'x': 1} {'x': True}"]
    third = {**scope, "nodes": {"1": {**node, "values": {"x": 0.1 + 0.2}}}}
    rounded = {**scope, "nodes": {"1": {**node, "values": {"x": 0.3}}}}
    assert list(differing({"": third}, {"": rounded})) == []
    assert alike(1, 1.0) and not alike(1, True)
    assert list(unlike({"1": node}, {})) == ["1 is in one prompt only"]


def test_what_the_second_reader_does_not_know_it_says() -> None:
    document = {"nodes": [{"id": 1, "type": "Nobody"}], "links": []}
    with pytest.raises(Unreadable):
        read(document, {})


def test_the_second_reader_follows_bypassed_nodes_and_reroutes() -> None:
    info = {
        name: {"input": {"required": {"image": ["IMAGE"]}}, "output": ["IMAGE"]}
        for name in ("Load", "Blur", "Save")
    }

    def node(id_: int, type_: str, link: int | None, **more: Any) -> dict[str, Any]:
        inputs = [{"name": "image", "type": "IMAGE", "link": link}]
        outputs = [{"name": "IMAGE", "type": "IMAGE"}]
        return {"id": id_, "type": type_, "inputs": inputs, "outputs": outputs, **more}

    nodes = [node(1, "Load", None), node(2, "Blur", 1, mode=4), node(3, "Reroute", 2)]
    links = [[1, 1, 0, 2, 0, "IMAGE"], [2, 2, 0, 3, 0, "IMAGE"], [3, 3, 0, 4, 0, "IMAGE"]]
    made = prompt(read({"nodes": [*nodes, node(4, "Save", 3)], "links": links}, info))
    assert made["4"]["links"] == {"image": ("1", 0)}
    assert made.keys() == {"1", "4"}


def test_a_seed_in_an_option_of_a_dynamic_combo_does_not_change_by_itself() -> None:
    seed = ["INT", {}]
    on, off = {"required": {"seed": seed}}, dict[str, Any]()
    options = [{"key": "off", "inputs": off}, {"key": "on", "inputs": on}]
    mode = [DYNAMIC, {"options": options}]
    info = {"Text": {"input": {"required": {"mode": mode, "seed": seed}}, "output": []}}
    node = {"id": 1, "type": "Text", "widgets_values": ["off", 3, "fixed"]}
    model = read({"nodes": [node], "links": []}, info)
    found = []
    for number in range(100):
        at = Batches(model, info, ["Text"], Random(number))
        at.batch(1)
        found += [one["values"].keys() for one in at.model[""]["nodes"].values()]
    chosen = [names for names in found if "mode.seed" in names]
    assert chosen and all("control_after_generate" in names for names in chosen)
    assert not any("mode.control_after_generate" in names for names in chosen)


def test_a_bypassed_node_has_the_inputs_that_its_file_leaves_out() -> None:
    text = ["STRING", {}]
    join = {"input": {"required": {"a": text, "b": text}}, "output": ["STRING"]}
    info = {"Join": join, "Load": {"input": {}, "output": ["STRING"]}}

    def node(id_: int, name: str, link: int, **more: Any) -> dict[str, Any]:
        inputs = [{"name": name, "type": "STRING", "link": link}]
        outputs = [{"name": "STRING", "type": "STRING"}]
        return {"id": id_, "type": "Join", "inputs": inputs, "outputs": outputs, **more}

    load = {"id": 1, "type": "Load", "outputs": [{"name": "STRING", "type": "STRING"}]}
    nodes = [load, node(2, "b", 1, mode=4), node(3, "a", 2, widgets_values=["mine", ""])]
    links = [[1, 1, 0, 2, 0, "STRING"], [2, 2, 0, 3, 0, "STRING"]]
    made = prompt(read({"nodes": nodes, "links": links}, info))
    assert made["3"] == {"type": "Join", "values": {"a": "mine", "b": ""}, "links": {}}


def test_a_subgraph_inside_of_one_that_is_unwrapped_is_compared() -> None:
    nested = next(one for one in fuzz().subjects if one.name == "image_netayume_lumina_t2i")
    at = Batches(nested.model, fuzz().info, fuzz().types, Random(0))
    outcome = fuzz().unwrapped(nested, at, [], Random(0))
    assert (outcome.kind, outcome.failures) == (f"unwrap on {nested.name}", [])


def test_the_second_reader_does_not_tell_what_a_bypassed_node_gives_an_input_of_several_types() -> (
    None
):
    load = {"id": 1, "type": "Load", "outputs": [{"name": "INT", "type": "INT"}]}
    slots = {"inputs": [{"name": "n", "type": "INT", "link": 1}], "outputs": load["outputs"]}
    asks = {"inputs": [{"name": "n", "type": "INT,FLOAT", "link": 2}], "outputs": []}
    nodes = [load, {"id": 2, "type": "Pass", "mode": 4, **slots}, {"id": 3, "type": "Ask", **asks}]
    links = [[1, 1, 0, 2, 0, "INT"], [2, 2, 0, 3, 0, "INT"]]
    info: dict[str, Any] = {one: {"input": {}, "output": []} for one in ("Load", "Pass", "Ask")}
    with pytest.raises(Unreadable):
        prompt(read({"nodes": nodes, "links": links}, info))
