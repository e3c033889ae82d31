"""A small workflow that the editor draws itself, and how tests read what an edit made."""

from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.edits.apply import Applied, apply
from plugin.assistant.workflow.edits.refused import EditRefused
from plugin.assistant.workflow.live import LiveGraph
from plugin.assistant.workflow.live_nodes import LiveNode
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.workflow.workflows import definitions, workflow

Json = dict[str, Any]
DRAWN = (
    {"op": "add", "id": "model", "type": "CheckpointLoaderSimple"},
    {"op": "add", "id": "good", "type": "CLIPTextEncode", "inputs": {"clip": "model.CLIP"}},
    {"op": "add", "id": "bad", "type": "CLIPTextEncode", "inputs": {"clip": "model.CLIP"}},
    {"op": "add", "id": "empty", "type": "EmptyLatentImage"},
    {
        "op": "add",
        "id": "sampler",
        "type": "KSampler",
        "inputs": {
            "model": "model.MODEL",
            "positive": "good.CONDITIONING",
            "negative": "bad.CONDITIONING",
            "latent_image": "empty.LATENT",
        },
    },
    {
        "op": "add",
        "id": "decode",
        "type": "VAEDecode",
        "inputs": {"samples": "sampler.LATENT", "vae": "model.VAE"},
    },
    {"op": "add", "id": "save", "type": "SaveImage", "inputs": {"images": "decode.IMAGE"}},
)
MODEL, GOOD, BAD, EMPTY, SAMPLER, DECODE, SAVE = "1234567"
"""The addresses of the nodes in `text_to_image`."""


@cache
def _text_to_image() -> Json:
    return apply(workflow(), list(DRAWN), definitions()).content


def text_to_image() -> Json:
    """A checkpoint, two texts, a sampler, and a picture that is saved."""
    return deepcopy(_text_to_image())


def edited(document: Mapping[str, Any], *operations: Json) -> Json:
    """The workflow after these operations."""
    return made(document, *operations).content


def made(document: Mapping[str, Any], *operations: Json) -> Applied:
    return apply(document, list(operations), definitions())


def refusal(document: Mapping[str, Any], *operations: Json) -> EditRefused:
    """Why the batch is refused. Raises `AssertionError` where it is not, or where it changes the
    workflow all the same."""
    before = deepcopy(document)
    try:
        made(document, *operations)
    except EditRefused as refused:
        assert document == before
        return refused
    raise AssertionError("the batch was not refused")


def node(document: Mapping[str, Any], address: str) -> LiveNode:
    """A node as the front end has it."""
    found = LiveGraph(parse_workflow(document), definitions()).node(address)
    assert found is not None
    return found


def value(document: Mapping[str, Any], address: str, widget: str) -> Any:
    found = node(document, address).widget(widget)
    assert found is not None
    return found.value


def prompt(document: Mapping[str, Any]) -> Json:
    return api_prompt(parse_workflow(document), definitions())


def inputs(document: Mapping[str, Any], address: str) -> Json:
    """The inputs that a node's entry in the prompt has."""
    found: Json = prompt(document)[address]["inputs"]
    return found


def wrapped(*names: str) -> Json:
    """`text_to_image` with these nodes in a subgraph, whose instance is "8"."""
    return edited(text_to_image(), {"op": "wrap", "nodes": list(names), "title": "Inner"})
