"""A second reading of workflows, for the fuzz of edits: straight from the JSON and `/object_info`.

It shares no code with `assistant/workflow`, and knows less: what it cannot read, it says so
(`Unreadable`), and the fuzz takes another workflow. A model of a workflow is plain dicts:

    {scope: {"nodes": {id: {"type", "title", "mode", "values", "links", "kinds", "gives"}},
             "inputs": [name], "outputs": {name: source}}}

A scope is "" or a subgraph's id. `values` are widgets by name, `links` sources by input, `kinds`
the types of inputs by name and `gives` those of outputs. A source is `(node, output)`, or
`("in", name)` at an input of the subgraph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]
Model = dict[str, Json]
Info = Mapping[str, Any]

WIDGETS = frozenset({"INT", "FLOAT", "STRING", "BOOLEAN", "COMBO"})
DYNAMIC = "COMFY_DYNAMICCOMBO_V3"
GROWING = "COMFY_AUTOGROW_V3"
OTHER_WIDGETS = frozenset(
    "COLOR CURVE BOUNDING_BOX BOUNDING_BOXES IMAGECOMPARE LOAD_3D PREVIEW_3D WEBCAM AUDIO_UI "
    "AUDIOUPLOAD AUDIO_RECORD PAINTER COMPOSITOR RANGE VIDEO_EDIT CHART GALLERIA TEXTAREA MARKDOWN "
    "COLORS RESOLUTION_PREVIEW LIGHT_INFO_PREVIEW COMFY_DYNAMICGROUP_V3 COMFY_BRANCH_INPUT_NAMES "
    "COMFY_BRANCH_SELECTOR IMAGEUPLOAD".split()
)
NOTES = frozenset({"Note", "MarkdownNote"})
PASSING = "Reroute"
PRIMITIVE = "PrimitiveNode"
MUTED, BYPASSED = 2, 4
CONTROL = "control_after_generate"


class Unreadable(Exception):
    """A workflow with something that this reader does not know."""


def read(workflow: Json, info: Info) -> Model:
    """The model of a UI workflow."""
    definitions = {one["id"]: one for one in workflow.get("definitions", {}).get("subgraphs", [])}
    if any("definitions" in one for one in definitions.values()):
        raise Unreadable("subgraphs in subgraphs")
    ids = [node["id"] for scope in (workflow, *definitions.values()) for node in scope["nodes"]]
    if len(set(map(str, ids))) < len(ids):
        raise Unreadable("ids that clash")
    model = {}
    for key, raw in {"": workflow, **definitions}.items():
        model[key] = _scope(raw, key, definitions, info)
    for raw in (workflow, *definitions.values()):
        for node in raw["nodes"]:
            _promote(node, model, raw)
    for raw in (*definitions.values(), workflow):
        for node in raw["nodes"]:
            if node["type"] in definitions:
                _complete(node, model, raw, definitions)
    used = {node["type"] for scope in model.values() for node in scope["nodes"].values()}
    for key in definitions:
        if key not in used:
            del model[key]
    return model


def _scope(raw: Json, key: str, definitions: Mapping[str, Json], info: Info) -> Json:
    links = {}
    for one in raw["links"]:
        ends = (
            one[:5]
            if isinstance(one, list)
            else [one[k] for k in ("id", "origin_id", "origin_slot", "target_id", "target_slot")]
        )
        if ends[0] in links:
            raise Unreadable("two links of one id")
        links[ends[0]] = ends
    inputs = [one["name"] for one in raw.get("inputs", [])] if key else []
    scope: Json = {"nodes": {}, "inputs": inputs, "outputs": {}, "name": raw.get("name", "")}
    fed = set()
    for node in raw["nodes"]:
        found = _node(node, definitions, info)
        for place, one in enumerate(node.get("inputs") or []):
            link = one.get("link")
            if link is None:
                continue
            if link not in links or links[link][3:] != [node["id"], place]:
                raise Unreadable("a link that its input and its target say differently")
            fed.add(link)
            found["links"][one["name"]] = _source(links[link], inputs)
        scope["nodes"][str(node["id"])] = found
    for place, one in enumerate(raw.get("outputs", []) if key else []):
        own = [link for link in links.values() if link[3:] == [-20, place]]
        if len(own) > 1:
            raise Unreadable("an output with two links")
        scope["outputs"][one["name"]] = _source(own[0], inputs) if own else None
        fed.update(link[0] for link in own)
    if set(links) - fed:
        raise Unreadable("a link that feeds nothing")
    return scope


def _source(link: list[Any], inputs: list[str]) -> tuple[str, Any]:
    return ("in", inputs[link[2]]) if link[1] == -10 else (str(link[1]), link[2])


def _node(raw: Json, definitions: Mapping[str, Json], info: Info) -> Json:
    kind = raw["type"]
    found: Json = {
        "type": kind,
        "title": raw.get("title") or None,
        "mode": raw.get("mode", 0),
        "links": {},
        "kinds": {one["name"]: one["type"] for one in raw.get("inputs") or []},
        "gives": [one["type"] for one in raw.get("outputs") or []],
    }
    values = raw.get("widgets_values") or []
    if kind in definitions:
        found["values"] = _promoted(raw, definitions[kind], definitions)
    elif kind in NOTES or kind == PRIMITIVE:
        found["values"] = {"value": values[0]} if values else {}
    elif kind == PASSING:
        found["values"] = {}
    elif kind in info:
        if not isinstance(values, list):
            raise Unreadable("values by name")
        found["values"] = read_values(info[kind], list(values))
        found["kinds"] = {**kinds_of(info[kind]), **found["kinds"]}
        specs = widget_specs(info[kind])
        open_ones = [name for name, spec in specs if kind_of(spec).startswith("COMFY_")]
        found["kinds"].update(dict.fromkeys(open_ones, "*"))
    else:
        raise Unreadable(f"the type {kind}")
    return found


def _promoted(raw: Json, definition: Json, definitions: Mapping[str, Json]) -> Json:
    """The values of an instance, by the inner node and widget that they stand for."""
    properties = raw.get("properties") or {}
    if properties.get("proxyWidgetErrorQuarantine"):
        raise Unreadable("values in quarantine")
    names = [name for name, _ in promoted_slots(definition, definitions)]
    values = raw.get("widgets_values") or []
    return dict(zip(names, values, strict=False))


def _complete(raw: Json, model: Model, around: Json, definitions: Mapping[str, Json]) -> None:
    """Values that an instance does not have are those inside."""
    instance = model[around["id"] if "inputNode" in around else ""]["nodes"][str(raw["id"])]
    inner = model[raw["type"]]["nodes"]
    for name, (id_, widget) in promoted_slots(definitions[raw["type"]], definitions):
        if name not in instance["values"] and widget in inner[id_]["values"]:
            instance["values"][name] = inner[id_]["values"][widget]


def _promote(raw: Json, model: Model, around: Json) -> None:
    """Widgets that an instance has in the older way, as inputs of its subgraph."""
    entries = (raw.get("properties") or {}).get("proxyWidgets") or []
    inner = model.get(raw["type"])
    if not entries or inner is None:
        return
    instance = model[around["id"] if "inputNode" in around else ""]["nodes"][str(raw["id"])]
    values = raw.get("widgets_values") or []
    for place, (id_, widget, *_) in enumerate(entries):
        node = inner["nodes"].get(id_)
        if id_ == "-1":
            name = widget if widget in instance["values"] else None
        elif node is None or widget not in node["values"] or widget.startswith(("$$", CONTROL)):
            if node is not None and (node["type"] in model or node["type"] == PRIMITIVE):
                raise Unreadable("widgets promoted twice in the older way")
            name = None
        else:
            before = node["links"].get(widget)
            if before is not None and before[0] != "in":
                raise Unreadable("a promoted widget that is linked")
            name = before[1] if before is not None else _new_name(widget, inner["inputs"])
            if before is None:
                inner["inputs"].append(name)
                node["links"][widget] = ("in", name)
                node["kinds"].setdefault(widget, "*")
                instance["values"][name] = node["values"][widget]
        if name is not None and place < len(values):
            instance["values"][name] = values[place]


def _new_name(name: str, taken: list[str]) -> str:
    unique, count = name, 1
    while unique in taken:
        unique, count = f"{name}_{count}", count + 1
    return unique


def promoted_slots(definition: Json, definitions: Mapping[str, Json]) -> Iterator[tuple[str, Any]]:
    """The inputs of a subgraph that feed a widget inside: name, and (node, input)."""
    for place, slot in enumerate(definition["inputs"]):
        for id_ in slot.get("linkIds") or []:
            link = next((one for one in definition["links"] if one["id"] == id_), None)
            if link is None or (link["origin_id"], link["origin_slot"]) != (-10, place):
                raise Unreadable("a slot that names another's link")
            node = next((n for n in definition["nodes"] if n["id"] == link["target_id"]), None)
            if node is None:
                continue
            one = node["inputs"][link["target_slot"]]
            inner = definitions.get(node["type"])
            if inner is not None:
                deeper = [name for name, _ in promoted_slots(inner, definitions)]
                if one["name"] in deeper:
                    yield slot["name"], (str(node["id"]), one["name"])
                    break
            elif "widget" in one:
                yield slot["name"], (str(node["id"]), one["name"])
                break


def widget_specs(definition: Json) -> list[tuple[str, Any]]:
    """The inputs of a definition in the order of their widgets."""
    found = []
    for section in ("required", "optional"):
        listed = definition.get("input", {}).get(section) or {}
        order = (definition.get("input_order") or {}).get(section) or listed
        found += [(name, listed[name]) for name in order if name in listed]
    return found


def kinds_of(definition: Json) -> dict[str, str]:
    """The types of a definition's inputs, in order. A page gives a node all of them, and puts those
    that its file alone has behind them."""
    specs = widget_specs(definition)
    return {name: kind_of(spec) for name, spec in specs if not options_of(spec).get("socketless")}


def kind_of(spec: Any) -> str:
    return "COMBO" if isinstance(spec[0], list) else str(spec[0])


def options_of(spec: Any) -> Json:
    return spec[1] if len(spec) > 1 and isinstance(spec[1], dict) else {}


def choices_of(spec: Any) -> list[Any]:
    return spec[0] if isinstance(spec[0], list) else list(options_of(spec).get("options") or [])


def read_values(definition: Json, values: list[Any], prefix: str = "") -> Json:
    """The values of a node by name, given those of its file; defaults where the file has none. An
    option of a dynamic combo has the combo's name as `prefix`."""
    found: Json = {}
    _read_widgets(widget_specs(definition), prefix, values, found)
    return found


def _read_widgets(
    specs: list[tuple[str, Any]], prefix: str, values: list[Any], found: Json
) -> None:
    for name, spec in specs:
        kind, options = kind_of(spec), options_of(spec)
        full = f"{prefix}{name}"
        if options.get("forceInput") or options.get("socketless"):
            if kind in WIDGETS and options.get("socketless"):
                raise Unreadable("a widget without a socket")
            continue
        if kind in OTHER_WIDGETS or ("," in kind and set(kind.split(",")) & WIDGETS):
            raise Unreadable(f"a widget of type {kind}")
        if kind == DYNAMIC:
            found[full] = values.pop(0) if values else default_of(spec)
            branch = next(
                (one for one in options.get("options") or [] if one["key"] == found[full]), None
            )
            if branch is None:
                raise Unreadable("an option that is not there")
            _read_widgets(widget_specs({"input": branch["inputs"]}), f"{full}.", values, found)
        elif kind in WIDGETS:
            if options.get("multi_select") or options.get("multiselect") or options.get("remote"):
                raise Unreadable("a choice of several")
            found[full] = values.pop(0) if values else default_of(spec)
            control = options.get(CONTROL)
            if control is None and kind == "INT":
                control = full in ("seed", "noise_seed")
            if control:
                first = control if isinstance(control, str) else "randomize"
                found[f"{prefix}{CONTROL}"] = values.pop(0) if values else first
                if kind == "COMBO":
                    raise Unreadable("a choice that changes by itself")


def default_of(spec: Any) -> Any:
    """A new widget's value."""
    kind, options = kind_of(spec), options_of(spec)
    if kind == DYNAMIC:
        return options["options"][0]["key"]
    if kind == "COMBO":
        choices = choices_of(spec)
        return options.get("default") or (choices[0] if choices else None)
    empty = {"INT": 0, "FLOAT": 0, "STRING": "", "BOOLEAN": False}[kind]
    return options.get("default", empty)


def prompt(model: Model) -> dict[str, Json]:
    """What would run, by address: `{"type", "values", "links"}`; a link is `(address, output)`."""
    found = {}
    for address, node, around in flattened(model):
        if node["type"] in model or node["type"] in NOTES or node["type"] in (PASSING, PRIMITIVE):
            continue
        values = {k: v for k, v in node["values"].items() if k.rpartition(".")[2] != CONTROL}
        links = {}
        for name in node["links"]:
            source = _resolve(model, around, node["links"][name], node["kinds"].get(name, "*"))
            if isinstance(source, tuple):
                links[name] = source
                values.pop(name, None)
            elif isinstance(source, dict):
                values[name] = source["value"]
        found[address] = {"type": node["type"], "values": values, "links": links}
    for node in found.values():
        node["links"] = {k: v for k, v in node["links"].items() if v[0] in found}
    return found


Around = tuple[tuple[str, str], ...]
"""The instances around a node: the scope that each is in, and its id."""


def flattened(model: Model) -> Iterator[tuple[str, Json, Around]]:
    """The nodes that run with their addresses."""
    pending: list[tuple[str, str, Around]] = [("", "", ())]
    while pending:
        key, prefix, around = pending.pop(0)
        for id_, node in model[key]["nodes"].items():
            off = node["mode"] in (MUTED, BYPASSED)
            if not off:
                yield f"{prefix}{id_}", node, around
            if node["type"] in model and (not off or around):
                pending.append((node["type"], f"{prefix}{id_}:", (*around, (key, id_))))


def _resolve(model: Model, around: Around, source: Any, kind: str) -> Any:
    """`(address, output)`, or `{"value"}`, or None."""
    for _ in range(1000):
        if source is None:
            return None
        if source[0] == "in":
            *rest, (key, id_) = around
            instance = model[key]["nodes"][id_]
            around = tuple(rest)
            name = source[1]
            source = instance["links"].get(name)
            if source is None:
                known = name in instance["values"]
                return {"value": instance["values"][name]} if known else None
            kind = instance["kinds"].get(name, "*")
            continue
        key = model[around[-1][0]]["nodes"][around[-1][1]]["type"] if around else ""
        node = model[key]["nodes"].get(source[0])
        if node is None or node["mode"] == MUTED:
            return None
        if node["mode"] == BYPASSED:
            source = _bypassed(node, source[1], kind)
        elif node["type"] in model:
            around = (*around, (key, source[0]))
            source = list(model[node["type"]]["outputs"].values())[source[1]]
            if source is not None and source[0] == "in":
                raise Unreadable("a subgraph that passes on")
        elif node["type"] == PASSING:
            source = next(iter(node["links"].values()), None)
        elif node["type"] == PRIMITIVE:
            return {"value": node["values"]["value"]} if node["values"] else None
        else:
            prefix = "".join(f"{id_}:" for _, id_ in around)
            return f"{prefix}{source[0]}", source[1]
    raise Unreadable("a circle")


def _bypassed(node: Json, output: int, kind: str) -> Any:
    """What a bypassed node passes on: the input at the output's place, else one of its type."""
    gives = node["gives"][output] if output < len(node["gives"]) else "*"
    inputs = list(node["kinds"].items())
    if any("," in one or one == "*" for one in (kind, gives, *(one for _, one in inputs))):
        raise Unreadable("a bypassed node with types that are not clear")
    fitting = [name for name, one in inputs if one == gives and one == kind]
    if output < len(inputs) and inputs[output][1] == kind == gives:
        fitting = [inputs[output][0]]
    return node["links"].get(fitting[0]) if fitting else None
