"""Operations that must be refused, whatever stands before them, for `edit_fuzz.py`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from .edit_batches import spec_of
from .edit_reader import CONTROL, Info, Json, Model, choices_of, kind_of, options_of

Wrong = tuple[Json, set[str]]
"""The operation, and the codes that its error may have."""


def wrong_operation(model: Model, info: Info, random: Random) -> Wrong:
    """One for this workflow."""
    makers = list(_MAKERS)
    random.shuffle(makers)
    for maker in makers:
        made = maker(model, info, random)
        if made is not None:
            return made
    raise AssertionError("a node that is not there is wrong in any workflow")


def _nodes(model: Model, info: Info) -> list[tuple[str, Json]]:
    return [(id_, one) for id_, one in model[""]["nodes"].items() if one["type"] in info]


def _unknown_node(model: Model, info: Info, random: Random) -> Wrong:
    name = random.choice(["999999", "1:2:3:4", "no such node"])
    operation: Json = random.choice(
        [
            {"op": "set", "node": name, "values": {"steps": 3}},
            {"op": "remove", "node": name},
            {"op": "mode", "node": name, "mode": "mute"},
            {"op": "connect", "from": f"{name}.0", "to": f"{name}.model"},
            {"op": "unwrap", "node": name},
            {"op": "wrap", "nodes": [name], "title": "Part"},
            {"op": "group", "nodes": [name], "title": "Group"},
        ]
    )
    return operation, {"unknown_node"}


def _unknown_type(model: Model, info: Info, random: Random) -> Wrong:
    return {"op": "add", "id": "x", "type": "NoSuchNodeAnywhere"}, {"unknown_type"}


def _unknown_slot(model: Model, info: Info, random: Random) -> Wrong | None:
    nodes = _nodes(model, info)
    if not nodes:
        return None
    id_, _ = random.choice(nodes)
    operation = {"op": "disconnect", "to": f"{id_}.no_such_input"}
    return operation, {"unknown_slot"}


def _unknown_widget(model: Model, info: Info, random: Random) -> Wrong | None:
    nodes = _nodes(model, info)
    if not nodes:
        return None
    id_, _ = random.choice(nodes)
    return {"op": "set", "node": id_, "values": {"no_such_widget": 1}}, {"unknown_widget"}


def _widgets(model: Model, info: Info, kinds: set[str]) -> list[tuple[str, str, Any]]:
    """Widgets that no link drives: node, name and definition."""
    found = []
    for id_, node in _nodes(model, info):
        for name in node["values"]:
            spec = None if name.rpartition(".")[2] == CONTROL else spec_of(info, node, name)
            if spec is not None and kind_of(spec) in kinds and name not in node["links"]:
                found.append((id_, name, spec))
    return found


def _not_a_choice(model: Model, info: Info, random: Random) -> Wrong | None:
    found = [
        (id_, name)
        for id_, name, spec in _widgets(model, info, {"COMBO"})
        if choices_of(spec) and not _lists_files(name, spec)
    ]
    if not found:
        return None
    id_, name = random.choice(found)
    return {"op": "set", "node": id_, "values": {name: "no such choice"}}, {"not_a_choice"}


def _lists_files(name: str, spec: Any) -> bool:
    """Files that are not installed are problems, not errors."""
    endings = (".safetensors", ".ckpt", ".pt", ".pth", ".bin", ".gguf", ".sft", ".png", ".jpg")
    files = any(str(one).lower().endswith(endings) for one in choices_of(spec))
    uploads = any("upload" in key or key == "image_folder" for key in options_of(spec))
    return files or uploads or "name" in name or name in ("image", "audio", "video", "file")


def _out_of_range(model: Model, info: Info, random: Random) -> Wrong | None:
    found = [
        (id_, name, options_of(spec))
        for id_, name, spec in _widgets(model, info, {"INT", "FLOAT"})
        if options_of(spec).get("max", 1e18) < 1e12
    ]
    if not found:
        return None
    id_, name, options = random.choice(found)
    return {"op": "set", "node": id_, "values": {name: options["max"] + 1000}}, {"out_of_range"}


def _no_number(model: Model, info: Info, random: Random) -> Wrong | None:
    found = _widgets(model, info, {"INT", "FLOAT"})
    if not found:
        return None
    id_, name, _ = random.choice(found)
    value: Any = random.choice(["many", [], None, {}])
    return {"op": "set", "node": id_, "values": {name: value}}, {"wrong_type", "bad_operation"}


def _wrong_link(model: Model, info: Info, random: Random) -> Wrong | None:
    """An output of one type into an input of another."""
    outputs, inputs = [], []
    for id_, node in _nodes(model, info):
        for place, kind in enumerate(info[node["type"]]["output"]):
            if isinstance(kind, str) and kind.isupper() and kind.isalpha():
                outputs.append((id_, place, kind))
        for name, kind in node["kinds"].items():
            if isinstance(kind, str) and kind.isupper() and kind.isalpha() and "." not in name:
                inputs.append((id_, name, kind))
    pairs = [(one, two) for one in outputs for two in inputs if one[2] != two[2]]
    pairs = [pair for pair in pairs if pair[0][0] != pair[1][0]]
    if not pairs:
        return None
    one, two = random.choice(pairs)
    operation = {"op": "connect", "from": f"{one[0]}.{one[1]}", "to": f"{two[0]}.{two[1]}"}
    return operation, {"wrong_type"}


def _circle(model: Model, info: Info, random: Random) -> Wrong | None:
    """A node's output into an input of what feeds it."""
    nodes = dict(_nodes(model, info))
    found = []
    for id_, node in nodes.items():
        gives = info[node["type"]]["output"]
        for source, _ in node["links"].values():
            if source not in nodes:
                continue
            for name, kind in nodes[source]["kinds"].items():
                if kind in gives and kind != "*" and "." not in name:
                    found.append((id_, gives.index(kind), source, name))
    if not found:
        return None
    id_, place, source, name = random.choice(found)
    return {"op": "connect", "from": f"{id_}.{place}", "to": f"{source}.{name}"}, {"cycle"}


def _form(model: Model, info: Info, random: Random) -> Wrong:
    operation: Json = random.choice(
        [
            {"op": "explode"},
            {"op": "set"},
            {"op": "add", "id": "x"},
            {"op": "mode", "node": next(iter(model[""]["nodes"])), "mode": "sideways"},
            {"op": "move", "node": next(iter(model[""]["nodes"]))},
        ]
    )
    return operation, {"bad_operation"}


_MAKERS: tuple[Callable[[Model, Info, Random], Wrong | None], ...] = (
    _unknown_node,
    _unknown_type,
    _unknown_slot,
    _unknown_widget,
    _not_a_choice,
    _out_of_range,
    _no_number,
    _wrong_link,
    _circle,
    _form,
)
