"""Defects for the validator to find: one is put into a workflow, and it is known where.

The injector reads raw JSON (`workflow_raw.py`) and shares no code with the validator. It picks only
places where the change is surely a defect: the node runs and an output needs it, its subgraph has
one instance, its widgets are known by name, and nothing else drives the value that it spoils. The
same seed gives the same defect.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from plugin.bench import workflow_raw as raw
from plugin.bench.workflow_raw import Placed, Raw, Widget
from plugin.bench.workflow_sites import (
    Definitions,
    Site,
    Socket,
    add_link,
    cut,
    is_plain,
    link_id,
    put,
    relink,
)

NOWHERE = 999_999
"""The id of a node or link that no template has."""
ABSENT = "not-installed-anywhere-4711"
TYPO = "Quux"
BIGGEST = 2**31
"""Ranges beyond it (seeds) are left alone: JSON and front ends round such numbers."""
INPUT_FILES = frozenset(
    {("LoadImage", "image"), ("LoadImageMask", "image"), ("LoadAudio", "audio")}
    | {("LoadVideo", "file")}
)
NOT_MODELS = frozenset(
    {("CustomCombo", "choice"), ("LoadTrainingDataset", "folder_name"), ("LoadLatent", "latent")}
    | {
        ("DiffusersLoader", "model_path"),
        ("GeminiInputFiles", "file"),
        ("OpenAIInputFiles", "file"),
    }
    | {("LoadImageOutput", "image")}
)
MODELS_BESIDE_OTHERS = frozenset({("VAELoader", "vae_name")})
"""Lists that have choices without any installed file."""
FILE_END = (".safetensors", ".pt", ".pth", ".ckpt", ".bin", ".gguf", ".png", ".jpg", ".yaml")


@dataclass(frozen=True, slots=True)
class Defect:
    """A spoiled workflow and where a validator has to see it.

    `nodes` are addresses, each of which is right: several for a cycle, whose nodes are equal, and
    `("",)` where the workflow as a whole is meant. `input` is "" where no input is meant.
    """

    code: str
    workflow: Raw
    nodes: tuple[str, ...]
    input: str

    def is_found(self, problems: Iterable[Raw]) -> bool:
        """Whether one of the problems has this code at this node and input."""
        return any(
            one["code"] == self.code and one["node"] in self.nodes and self._at(one)
            for one in problems
        )

    def _at(self, problem: Raw) -> bool:
        return self.code == "cycle" or problem["input"] == self.input


def inject(workflow: Raw, definitions: Definitions, code: str, seed: int) -> Defect | None:
    """A copy of the workflow with one defect; None where it has no place for this code."""
    spoiled = copy.deepcopy(workflow)
    site = Site(spoiled, definitions)
    pick = random.Random(f"{seed} {code}")
    return INJECTORS[code](site, pick)


def furnish(definitions: Definitions, workflows: Iterable[Raw]) -> dict[str, Any]:
    """The definitions as they would be if every file that the workflows name were installed.

    Without installed files the lists of model folders are empty, and any name is accepted.
    """
    furnished: dict[str, Any] = copy.deepcopy(dict(definitions))
    for workflow in workflows:
        for place in raw.placed(workflow):
            definition = definitions.get(place.type)
            if definition is None:
                continue
            for widget in raw.widgets(place.node, definition) or []:
                key = (place.type, widget.name)
                if key in INPUT_FILES or _is_model(key, widget.spec):
                    value = place.node["widgets_values"][widget.place]
                    _install(furnished[place.type], widget.name, value)
    return furnished


def _install(definition: Raw, name: str, value: Any) -> None:
    found = raw.choices(raw.specs(definition)[name])
    if found is not None and isinstance(value, str) and value not in found:
        found.append(value)


def _is_model(key: tuple[str, str], spec: list[Any]) -> bool:
    if key in NOT_MODELS or key in INPUT_FILES:
        return False
    return raw.choices(spec) == [] or key in MODELS_BESIDE_OTHERS


def _choose(pick: random.Random, found: list[Any]) -> Any:
    return pick.choice(found) if found else None


def _unknown_node(site: Site, pick: random.Random) -> Defect | None:
    place = _choose(pick, site.real())
    if place is None:
        return None
    place.node["type"] = place.type + TYPO
    (place.node.get("properties") or {}).pop("Node name for S&R", None)
    return Defect("unknown_node", site.workflow, (place.address,), "")


def _missing_input(site: Site, pick: random.Random) -> Defect | None:
    socket = _choose(pick, [one for one in site.sockets() if one.required])
    if socket is None:
        return None
    cut(socket)
    return _at(socket, "missing_input", site)


def _at(socket: Socket, code: str, site: Site) -> Defect:
    return Defect(code, site.workflow, (socket.place.address,), socket.slot["name"])


def _wrong_type(site: Site, pick: random.Random) -> Defect | None:
    found = []
    for socket in site.sockets():
        if is_plain(socket.spec[0]):
            after = site.downstream(socket.place, into_subgraphs=True)
            found += [
                (socket, other.node, number, kind)
                for other in site.siblings(socket.place)
                for number, kind in site.outputs_of(other)
                if other.local not in after and kind != socket.spec[0]
            ]
    if not found:
        return None
    socket, origin, number, kind = pick.choice(found)
    relink(socket, origin, number, kind)
    return _at(socket, "wrong_type", site)


def _cycle(site: Site, pick: random.Random) -> Defect | None:
    found = []
    for socket in site.sockets():
        after = site.downstream(socket.place, into_subgraphs=False)
        found += [
            (socket, other.node, number, after[other.local])
            for other in site.siblings(socket.place)
            for number, kind in site.outputs_of(other)
            if other.local in after and kind == socket.spec[0]
        ]
    if not found:
        return None
    socket, origin, number, ring = pick.choice(found)
    relink(socket, origin, number, socket.link.type)
    around = socket.place.address.rpartition(":")[0]
    nodes = [f"{around}:{one}" if around else one for one in sorted(ring)]
    return Defect("cycle", site.workflow, tuple(nodes), socket.slot["name"])


def _dangling_link(site: Site, pick: random.Random) -> Defect | None:
    socket = _choose(pick, [one for one in site.sockets() if one.required])
    if socket is None:
        return None
    if pick.random() < 0.5:
        cut(socket)
        socket.slot["link"] = NOWHERE
    else:
        for one in socket.place.scope.graph["links"]:
            if link_id(one) == socket.link.id:
                one[1 if isinstance(one, list) else "origin_id"] = NOWHERE
    return _at(socket, "dangling_link", site)


def _spoil(
    code: str, wrong: Callable[[Placed, Widget, Any], Any]
) -> Callable[[Site, random.Random], Defect | None]:
    """An injector that sets a widget to what `wrong` says; None from `wrong` leaves it alone."""

    def injector(site: Site, pick: random.Random) -> Defect | None:
        found = []
        for place, widget in site.free_widgets(promoted=code == "missing_model"):
            value = wrong(place, widget, place.node["widgets_values"][widget.place])
            if value is not None:
                found.append((place, widget, value))
        chosen = _choose(pick, found)
        if chosen is None:
            return None
        place, widget, value = chosen
        put(place, widget, value)
        return Defect(code, site.workflow, (place.address,), widget.name)

    return injector


def _no_choice(place: Placed, widget: Widget, value: Any) -> str | None:
    listed = raw.choices(widget.spec)
    key = (place.type, widget.name)
    if not listed or value not in listed or key in INPUT_FILES or key in NOT_MODELS:
        return None
    files = any(isinstance(one, str) and one.endswith(FILE_END) for one in listed)
    remote = any("upload" in name or name == "remote" for name in raw.options(widget.spec))
    return None if files or remote or key in MODELS_BESIDE_OTHERS else f"{value}{TYPO}"


def _beyond(place: Placed, widget: Widget, value: Any) -> float | int | None:
    limits = raw.options(widget.spec)
    least, most = limits.get("min"), limits.get("max")
    if widget.spec[0] not in ("INT", "FLOAT") or least is None or most is None:
        return None
    if not least <= value <= most:
        return None
    if abs(most) < BIGGEST:
        return int(most) + 1 if widget.spec[0] == "INT" else float(most) + 1.5
    return int(least) - 1 if abs(least) < BIGGEST and widget.spec[0] == "INT" else None


def _no_model(place: Placed, widget: Widget, value: Any) -> str | None:
    key = (place.type, widget.name)
    listed = raw.choices(widget.spec) or []
    if key in NOT_MODELS or key in INPUT_FILES or value not in listed:
        return None
    files = key in MODELS_BESIDE_OTHERS or str(value).endswith(FILE_END[:6])
    return f"{ABSENT}.safetensors" if files else None


def _no_file(place: Placed, widget: Widget, value: Any) -> str | None:
    listed = raw.choices(widget.spec) or []
    if (place.type, widget.name) not in INPUT_FILES or value not in listed:
        return None
    return ABSENT + str(value)[str(value).rfind(".") :]


def _no_output(site: Site, pick: random.Random) -> Defect | None:
    known = {*site.definitions, *site.subgraphs, *raw.NOT_RUN}
    if not site.outputs or any(place.type not in known for place in site.all.values()):
        return None
    mode = pick.choice((raw.MUTED, raw.BYPASSED))
    for place in site.outputs:
        place.node["mode"] = mode
    return Defect("no_output", site.workflow, ("",), "")


def _unknown_widget(site: Site, pick: random.Random) -> Defect | None:
    """A link into a widget that the node does not have, or a promoted one that is not inside."""
    name = f"strength_{TYPO.lower()}"
    instances = [place for place in site.all.values() if _shows_widgets(site, place)]
    if instances and pick.random() < 0.5:
        place = pick.choice(instances)
        shown = place.node["properties"]["proxyWidgets"]
        shown.append([shown[0][0], name])
        return Defect("unknown_widget", site.workflow, (place.address,), name)
    found = []
    for place in site.real():
        after = site.downstream(place, into_subgraphs=True)
        found += [
            (place, other.node, number, kind)
            for other in site.siblings(place)
            for number, kind in site.outputs_of(other)
            if other.local not in after
        ]
    chosen = _choose(pick, found)
    if chosen is None:
        return None
    place, origin, number, kind = chosen
    slot = {"name": name, "type": kind, "widget": {"name": name}, "link": None}
    place.node.setdefault("inputs", []).append(slot)
    add_link(place, slot, NOWHERE, origin, number, kind)
    return Defect("unknown_widget", site.workflow, (place.address,), name)


def _shows_widgets(site: Site, place: Placed) -> bool:
    shown = (place.node.get("properties") or {}).get("proxyWidgets")
    once = site.once(place)
    inner = f"{place.address}:{shown[0][0]}" if shown else ""
    known = inner in site.all and site.all[inner].type in site.definitions
    return known and once and place.runs


INJECTORS: dict[str, Callable[[Site, random.Random], Defect | None]] = {
    "unknown_node": _unknown_node,
    "missing_input": _missing_input,
    "wrong_type": _wrong_type,
    "not_a_choice": _spoil("not_a_choice", _no_choice),
    "out_of_range": _spoil("out_of_range", _beyond),
    "dangling_link": _dangling_link,
    "cycle": _cycle,
    "missing_model": _spoil("missing_model", _no_model),
    "missing_file": _spoil("missing_file", _no_file),
    "no_output": _no_output,
    "unknown_widget": _unknown_widget,
}
