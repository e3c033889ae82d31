"""The fields of one operation, read by their names or by others that are clear."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..validation_problems import shown
from .forms import FIELDS, FORMS, IGNORED, OTHER_NAMES, PLACES
from .operations import End, Operation
from .refused import EditRefused

_FENCE = re.compile(r"^\s*```\w*\s*\n(.*?)\n?\s*```\s*$", re.DOTALL)
_LONE = ("widget", "name", "key", "input", "field")
"""Fields that name the one widget whose value stands in `value`."""


class Fields:
    """Reads the fields of one operation, each by its name or another that is clear."""

    def __init__(self, number: int, kind: str, fields: Mapping[str, Any]) -> None:
        self.number = number
        self.kind = kind
        self._fields = self._named(fields)
        self._taken: set[str] = set()

    def _named(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields by their right names; one that has its right name comes before another."""
        given = {key: value for key, value in fields.items() if value is not None}
        if self.kind == "set":
            given = _with_lone_value(given)
        own = {plain_key(name): name for name in FIELDS[self.kind]}
        found = {
            own[plain_key(key)]: value for key, value in given.items() if plain_key(key) in own
        }
        for key, value in given.items():
            if plain_key(key) not in own:
                name = self._other(plain_key(key), value)
                found[key if name is None or name in found else name] = value
        return found

    def _other(self, key: str, value: Any) -> str | None:
        """The field that another name stands for.

        Of `set`, one with a single value is a widget of this name beside the node.
        """
        for kind in (self.kind, ""):
            for name in FIELDS[self.kind]:
                if key in OTHER_NAMES.get((kind, name), ()):
                    lone = self.kind == "set" and name == "values" and _is_plain(value)
                    return None if lone else name
        return None

    def put(self, **fields: Any) -> None:
        """Other forms of fields that were understood."""
        self._fields.update({key: value for key, value in fields.items() if value is not None})

    def take(self, name: str) -> Any:
        """A field by the name that it came with, which need not be one of the operation's."""
        return self._fields.pop(name, None)

    def refused(self, why: str) -> EditRefused:
        return EditRefused("bad_operation", f"{why} {FORMS[self.kind]}", self.number)

    def get(self, name: str) -> Any:
        self._taken.add(name)
        return self._fields.get(name)

    def needed(self, name: str) -> Any:
        value = self.get(name)
        if value is None:
            raise self.refused(f"{shown(name)} is missing.")
        return value

    def each_node(self) -> Iterator[Fields]:
        """The same fields for each node, where an operation for one node names several."""
        given = decoded(self._fields.get("node"))
        if "node" not in FIELDS[self.kind] or not isinstance(given, list) or not given:
            yield self
            return
        for one in given:
            yield Fields(self.number, self.kind, {**self._fields, "node": one})

    def node(self, name: str = "node") -> str:
        return self._node(self.needed(name), name)

    def optional_node(self, name: str) -> str | None:
        value = self.get(name)
        return None if value is None or value == "" else self._node(value, name)

    def _node(self, value: Any, name: str) -> str:
        if isinstance(value, Mapping):
            inner = [value[key] for key in ("id", "node", "address") if key in value]
            value = inner[0] if len(inner) == 1 else None
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        text = as_id(value)
        if text is None:
            raise self.refused(f"{shown(name)} names no node: {shown(value)}.")
        return text

    def nodes(self, name: str = "nodes") -> tuple[str, ...]:
        value = decoded(self.get(name))
        if value is None:
            return ()
        if isinstance(value, str) and "," in value:
            value = [one for one in re.split(r"[\s,]+", value) if one]
        listed = value if isinstance(value, list) else [value]
        return tuple(dict.fromkeys(self._node(one, name) for one in listed))

    def text(self, name: str) -> str:
        value = self.needed(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            raise self.refused(f"{shown(name)} is no text: {shown(value)}.")
        return value

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if self.get(name) not in (None, "") else None

    def flag(self, name: str) -> bool:
        value = self.get(name)
        if isinstance(value, str) and value.strip().casefold() in ("true", "yes", "1", "on"):
            return True
        if value in (None, "", False, 0) or (
            isinstance(value, str) and value.strip().casefold() in ("false", "no", "0", "off")
        ):
            return False
        if value is True or value == 1:
            return True
        raise self.refused(f"{shown(name)} is neither true nor false: {shown(value)}.")

    def number_of(self, name: str) -> float | None:
        value = self.get(name)
        try:
            number = None if value is None or isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = None
        if value is not None and (number is None or number != number or abs(number) > 1e7):
            raise self.refused(f"{shown(name)} is no place on the canvas: {shown(value)}.")
        return number

    def end(self, name: str) -> End:
        return self.as_end(self.needed(name), name)

    def as_end(self, value: Any, name: str) -> End:
        """An output or input: a text, `[node, slot]`, or an object with both."""
        value = decoded(value)
        if isinstance(value, Mapping):
            node = _first(value, ("node", "id", "node_id", "from", "to", "address"))
            slot = _first(value, ("output", "input", "slot", "name", "index"))
            if node is not None:
                value = [node, "" if slot is None else slot]
        if isinstance(value, list) and len(value) == 1:
            value = [*value, ""]
        if isinstance(value, list) and len(value) == 2:
            node, slot = as_id(value[0]), as_id(value[1]) if value[1] != "" else ""
            if node is not None and slot is not None:
                return End("", node, slot)
        text = as_id(value)
        if text is None:
            raise self.refused(f"{shown(name)} names no output or input: {shown(value)}.")
        return End(text)

    def values(self, name: str = "values") -> Mapping[str, Any]:
        return self.pairs(self.get(name), name, ("widget", "name", "key", "input", "field"))

    def inputs(self) -> Mapping[str, End]:
        keys = ("input", "name", "to", "target", "slot")
        found = self.pairs(self.get("inputs"), "inputs", keys, ("from", "output", "source"))
        return {key: self.as_end(value, f"inputs.{key}") for key, value in found.items()}

    def pairs(
        self, given: Any, name: str, keys: Iterable[str], others: Iterable[str] = ()
    ) -> Mapping[str, Any]:
        """An object from an object, or from a list of pairs of a name and a value."""
        given = decoded(given)
        if given is None or given == "":
            return {}
        if isinstance(given, Mapping):
            key = _first(given, keys)
            known = {*keys, *others, "value"}
            if isinstance(key, str) and ("value" in given or others) and known >= given.keys():
                value = _first(given, ("value", *others))
                if value is not None:
                    return {key: value}
            return {str(one): value for one, value in given.items()}
        found: dict[str, Any] = {}
        for one in given if isinstance(given, list) else ():
            if isinstance(one, Mapping):
                found.update(self.pairs(one, name, keys, others))
            elif isinstance(one, list) and len(one) == 2 and isinstance(one[0], str):
                found[one[0]] = one[1]
        if not found or not isinstance(given, list) or len(found) != len(given):
            raise self.refused(f"{shown(name)} is no object: {shown(given)}.")
        return found

    def rest(self) -> dict[str, Any]:
        """The fields that nothing has asked for."""
        known = self._taken | IGNORED | (PLACES if self.kind in ("add", "insert") else set())
        return {key: value for key, value in self._fields.items() if key not in known}

    def done(self, operation: Operation) -> Operation:
        unread = self.rest()
        if unread:
            raise self.refused(f"{shown(self.kind)} has no field {shown(next(iter(unread)))}.")
        return operation


def _with_lone_value(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with a widget and its value, which came apart, in `values`."""
    key = next((one for one in _LONE if isinstance(fields.get(one), str)), None)
    value = fields.get("value")
    if key is None or value is None or (isinstance(value, Mapping) and key != "widget"):
        return dict(fields)
    values = decoded(fields.get("values"))
    more = values if isinstance(values, Mapping) else {}
    rest = {one: two for one, two in fields.items() if one not in (key, "value")}
    return {**rest, "values": {**more, fields[key]: value}}


def _is_plain(value: Any) -> bool:
    """Whether a value is a widget's, and no list or object of several."""
    return isinstance(decoded(value), (str, int, float))


def _first(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def as_id(value: Any) -> str | None:
    """A name as text: `3`, `3.0`, `"3"` and `"#3"` are one node."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        whole = isinstance(value, int) or value.is_integer()
        return str(int(value)) if whole and abs(value) < 1e15 else None
    text = value.strip().lstrip("#").strip() if isinstance(value, str) else ""
    return text or None


def decoded(value: Any) -> Any:
    """What a text says as JSON, also in a fence, with single quotes or a comma too many."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    fenced = _FENCE.match(text)
    text = fenced[1].strip() if fenced else text
    if not text.startswith(("{", "[")):
        return value
    for attempt in (text, re.sub(r",\s*([}\]])", r"\1", text)):
        try:
            return json.loads(attempt)
        except (ValueError, RecursionError):
            continue
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [json.loads(line.strip().rstrip(",")) for line in lines] if len(lines) > 1 else value
    except (ValueError, RecursionError):
        return value


def plain_key(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.casefold())
