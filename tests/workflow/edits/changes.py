"""Random changes of a workflow's JSON, as anybody may make them: for laws about any two states."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

Json = dict[str, Any]


def changed(workflow: Json, random: Random, count: int) -> Json:
    """A copy with so many changes in it."""
    after = deepcopy(workflow)
    for _ in range(count):
        scope = random.choice([after, *_definitions(after)])
        if scope["nodes"]:
            random.choice(CHANGES)(after, scope, random)
    return after


def _definitions(workflow: Json) -> list[Json]:
    listed: list[Json] = workflow.get("definitions", {}).get("subgraphs", [])
    return listed


def links_of(scope: Json) -> list[list[Any]]:
    """The links as lists: id, source, output, target, input, type."""
    names = ("id", "origin_id", "origin_slot", "target_id", "target_slot", "type")
    return [
        one if isinstance(one, list) else [one[name] for name in names] for one in scope["links"]
    ]


def drop_links(scope: Json, ids: set[Any]) -> None:
    """Take links away in all places that name them."""
    scope["links"] = [
        one for one in scope["links"] if (one[0] if isinstance(one, list) else one["id"]) not in ids
    ]
    for node in scope["nodes"]:
        for one in node.get("inputs") or []:
            if one.get("link") in ids:
                one["link"] = None
        for one in node.get("outputs") or []:
            one["links"] = [id_ for id_ in one.get("links") or [] if id_ not in ids]
    for one in [*scope.get("inputs", []), *scope.get("outputs", [])]:
        one["linkIds"] = [id_ for id_ in one.get("linkIds") or [] if id_ not in ids]


def largest_id(workflow: Json) -> int:
    scopes = [workflow, *_definitions(workflow)]
    return max(int(node["id"]) for scope in scopes for node in scope["nodes"])


def _remove(workflow: Json, scope: Json, random: Random) -> None:
    node = random.choice(scope["nodes"])
    drop_links(scope, {one[0] for one in links_of(scope) if node["id"] in (one[1], one[3])})
    scope["nodes"].remove(node)


def _copy(workflow: Json, scope: Json, random: Random) -> None:
    node = deepcopy(random.choice(scope["nodes"]))
    node["id"] = largest_id(workflow) + 1
    for one in node.get("inputs") or []:
        one["link"] = None
    for one in node.get("outputs") or []:
        one["links"] = []
    scope["nodes"].append(node)


def _retype(workflow: Json, scope: Json, random: Random) -> None:
    node = random.choice(scope["nodes"])
    node["type"] = random.choice(["PreviewImage", "KSampler", "Unknown", node["type"]])


def _cut(workflow: Json, scope: Json, random: Random) -> None:
    links = links_of(scope)
    if links:
        drop_links(scope, {random.choice(links)[0]})


def _lead_elsewhere(workflow: Json, scope: Json, random: Random) -> None:
    """Another output feeds an input."""
    links = links_of(scope)
    sources = [
        (node["id"], slot)
        for node in scope["nodes"]
        for slot in range(len(node.get("outputs") or []))
    ]
    if not links or not sources:
        return
    id_ = random.choice(links)[0]
    source, slot = random.choice(sources)
    for one in scope["links"]:
        if isinstance(one, list) and one[0] == id_:
            one[1:3] = [source, slot]
        elif isinstance(one, dict) and one["id"] == id_:
            one.update(origin_id=source, origin_slot=slot)
    for node in scope["nodes"]:
        for place, one in enumerate(node.get("outputs") or []):
            listed = [other for other in one.get("links") or [] if other != id_]
            one["links"] = [*listed, id_] if (node["id"], place) == (source, slot) else listed
    for one in scope.get("inputs", []):
        one["linkIds"] = [other for other in one.get("linkIds") or [] if other != id_]


def _value(workflow: Json, scope: Json, random: Random) -> None:
    nodes = [node for node in scope["nodes"] if node.get("widgets_values")]
    values = random.choice(nodes)["widgets_values"] if nodes else None
    if isinstance(values, list):
        values[random.randrange(len(values))] = random.choice([7, 0.5, True, "text", "a {b|c}"])


def _look(workflow: Json, scope: Json, random: Random) -> None:
    node = random.choice(scope["nodes"])
    name, value = random.choice(
        [
            ("title", "Another title"),
            ("mode", random.choice([0, 2, 4])),
            ("pos", [random.randrange(900), 12.5]),
            ("size", [300, 200]),
            ("color", "#232"),
            ("properties", {"Node name for S&R": "x"}),
            ("flags", {"collapsed": True}),
        ]
    )
    node[name] = value
    if random.random() < 0.2:
        node.pop("title", None)


def _group(workflow: Json, scope: Json, random: Random) -> None:
    groups = scope.setdefault("groups", [])
    choice = random.random()
    if groups and choice < 0.3:
        groups.remove(random.choice(groups))
    elif groups and choice < 0.6:
        random.choice(groups)["bounding"] = [0, 0, random.randrange(999), 100]
    else:
        taken = [one.get("id", 0) for one in groups]
        groups.append({"id": max(taken, default=0) + 1, "title": "New", "bounding": [1, 2, 3, 4]})


def _boundary(workflow: Json, scope: Json, random: Random) -> None:
    """A subgraph gets another name, and the name of an input; or one input more."""
    if scope is workflow:
        return
    scope["name"] = "Another name"
    if scope["inputs"] and random.random() < 0.5:
        random.choice(scope["inputs"])["label"] = "Another label"
    else:
        number = len(scope["inputs"])
        made = {"id": f"slot{number}", "name": f"more_{number}", "type": "IMAGE", "linkIds": []}
        scope["inputs"].append(made)


CHANGES = (_remove, _copy, _retype, _cut, _lead_elsewhere, _value, _look, _group, _boundary)
