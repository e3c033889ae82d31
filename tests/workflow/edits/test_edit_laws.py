"""Laws of edits, on random batches over templates.

What a batch has made is read as it was meant: the graph that the operations changed is the graph
that the front end makes of the written file. A refused batch changes nothing.
"""

import json
from contextlib import suppress
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.workflow.edits.apply import carry_out
from plugin.assistant.workflow.edits.draft import Draft, Unsettled
from plugin.assistant.workflow.edits.reading import read_operations
from plugin.assistant.workflow.edits.refused import EditRefused
from plugin.assistant.workflow.facts import facts, first_difference
from plugin.assistant.workflow.live import LiveGraph
from plugin.assistant.workflow.page_values import UNSET
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.write import write_workflow
from plugin.tests.workflow.edits.drawn import made, prompt, text_to_image
from plugin.tests.workflow.workflows import definitions, sample, template

Json = dict[str, Any]
TYPES = (
    "KSampler LoraLoader VAEDecode ImageScaleBy SaveImage CLIPTextEncode ResizeImageMaskNode "
    "BatchImagesNode PrimitiveInt PrimitiveNode Reroute Note ControlNetApplyAdvanced"
).split()


@st.composite
def batches(draw: st.DrawFn) -> tuple[Json, list[Json]]:
    """A template with operations on nodes and slots that it has, sensible or not."""
    document = template(draw(st.sampled_from(sample())))
    live = LiveGraph(parse_workflow(document), definitions())
    nodes = dict(live.nodes())
    outputs = [f"{key}.{one.name}" for key, node in nodes.items() for one in node.outputs]
    inputs = [f"{key}.{one.name}" for key, node in nodes.items() for one in node.inputs]
    linked = [f"{key}.{one.name}" for key, node in nodes.items() for one in node.inputs if one.link]
    widgets = [(key, one) for key, node in nodes.items() for one in node.widgets]

    def operation(number: int) -> Json:
        node = draw(st.sampled_from(sorted(nodes)))
        type_ = draw(st.sampled_from(TYPES))
        kind = draw(st.sampled_from(["set", "connect", "disconnect", "insert", "remove", "add",
                                     "replace", "mode"]))  # fmt: skip
        made: Json = {"op": kind}
        if kind == "set" and widgets:
            key, widget = draw(st.sampled_from(widgets))
            values = [*widget.choices[:5], 1, 7, 0.5, "words", True]
            return {**made, "node": key, "values": {widget.name: draw(st.sampled_from(values))}}
        if kind == "connect" and outputs and inputs:
            ends = draw(st.sampled_from(outputs)), draw(st.sampled_from(inputs))
            return {**made, "from": ends[0], "to": ends[1]}
        if kind in ("disconnect", "insert") and linked:
            end = draw(st.sampled_from(linked))
            if kind == "disconnect":
                return {**made, "to": end}
            return {**made, "id": f"n{number}", "type": type_, "into": end}
        if kind == "add":
            return {**made, "id": f"n{number}", "type": type_}
        if kind == "replace":
            return {**made, "node": node, "type": type_}
        if kind == "mode":
            return {**made, "node": node, "mode": draw(st.sampled_from(["mute", "bypass"]))}
        return {"op": "remove", "node": node, "bridge": draw(st.booleans())}

    return document, [operation(number) for number in range(draw(st.integers(1, 3)))]


def as_read(live: LiveGraph) -> dict[str, Any]:
    """What counts of a loaded graph: types, modes, values, links by their ends."""
    found: dict[str, Any] = {}
    for scope in live.scopes():
        found[scope.scope.key] = sorted(
            (slot, link.source, link.source_slot) for slot, link in scope.output_links.items()
        )
        for node in scope.nodes.values():
            linked = {one.widget for one in node.inputs if one.link is not None}
            found[f"{scope.scope.key}/{node.id}"] = [
                node.type,
                node.mode,
                node.title,
                {
                    one.name: None if one.value is UNSET else one.value
                    for one in node.widgets
                    if one.in_file and one.name not in linked
                },
                {
                    one.name: [one.link.source, one.link.source_slot]
                    for one in node.inputs
                    if one.link is not None
                },
                [one.type for one in node.outputs],
            ]
    return found


def draft_of(document: Json, operations: list[Json]) -> Draft:
    unsettled: list[str] = []
    while True:
        try:
            draft = Draft(document, definitions(), unsettled)
            for operation in read_operations(operations):
                carry_out(draft, operation)
                draft.write()
            return draft
        except Unsettled as found:
            if found.key in unsettled:
                raise
            unsettled.append(found.key)


@settings(max_examples=60)
@given(batches())
def test_what_is_written_is_read_as_it_was_meant(batch: tuple[Json, list[Json]]) -> None:
    document, operations = batch
    before = deepcopy(document)
    draft = None
    with suppress(EditRefused):
        draft = draft_of(document, operations)
    assert document == before
    if draft is None:
        return
    graph = parse_workflow(json.loads(json.dumps(draft.content)))
    assert first_difference(facts(graph), facts(parse_workflow(write_workflow(graph)))) is None
    assert as_read(draft.live) == as_read(LiveGraph(graph, definitions()))


@settings(max_examples=10)
@given(st.sampled_from(TYPES), st.sampled_from(sample()))
def test_add_then_remove_leaves_the_graph_as_it_was(type_: str, name: str) -> None:
    document = template(name)
    operations = [{"op": "add", "id": "n", "type": type_}, {"op": "remove", "node": "n"}]
    result = made(document, *operations)
    assert facts(parse_workflow(result.content)) == facts(parse_workflow(document))


def test_one_batch_is_the_same_as_one_operation_after_the_other() -> None:
    operations: list[Json] = [
        {"op": "insert", "id": "l", "type": "LoraLoaderModelOnly", "into": "5.model"},
        {"op": "set", "node": "5", "values": {"steps": 3}},
        {"op": "remove", "node": "6", "bridge": True},
    ]
    document = text_to_image()
    for operation in operations:
        document = made(document, operation).content
    assert prompt(document) == prompt(made(text_to_image(), *operations).content)
