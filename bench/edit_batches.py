"""Random batches of edits, and what they make of the second reader's model, for `edit_fuzz.py`.

Each operation is said twice: as the contract has it, and as a change of the model of
`edit_reader.py`. Where the contract leaves something open, no such operation is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any

from .edit_reader import (
    BYPASSED,
    CONTROL,
    DYNAMIC,
    GROWING,
    MUTED,
    PRIMITIVE,
    WIDGETS,
    Info,
    Json,
    Model,
    Unreadable,
    choices_of,
    kind_of,
    kinds_of,
    options_of,
    read_values,
    widget_specs,
)

MODES = {"run": 0, "mute": MUTED, "bypass": BYPASSED}
WORDS = ("a red fox", "night, rain", "50% of it", 'said "no"', "Straße\nzwei", "")


class Batches:
    """Makes one batch for one workflow."""

    def __init__(self, model: Model, info: Info, types: list[str], random: Random) -> None:
        self.model = deepcopy(model)
        self.info = info
        self.types = types
        self.random = random
        self.names = 0
        self.paths = _paths(model)
        self.new: dict[str, tuple[str, str]] = {}
        """The scope of each node that the batch named, and its name."""

    def batch(self, count: int) -> list[Json]:
        """So many valid operations; fewer where the workflow gives no occasion."""
        made: list[Json] = []
        makers = list(_MAKERS.items())
        for _ in range(count * 6):
            if len(made) == count:
                break
            maker, _weight = self.random.choices(makers, [weight for _, weight in makers])[0]
            operation = maker(self)
            if operation is not None:
                made.append(operation)
        return made

    # Names and places

    def address(self, scope: str, id_: str) -> str:
        """How the batch calls a node."""
        return id_ if id_ in self.new else f"{self.paths[scope]}{id_}"

    def scope(self) -> str:
        return self.random.choice([key for key in self.model if key in self.paths])

    def node(self, scope: str, *, known: bool = False) -> tuple[str, Json] | None:
        """A node of a scope, with `known` one of ComfyUI's types."""
        nodes = [
            (id_, one)
            for id_, one in self.model[scope]["nodes"].items()
            if not known or one["type"] in self.info
        ]
        return self.random.choice(nodes) if nodes else None

    def outputs(self, node: Json) -> list[tuple[str, str]]:
        """The outputs of a node: name and type."""
        if node["type"] in self.info:
            definition = self.info[node["type"]]
            names = definition.get("output_name") or definition["output"]
            kinds = [one if isinstance(one, str) else "COMBO" for one in definition["output"]]
            return list(zip(names, kinds, strict=True))
        if node["type"] in self.model:
            names = list(self.model[node["type"]]["outputs"])
            return list(zip(names, node["gives"], strict=False))
        return []

    def sockets(self, node: Json) -> list[tuple[str, str]]:
        """The inputs that are no widgets, have one type and no dots: name and type."""
        if node["type"] in self.model:
            return [
                (name, node["kinds"].get(name, "*"))
                for name in self.model[node["type"]]["inputs"]
                if name not in node["values"]
            ]
        if node["type"] not in self.info:
            return []
        found = []
        for name, spec in widget_specs(self.info[node["type"]]):
            kind = kind_of(spec)
            forced = options_of(spec).get("forceInput")
            if (kind in WIDGETS and not forced) or kind in (DYNAMIC, GROWING):
                continue
            if not kind.startswith("COMFY_") and "," not in kind and kind != "*":
                found.append((name, kind))
        return found

    def said(self, scope: str, source: tuple[str, Any], node: Json | None) -> str | None:
        """An output as the batch says it: by name or by place."""
        id_, slot = source
        if id_ == "in":
            return f"{self.paths[scope].rstrip(':')}:in.{slot}"
        names = [name for name, _ in self.outputs(node)] if node is not None else []
        if slot >= len(names):
            return None
        name = names[slot]
        by_name = names.count(name) == 1 and self.random.random() < 0.7 and not name.isdigit()
        return f"{self.address(scope, id_)}.{name if by_name else slot}"

    def sources(self, scope: str, kind: str, but: set[str]) -> list[tuple[str, Any]]:
        """The outputs of exactly this type, without those of some nodes."""
        return [
            (id_, place)
            for id_, node in self.model[scope]["nodes"].items()
            if id_ not in but
            for place, (_, gives) in enumerate(self.outputs(node))
            if gives == kind
        ]

    def behind(self, scope: str, id_: str) -> set[str]:
        """The nodes that a node feeds, over others or directly, and itself."""
        found, pending = {id_}, [id_]
        while pending:
            current = pending.pop()
            for other, node in self.model[scope]["nodes"].items():
                if other not in found and any(s[0] == current for s in node["links"].values()):
                    found.add(other)
                    pending.append(other)
        return found

    # Changes of the model

    def unlink(self, scope: str, id_: str, name: str) -> None:
        """Take a link away; a group of inputs that grows closes the gap."""
        node = self.model[scope]["nodes"][id_]
        del node["links"][name]
        group, _, _ = name.rpartition(".")
        if group and self.grows(node, group):
            rows = [one for one in node["kinds"] if one.startswith(f"{group}.")]
            linked = [one for one in node["links"] if one.startswith(f"{group}.")]
            linked.sort(key=rows.index)
            kept = [node["links"].pop(one) for one in linked]
            node["links"].update(zip(rows, kept, strict=False))

    def grows(self, node: Json, group: str) -> bool:
        specs = dict(widget_specs(self.info.get(node["type"], {})))
        return group in specs and kind_of(specs[group]) == GROWING

    def fed(self, scope: str, id_: str) -> list[tuple[str, str, int]]:
        """What a node feeds: node ("" for the scope itself) and input, and by which output."""
        level = self.model[scope]
        found = [
            (other, name, source[1])
            for other, node in level["nodes"].items()
            for name, source in node["links"].items()
            if source[0] == id_
        ]
        # The last rows of a group come first: closing a gap renames none that is still to come.
        found.sort(key=lambda end: (len(end[1]), end[1]), reverse=True)
        return found + [
            ("", name, source[1])
            for name, source in level["outputs"].items()
            if source is not None and source[0] == id_
        ]

    def lead(self, scope: str, target: str, name: str, source: tuple[str, Any] | None) -> None:
        """Let an input (or an output of the scope) be fed by something else, or by nothing."""
        if not target:
            self.model[scope]["outputs"][name] = source
        elif source is not None:
            self.model[scope]["nodes"][target]["links"][name] = source
        else:
            self.unlink(scope, target, name)

    def clear(self, scope: str, id_: str) -> bool:
        """Whether the contract says all that follows when this node goes or changes its type."""
        node = self.model[scope]["nodes"][id_]
        if node["type"] not in self.info or any("." in name for name in node["links"]):
            return False
        if any(source[0] == "in" for source in node["links"].values()):
            return False
        if any(
            self.model[scope]["nodes"].get(source[0], {}).get("type") == PRIMITIVE
            for source in node["links"].values()
        ):
            return False
        return not any(
            other and name.rpartition(".")[0] and not self.plain_row(scope, other, name)
            for other, name, _ in self.fed(scope, id_)
        )

    def plain_row(self, scope: str, id_: str, name: str) -> bool:
        node = self.model[scope]["nodes"][id_]
        return self.grows(node, name.rpartition(".")[0]) and name.count(".") == 1


def _paths(model: Model) -> dict[str, str]:
    """The beginning of the addresses in each scope, by its first instance."""
    paths = {"": ""}
    pending = [""]
    while pending:
        key = pending.pop(0)
        for id_, node in model[key]["nodes"].items():
            if node["type"] in model and node["type"] not in paths:
                paths[node["type"]] = f"{paths[key]}{id_}:"
                pending.append(node["type"])
    return paths


def random_value(spec: Any, random: Random) -> Any:
    """A value that the widget of an input takes as it is; None where there is no choice."""
    kind, options = kind_of(spec), options_of(spec)
    if kind == "BOOLEAN":
        return random.random() < 0.5
    if kind == "STRING":
        return random.choice(WORDS)
    if kind in ("COMBO", DYNAMIC):
        choices = (
            [one["key"] for one in options["options"]] if kind == DYNAMIC else choices_of(spec)
        )
        plain = [one for one in choices if isinstance(one, str) and one]
        return random.choice(plain) if plain else None
    least = max(options.get("min", 0), -4096)
    most = min(options.get("max", 2048), least + 4096)
    if kind == "INT":
        step = options.get("step") or 1
        if step % 1 or most < least:
            return None
        # The front end's grid begins at what the least value leaves when divided by the step.
        first = least + (-(least - least % step) % step)
        return int(first + step * random.randint(0, max(0, int((most - first) // step))))
    if most <= least:
        return None
    # Numbers with one digit are on each grid that the front end uses for fractions.
    step = options.get("step", 0.5)
    if step > 0.1 or options.get("round") or least != round(least, 1):
        first, last = int(-(-least // 1)), int(most // 1)
        return float(random.randint(first, last)) if first <= last and step in (0.5, 1) else None
    value = round(least + random.randint(0, 20) / 10, 1)
    return value if value <= most else least


def spec_of(info: Info, node: Json, name: str) -> Any:
    """The definition of a widget by its full name."""
    specs = dict(widget_specs(info[node["type"]]))
    parts = name.split(".")
    for place in range(len(parts)):
        full = ".".join(parts[: place + 1])
        spec = specs.get(parts[place])
        if spec is None or place == len(parts) - 1:
            return spec
        branches = options_of(spec).get("options") or []
        branch = next((one for one in branches if one["key"] == node["values"].get(full)), None)
        specs = dict(widget_specs({"input": branch["inputs"]})) if branch else {}
    return None


def _set(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope, known=True)
    if chosen is None:
        return None
    id_, node = chosen
    values: Json = {}
    for name in at.random.sample(list(node["values"]), min(2, len(node["values"]))):
        if name in node["links"] or name.rpartition(".")[2] == CONTROL:
            continue
        if any(f"{one}.".startswith(f"{other}.") for one, other in _both(name, values)):
            continue
        spec = spec_of(at.info, node, name)
        value = random_value(spec, at.random) if spec is not None else None
        if value is None or (kind_of(spec) == DYNAMIC and not _choose(at, node, name, spec, value)):
            continue
        node["values"][name] = values[name] = value
    return {"op": "set", "node": at.address(scope, id_), "values": values} if values else None


def _both(name: str, values: Json) -> list[tuple[str, str]]:
    """A name with each other, both ways."""
    return [pair for done in values for pair in ((name, done), (done, name))]


def _choose(at: Batches, node: Json, name: str, spec: Any, value: str) -> bool:
    """Choose an option of a dynamic combo: its inputs come with their defaults."""
    if any(one.startswith(f"{name}.") for one in node["links"]) or node["values"][name] == value:
        return False
    branch = next(one for one in options_of(spec)["options"] if one["key"] == value)
    try:
        fresh = read_values({"input": branch["inputs"]}, [], f"{name}.")
    except Unreadable:
        return False
    kept = {key: one for key, one in node["values"].items() if not key.startswith(f"{name}.")}
    node["values"] = {**kept, **fresh}
    node["kinds"] = {
        key: one for key, one in node["kinds"].items() if not key.startswith(f"{name}.")
    }
    return True


def _set_promoted(at: Batches) -> Json | None:
    """A value of a subgraph's instance."""
    scope = at.scope()
    instances = [
        (id_, node)
        for id_, node in at.model[scope]["nodes"].items()
        if node["type"] in at.model and node["values"]
    ]
    if not instances:
        return None
    id_, node = at.random.choice(instances)
    name = at.random.choice(list(node["values"]))
    inner = at.model[node["type"]]["nodes"]
    fed = [
        (one, widget)
        for one in inner.values()
        for widget, source in one["links"].items()
        if source == ("in", name)
    ]
    if name in node["links"] or not fed or any(one["type"] not in at.info for one, _ in fed):
        return None
    specs = [spec_of(at.info, one, widget) for one, widget in fed]
    if any(spec is None or kind_of(spec) == DYNAMIC or spec != specs[0] for spec in specs):
        return None
    value = random_value(specs[0], at.random)
    if value is None:
        return None
    node["values"][name] = value
    return {"op": "set", "node": at.address(scope, id_), "values": {name: value}}


def _title(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope)
    if chosen is None:
        return None
    id_, node = chosen
    node["title"] = title = at.random.choice(["First pass", "Überblick", 'A "name"', "x.y"])
    return {"op": "title", "node": at.address(scope, id_), "title": title}


def _mode(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope, known=True)
    if chosen is None:
        return None
    id_, node = chosen
    mode = at.random.choice(list(MODES))
    node["mode"] = MODES[mode]
    return {"op": "mode", "node": at.address(scope, id_), "mode": mode}


def _connect(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope)
    sockets = at.sockets(chosen[1]) if chosen is not None else []
    if chosen is None or not sockets:
        return None
    id_, node = chosen
    name, kind = at.random.choice(sockets)
    if node["links"].get(name, ("",))[0] == "in":
        return None
    found = at.sources(scope, kind, at.behind(scope, id_))
    if not found:
        return None
    source = at.random.choice(found)
    said = at.said(scope, source, at.model[scope]["nodes"][source[0]])
    if said is None:
        return None
    node["links"][name] = source
    return {"op": "connect", "from": said, "to": f"{at.address(scope, id_)}.{name}"}


def _connect_out(at: Batches) -> Json | None:
    """An output of a subgraph, from inside."""
    scope = at.scope()
    level = at.model[scope]
    if not scope or not level["outputs"]:
        return None
    name = at.random.choice(list(level["outputs"]))
    before = level["outputs"][name]
    node = level["nodes"].get(before[0]) if before is not None else None
    kinds = [kind for _, kind in at.outputs(node)] if node is not None else []
    if before is None or before[1] >= len(kinds) or not kinds[before[1]].isalpha():
        return None
    found = at.sources(scope, kinds[before[1]], set())
    source = at.random.choice(found)
    said = at.said(scope, source, level["nodes"][source[0]])
    if said is None or kinds[before[1]] == "*":
        return None
    level["outputs"][name] = source
    return {"op": "connect", "from": said, "to": f"{at.paths[scope].rstrip(':')}:out.{name}"}


def _disconnect(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope, known=True)
    if chosen is None or not chosen[1]["links"]:
        return None
    id_, node = chosen
    name = at.random.choice(list(node["links"]))
    source = node["links"][name]
    maker = at.model[scope]["nodes"].get(source[0])
    if source[0] == "in" or (maker is not None and maker["type"] == PRIMITIVE):
        return None
    if "." in name and not at.plain_row(scope, id_, name):
        return None
    at.unlink(scope, id_, name)
    return {"op": "disconnect", "to": f"{at.address(scope, id_)}.{name}"}


def fresh(at: Batches, type_: str) -> Json:
    """A new node in the model."""
    definition = at.info[type_]
    return {
        "type": type_,
        "title": None,
        "mode": 0,
        "values": read_values(definition, []),
        "links": {},
        "kinds": kinds_of(definition),
        "gives": [one if isinstance(one, str) else "COMBO" for one in definition["output"]],
    }


def _name(at: Batches, scope: str) -> str:
    at.names += 1
    name = f"new{at.names}"
    at.new[name] = (scope, name)
    return name


def _with_values(at: Batches, node: Json) -> Json:
    """Some values of a new node, set in the model."""
    values: Json = {}
    for name in list(node["values"]):
        if "." in name or name == CONTROL or at.random.random() < 0.6:
            continue
        spec = spec_of(at.info, node, name)
        value = random_value(spec, at.random) if spec is not None else None
        if value is not None and kind_of(spec) != DYNAMIC:
            node["values"][name] = values[name] = value
    return values


def _add(at: Batches) -> Json | None:
    scope = at.scope()
    type_ = at.random.choice(at.types)
    node = fresh(at, type_)
    operation: Json = {"op": "add", "type": type_}
    if values := _with_values(at, node):
        operation["values"] = values
    inputs = {}
    for name, kind in at.sockets(node):
        found = at.sources(scope, kind, set())
        if found and at.random.random() < 0.7:
            source = at.random.choice(found)
            said = at.said(scope, source, at.model[scope]["nodes"][source[0]])
            if said is not None:
                node["links"][name] = source
                inputs[name] = said
    if inputs:
        operation["inputs"] = inputs
    if scope:
        operation["inside"] = at.paths[scope].rstrip(":")
    if at.random.random() < 0.2:
        operation["title"] = node["title"] = "A new one"
    operation["id"] = name = _name(at, scope)
    at.model[scope]["nodes"][name] = node
    return operation


def _insert(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope)
    links = [
        (name, kind)
        for name, kind in (at.sockets(chosen[1]) if chosen is not None else [])
        if chosen is not None and chosen[1]["links"].get(name, ("in",))[0] != "in"
    ]
    if chosen is None or not links:
        return None
    id_, target = chosen
    name, kind = at.random.choice(links)
    source = target["links"][name]
    given = [one for _, one in at.outputs(at.model[scope]["nodes"].get(source[0], {"type": ""}))]
    if source[1] >= len(given) or given[source[1]] != kind:
        return None
    fitting = [one for one in at.types if _passes(at, one, kind)]
    if not fitting:
        return None
    type_ = at.random.choice(fitting)
    node = fresh(at, type_)
    operation: Json = {"op": "insert", "type": type_}
    operation["into"] = f"{at.address(scope, id_)}.{name}"
    if values := _with_values(at, node):
        operation["values"] = values
    entry = next(one for one, takes in at.sockets(node) if takes == kind)
    node["links"][entry] = source
    operation["id"] = new = _name(at, scope)
    at.model[scope]["nodes"][new] = node
    target["links"][name] = (new, node["gives"].index(kind))
    return operation


def _passes(at: Batches, type_: str, kind: str) -> bool:
    """Whether a type has an input and an output of this type, and none of several types."""
    node = fresh(at, type_)
    sockets = at.sockets(node)
    clear = all("," not in one and one != "*" for one in (*node["kinds"].values(), *node["gives"]))
    return clear and kind in [one for _, one in sockets] and kind in node["gives"]


def _remove(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope, known=True)
    if chosen is None or not at.clear(scope, chosen[0]):
        return None
    id_, node = chosen
    operation: Json = {"op": "remove", "node": at.address(scope, id_)}
    bridged: dict[int, tuple[str, Any]] = {}
    if at.random.random() < 0.5:
        found = _bridges(at, node)
        if found is None:
            return None
        bridged, operation["bridge"] = found, True
    for target, name, output in at.fed(scope, id_):
        at.lead(scope, target, name, bridged.get(output))
    del at.model[scope]["nodes"][id_]
    at.new.pop(id_, None)
    return operation


def _bridges(at: Batches, node: Json) -> dict[int, tuple[str, Any]] | None:
    """What replaces each output; None where the contract leaves it open."""
    found = {}
    kinds = dict(at.sockets(node))
    if set(kinds) != {name for name in node["kinds"] if name not in node["values"]}:
        return None
    if any(name not in kinds for name in node["links"]):
        return None
    for place, (_, kind) in enumerate(at.outputs(node)):
        same = [name for name, one in kinds.items() if one == kind]
        if len(same) > 1 or kind == "*" or "," in kind:
            return None
        if same and same[0] in node["links"]:
            found[place] = node["links"][same[0]]
    return found


def _replace(at: Batches) -> Json | None:
    scope = at.scope()
    chosen = at.node(scope, known=True)
    if chosen is None or not at.clear(scope, chosen[0]):
        return None
    id_, node = chosen
    used = {output for _, _, output in at.fed(scope, id_)}
    outputs = at.outputs(node)
    if any(output >= len(outputs) for output in used):
        return None
    fitting = [one for one in at.types if _fits(at, node, {outputs[place] for place in used}, one)]
    if not fitting:
        return None
    type_ = at.random.choice(fitting)
    new = fresh(at, type_)
    for name, value in node["values"].items():
        spec = spec_of(at.info, new, name) if name in new["values"] else None
        if spec is not None and spec == spec_of(at.info, node, name):
            new["values"][name] = value
        elif name in new["values"]:
            return None
    names = [name for name, _ in at.outputs(new)]
    places = {place: names.index(outputs[place][0]) for place in used}
    for target, name, output in at.fed(scope, id_):
        at.lead(scope, target, name, (id_, places[output]))
    new.update(links=dict(node["links"]), title=node["title"], mode=node["mode"])
    at.model[scope]["nodes"][id_] = new
    return {"op": "replace", "node": at.address(scope, id_), "type": type_}


def _fits(at: Batches, node: Json, used: set[tuple[str, str]], type_: str) -> bool:
    """Whether all links of a node, and all widgets of the same name, fit another type by name."""
    if type_ == node["type"]:
        return False
    new = fresh(at, type_)
    sockets, names = dict(at.sockets(new)), at.outputs(new)
    mine = dict(at.sockets(node))
    if not used or any(names.count(one) != 1 for one in used):
        return False
    if len({name for name, _ in names}) < len(names):
        return False
    return all(name in mine and sockets.get(name) == mine[name] for name in node["links"])


def _layout(at: Batches) -> Json | None:
    """Operations that change nothing that counts."""
    scope = at.scope()
    ids = [at.address(scope, id_) for id_ in at.model[scope]["nodes"]]
    if not ids:
        return None
    some = at.random.sample(ids, at.random.randint(1, min(4, len(ids))))
    choices: list[Json] = [
        {"op": "move", "node": some[0], "x": at.random.randint(-900, 900), "y": 40},
        {"op": "arrange", "nodes": some},
        {"op": "arrange"},
        {"op": "group", "title": f"Group {at.random.random():.6f}", "nodes": some},
        *([{"op": "move", "node": some[0], "near": some[1]}] if len(some) > 1 else []),
    ]
    return at.random.choice(choices)


_MAKERS: Mapping[Callable[[Batches], Json | None], float] = {
    _set: 6,
    _set_promoted: 2,
    _title: 1,
    _mode: 2,
    _connect: 4,
    _connect_out: 1,
    _disconnect: 2,
    _add: 4,
    _insert: 3,
    _remove: 3,
    _replace: 2,
    _layout: 1.5,
}
