"""The ways in which models get the operations of edits wrong, for `edit_mangle.py`.

Each way changes the operations of one task, or the form of the whole batch, and says whether there
was occasion for it.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from plugin.tests.edits.task import Task

Json = dict[str, Any]
Mangled = Any
"""The arguments of `editWorkflow`, in whatever form."""
NODE_FIELDS = ("node", "inside", "near")
SYNONYMS = {
    "add": "add_node",
    "remove": "delete",
    "set": "set_values",
    "connect": "link",
    "disconnect": "unlink",
    "replace": "swap",
    "mode": "set_mode",
    "title": "rename",
}
OTHER_FIELDS = {"node": "node_id", "values": "widgets", "type": "class_type", "inputs": "links"}


class Mangler:
    """Mangles the operations of one task."""

    def __init__(self, task: Task, graph: Json, random: Random) -> None:
        self.operations: list[Json] = copy.deepcopy(list(task.operations))
        self.random = random
        self.form: Callable[[list[Json]], Mangled] = lambda listed: {"operations": listed}
        self.titles = _names(graph, "title")
        self.types = _names(graph, "type")

    @property
    def arguments(self) -> Mangled:
        return self.form(self.operations)

    def each(self, change: Callable[[Json], bool]) -> bool:
        """Changes each operation; whether one was changed."""
        changed = [change(one) for one in self.operations]
        return any(changed)


def _names(graph: Json, field: str) -> dict[str, str]:
    """What only one node of the workflow itself is called, by the node's address."""
    inner = [one for part in _subgraphs(graph) for one in part.get("nodes", ())]
    said = Counter(
        str(node.get(key)) for node in [*graph["nodes"], *inner] for key in ("title", "type")
    )
    return {
        str(node["id"]): str(node[field])
        for node in graph["nodes"]
        if node.get(field) and said[str(node[field])] == 1
    }


def _subgraphs(graph: Json) -> list[Json]:
    return list((graph.get("definitions") or {}).get("subgraphs") or ())


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    return {key: change(one) for key, one in value.items()} if isinstance(value, dict) else value


def _each_value(at: Mangler, text: Callable[[Any], Any]) -> bool:
    """Writes each value of the operations as `text` does."""

    def change(one: Json) -> bool:
        new = {
            key: _mapped(value, text) if key == "values" else text(value)
            for key, value in one.items()
        }
        changed = new != one
        one.update(new)
        return changed

    return at.each(change)


def _numbers_as_text(at: Mangler) -> bool:
    def text(value: Any) -> Any:
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        return str(value) if plain else value

    return _each_value(at, text)


def _flags_as_text(at: Mangler) -> bool:
    def text(value: Any) -> Any:
        return str(value).lower() if isinstance(value, bool) else value

    return _each_value(at, text)


def _ids_as_numbers(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        found = False
        for key in NODE_FIELDS:
            if str(one.get(key, "")).isdigit():
                one[key], found = int(one[key]), True
        if isinstance(one.get("nodes"), (list, tuple)):
            new = [int(each) if str(each).isdigit() else each for each in one["nodes"]]
            found = found or new != list(one["nodes"])
            one["nodes"] = new
        return found

    return at.each(change)


def _called(at: Mangler, names: Mapping[str, str]) -> bool:
    """Nodes by another name than their address, where the batch leaves it to one node."""
    given = {str(one.get("title")) for one in at.operations} | {
        str(one.get("type")) for one in at.operations
    }

    def name(address: Any) -> Any:
        found = names.get(str(address))
        return address if found is None or found in given else found

    def end(said: Any) -> Any:
        node, dot, slot = said.partition(".") if isinstance(said, str) else (said, "", "")
        return f"{name(node)}{dot}{slot}" if dot else said

    def change(one: Json) -> bool:
        before = copy.deepcopy(one)
        for key in NODE_FIELDS:
            if key in one:
                one[key] = name(one[key])
        for key in ("from", "to", "into"):
            if key in one:
                one[key] = end(one[key])
        if isinstance(one.get("inputs"), dict):
            one["inputs"] = _mapped(one["inputs"], end)
        return one != before

    return at.each(change)


def _titles_for_ids(at: Mangler) -> bool:
    return _called(at, at.titles)


def _types_for_ids(at: Mangler) -> bool:
    return _called(at, at.types)


def _signs_before_ids(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        found = [key for key in NODE_FIELDS if str(one.get(key, "")).isdigit()]
        one.update({key: f"#{one[key]}" for key in found})
        return bool(found)

    return at.each(change)


def _json_text(at: Mangler) -> bool:
    at.form = lambda listed: {"operations": json.dumps(listed)}
    return True


def _fenced_text(at: Mangler) -> bool:
    at.form = lambda listed: {"operations": f"```json\n{json.dumps(listed, indent=1)}\n```"}
    return True


def _texts_in_list(at: Mangler) -> bool:
    at.form = lambda listed: {"operations": [json.dumps(one) for one in listed]}
    return True


def _other_list_name(at: Mangler) -> bool:
    key = at.random.choice(["edits", "ops", "changes"])
    at.form = lambda listed: {key: listed}
    return True


def _bare_list(at: Mangler) -> bool:
    at.form = lambda listed: listed
    return True


def _single_object(at: Mangler) -> bool:
    if len(at.operations) != 1:
        return False
    at.form = lambda listed: {"operations": listed[0]}
    return True


def _single_bare(at: Mangler) -> bool:
    if len(at.operations) != 1:
        return False
    at.form = lambda listed: listed[0]
    return True


def _numbered(at: Mangler) -> bool:
    at.form = lambda listed: {"operations": {str(n): one for n, one in enumerate(listed)}}
    return True


def _field(name: str) -> Callable[[Mangler], bool]:
    def way(at: Mangler) -> bool:
        def change(one: Json) -> bool:
            if name not in one:
                return False
            one[OTHER_FIELDS[name]] = one.pop(name)
            return True

        return at.each(change)

    return way


def _other_operation_names(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        found = SYNONYMS.get(str(one.get("op")))
        one["op"] = found or one["op"]
        return found is not None

    return at.each(change)


def _op_elsewhere(at: Mangler) -> bool:
    key = at.random.choice(["operation", "action"])

    def change(one: Json) -> bool:
        one[key] = one.pop("op")
        return True

    return at.each(change)


def _op_as_key(at: Mangler) -> bool:
    for place, one in enumerate(at.operations):
        at.operations[place] = {one.pop("op"): one}
    return True


def _capitals(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        one["op"] = one["op"].upper()
        return True

    return at.each(change)


def _value_pairs(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        if not isinstance(one.get("values"), dict) or not one["values"]:
            return False
        one["values"] = [{"name": key, "value": value} for key, value in one["values"].items()]
        return True

    return at.each(change)


def _values_beside(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        if one.get("op") != "set" or set(one["values"]) & {"node", "op"}:
            return False
        one.update(one.pop("values"))
        return True

    return at.each(change)


def _widget_and_value(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        if one.get("op") != "set" or len(one.get("values", ())) != 1:
            return False
        [(one["widget"], one["value"])] = one.pop("values").items()
        return True

    return at.each(change)


def _links_as_pairs(at: Mangler) -> bool:
    def pair(said: Any) -> Any:
        node, dot, slot = said.rpartition(".") if isinstance(said, str) else ("", "", "")
        simple = bool(dot) and said.count(".") == 1
        return [node, int(slot) if slot.isdigit() else slot] if simple else said

    def change(one: Json) -> bool:
        before = copy.deepcopy(one)
        for key in ("from", "to", "into"):
            if key in one:
                one[key] = pair(one[key])
        if isinstance(one.get("inputs"), dict):
            one["inputs"] = _mapped(one["inputs"], pair)
        return one != before

    return at.each(change)


def _ends_apart(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        if one["op"] != "connect" or any(str(one[key]).count(".") != 1 for key in ("from", "to")):
            return False
        one["from_node"], one["from_output"] = one.pop("from").split(".")
        one["to_node"], one["to_input"] = one.pop("to").split(".")
        return True

    return at.each(change)


def _case_of_names(at: Mangler) -> bool:
    """Types, outputs and widgets in another case."""

    def change(one: Json) -> bool:
        before = copy.deepcopy(one)
        if isinstance(one.get("type"), str):
            one["type"] = one["type"].lower()
        if isinstance(one.get("from"), str):
            node, dot, slot = one["from"].rpartition(".")
            one["from"] = f"{node}{dot}{slot.lower()}"
        if isinstance(one.get("values"), dict):
            one["values"] = {key.upper(): value for key, value in one["values"].items()}
        return one != before

    return at.each(change)


def _wrapped_arguments(at: Mangler) -> bool:
    for place, one in enumerate(at.operations):
        at.operations[place] = {"op": one.pop("op"), "params": one}
    return True


def _empty_fields(at: Mangler) -> bool:
    def change(one: Json) -> bool:
        if one["op"] not in ("add", "insert"):
            return False
        for key in ("title", "inside", "near") if one["op"] == "add" else ("title",):
            one.setdefault(key, None if at.random.random() < 0.5 else "")
        return True

    return at.each(change)


WAYS: Mapping[str, Callable[[Mangler], bool]] = {
    "numbers as text": _numbers_as_text,
    "true and false as text": _flags_as_text,
    "ids as numbers": _ids_as_numbers,
    "titles for ids": _titles_for_ids,
    "types for ids": _types_for_ids,
    "# before ids": _signs_before_ids,
    "values beside the node": _values_beside,
    "widget and value": _widget_and_value,
    "values as pairs": _value_pairs,
    "links for inputs": _field("inputs"),
    "node_id for node": _field("node"),
    "widgets for values": _field("values"),
    "class_type for type": _field("type"),
    "links as pairs": _links_as_pairs,
    "ends in four fields": _ends_apart,
    "names in another case": _case_of_names,
    "empty fields": _empty_fields,
    "other names of operations": _other_operation_names,
    "capitals": _capitals,
    "operation or action for op": _op_elsewhere,
    "op as the key": _op_as_key,
    "fields in params": _wrapped_arguments,
    "operations as JSON text": _json_text,
    "JSON text in a fence": _fenced_text,
    "each operation as text": _texts_in_list,
    "edits for operations": _other_list_name,
    "a bare list": _bare_list,
    "one object for a list": _single_object,
    "one object without a list": _single_bare,
    "numbered operations": _numbered,
}
"""In an order in which several can be applied one after another."""
FORMS = frozenset(list(WAYS)[-8:])
"""The ways that change the form of the whole batch; only one of them fits."""
SHAPES = frozenset({"operation or action for op", "op as the key", "fields in params"})
