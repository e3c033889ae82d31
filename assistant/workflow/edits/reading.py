"""Reads a batch of operations as a model sent it.

Small models get the form of arguments wrong. What has one right reading is read so: a batch or an
operation as a JSON text, one operation without a list, numbers as texts, other names for operations
and fields, pairs of "widget" and "value". All else is refused, with the right form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from ..validation_problems import shown
from .fields import Fields, decoded, plain_key
from .forms import FIELDS, FORMS, MODES, OPERATION_KEYS, SYNONYMS
from .operations import (
    LARGEST_BATCH,
    Add,
    Arrange,
    Connect,
    Disconnect,
    End,
    Group,
    Insert,
    Move,
    Operation,
    Remove,
    Replace,
    SetMode,
    SetTitle,
    SetValues,
    Ungroup,
    Unwrap,
    Wrap,
)
from .refused import EditRefused

_FENCE = re.compile(r"^\s*```\w*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_ARROW = re.compile(r"\s*(?:->|=>|→)\s*")


def read_operations(value: object) -> tuple[Operation, ...]:
    """The operations of a batch, in order.

    `value` is the decoded JSON: a list of objects `{"op": …}`, or what has one reading as that; or
    operations that were read already. Raises `EditRefused`.
    """
    if isinstance(value, tuple) and value and all(isinstance(one, Operation) for one in value):
        return value
    listed = _listed(value)
    if not listed:
        raise EditRefused("bad_operation", f"There is no operation. {FORMS['']}")
    if len(listed) > LARGEST_BATCH:
        raise EditRefused(
            "bad_operation", f"{len(listed)} operations; a batch has at most {LARGEST_BATCH}."
        )
    found: list[Operation] = []
    for number, one in enumerate(listed):
        found.extend(_operations(number, decoded(one)))
    return tuple(found)


def _listed(value: object) -> list[Any]:
    value = decoded(value)
    if isinstance(value, Mapping):
        if "operations" in value and not _kind(dict(value)):
            return _listed(value["operations"])
        if value and all(str(key).isdigit() for key in value):
            return list(value.values())
        return [value]
    return list(value) if isinstance(value, (list, tuple)) else []


def _operations(number: int, raw: Any) -> list[Operation]:
    if not isinstance(raw, Mapping):
        raise EditRefused("bad_operation", f"{shown(raw)} is no operation. {FORMS['']}", number)
    fields = {str(key): value for key, value in raw.items()}
    kind, fields = _kind_and_fields(number, fields)
    return [_READERS[kind](one) for one in Fields(number, kind, fields).each_node()]


def _kind(fields: dict[str, Any]) -> str:
    """The name of the operation where a field says it; empty where none does."""
    for key in OPERATION_KEYS:
        if isinstance(fields.get(key), str):
            name = plain_key(fields[key])
            if name in FIELDS or name in SYNONYMS:
                return key
    return ""


def _kind_and_fields(number: int, fields: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    key = _kind(fields)
    if key:
        name = plain_key(fields[key])
        rest = {one: value for one, value in fields.items() if one != key}
    else:
        names = [one for one in fields if plain_key(one) in FIELDS or plain_key(one) in SYNONYMS]
        said = fields.get("op")
        if said is not None or len(names) != 1:
            what = f"There is no operation {shown(said)}." if said is not None else "It has no op."
            raise EditRefused("bad_operation", f"{what} {FORMS['']}", number)
        name, inner = plain_key(names[0]), decoded(fields[names[0]])
        rest = {one: value for one, value in fields.items() if one != names[0]}
        if isinstance(inner, Mapping):
            rest = {**{str(one): value for one, value in inner.items()}, **rest}
        else:
            kind = SYNONYMS.get(name, (name, {}))[0]
            rest = {FIELDS[kind][0]: inner, **rest}
    for wrapper in ("args", "arguments", "params", "parameters"):
        inner = decoded(rest.get(wrapper))
        if isinstance(inner, Mapping):
            del rest[wrapper]
            rest = {**{str(one): value for one, value in inner.items()}, **rest}
    if name not in SYNONYMS:
        return name, rest
    kind, more = SYNONYMS[name]
    return kind, {**rest, **more}


def _add(at: Fields) -> Operation:
    id_ = at.optional_node("id") or ""
    return at.done(
        Add(
            at.number,
            id_,
            at.text("type").strip(),
            at.optional_text("title"),
            at.values(),
            at.inputs(),
            at.optional_node("inside"),
            at.optional_node("near"),
        )
    )


def _insert(at: Fields) -> Operation:
    return at.done(
        Insert(
            at.number,
            at.optional_node("id") or "",
            at.text("type").strip(),
            at.end("into"),
            at.optional_text("title"),
            at.values(),
            at.inputs(),
        )
    )


def _set(at: Fields) -> Operation:
    node, values = at.node(), at.values()
    rest = at.rest()
    if rest and not values:
        # The widgets stand beside the node, not in `values`.
        return SetValues(at.number, node, rest)
    if not values:
        raise at.refused('"values" is missing.')
    return at.done(SetValues(at.number, node, values))


def _mode(at: Fields) -> Operation:
    said = at.needed("mode")
    key = plain_key(said) if isinstance(said, str) and not said.strip().isdigit() else said
    mode = MODES.get(str(key).strip().casefold())
    if mode is None:
        raise at.refused(f"There is no mode {shown(said)}.")
    return at.done(SetMode(at.number, at.node(), mode))


def _connect(at: Fields) -> Operation:
    for one in ("from", "to", "link"):
        said = at.take(one)
        parts = _ARROW.split(said) if isinstance(said, str) else []
        at.put(**({"from": parts[0], "to": parts[1]} if len(parts) == 2 else {one: said}))
    source = _end(at, "from", ("from", "source", "origin"), "output")
    return at.done(Connect(at.number, source, _end(at, "to", ("to", "target", "dest"), "input")))


def _end(at: Fields, side: str, names: tuple[str, ...], slot: str) -> End:
    """An end whose node and slot may be fields of their own: `from_node`, `from_output`."""
    nodes = [f"{one}{end}" for one in names for end in ("_node", "Node", "_node_id", "_id")]
    slots = [f"{one}{end}" for one in names for end in (f"_{slot}", slot.capitalize(), "_slot")]
    node = next((said for one in nodes if (said := at.take(one)) is not None), None)
    named = next((said for one in [*slots, slot] if (said := at.take(one)) is not None), None)
    if node is not None:
        named = at.get(side) if named is None else named
        return at.as_end([node, "" if named is None else named], side)
    end = at.end(side)
    return end if named is None or end.slot else at.as_end([str(end), named], side)


def _disconnect(at: Fields) -> Operation:
    node = at.take("node")
    if node is not None:
        at.put(to_node=node)
    at.get("from")
    return at.done(Disconnect(at.number, _end(at, "to", ("to", "target", "dest"), "input")))


def _move(at: Fields) -> Operation:
    place = at.take("pos")
    if isinstance(place, list) and len(place) == 2:
        at.put(x=place[0], y=place[1])
    x, y, near = at.number_of("x"), at.number_of("y"), at.optional_node("near")
    if (x is None) != (y is None) or (x is None) == (near is None):
        raise at.refused("It needs x and y, or near.")
    return at.done(Move(at.number, at.node(), x, y, near))


def _group(at: Fields) -> Operation:
    nodes = at.nodes()
    if not nodes:
        raise at.refused("nodes is missing.")
    return at.done(Group(at.number, at.text("title"), nodes))


def _wrap(at: Fields) -> Operation:
    nodes = at.nodes()
    if not nodes:
        raise at.refused("nodes is missing.")
    title = at.optional_text("title") or "New Subgraph"
    return at.done(Wrap(at.number, nodes, title, at.optional_node("id") or ""))


def _title(at: Fields) -> Operation:
    title = at.get("title")
    if not isinstance(title, (str, int, float)) or isinstance(title, bool):
        raise at.refused(f"title is no text: {shown(title)}.")
    return at.done(SetTitle(at.number, at.node(), str(title)))


_READERS: Final[Mapping[str, Callable[[Fields], Operation]]] = {
    "add": _add,
    "remove": lambda at: at.done(Remove(at.number, at.node(), at.flag("bridge"))),
    "replace": lambda at: at.done(
        Replace(at.number, at.node(), at.text("type").strip(), at.values())
    ),
    "insert": _insert,
    "connect": _connect,
    "disconnect": _disconnect,
    "set": _set,
    "title": _title,
    "mode": _mode,
    "move": _move,
    "arrange": lambda at: at.done(Arrange(at.number, at.nodes())),
    "group": _group,
    "ungroup": lambda at: at.done(Ungroup(at.number, at.text("group"))),
    "wrap": _wrap,
    "unwrap": lambda at: at.done(Unwrap(at.number, at.node())),
}
