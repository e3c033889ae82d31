"""Which input of a live node each link feeds.

A file says it twice: a link names the place of an input, and an input names a link. The front end
first goes by the places, in a list of inputs that may have others than the file's, then moves each
link to the input of the name that the file's input has. A link whose input is nowhere stays where
it is, if no other link comes there.
"""

from __future__ import annotations

from collections.abc import Sequence

from .dynamic_inputs import grow_behind
from .live_nodes import LiveLink, LiveNode


def place_links(live: LiveNode, links: Sequence[tuple[int, LiveLink]]) -> None:
    """Give the inputs their links by place; the first of each place."""
    for place, link in links:
        if place >= len(live.inputs):
            live.loose.append(link)
        elif live.inputs[place].link is None:
            live.inputs[place].link = link


def realign_group_children(live: LiveNode, named: Sequence[tuple[str, LiveLink | None]]) -> None:
    """Before a dynamic combo gets its value: links to the inputs of the file's names.

    `named` are the inputs that the node was made with and those that the file adds, each with the
    link that the file's input of this name names. Groups that grow have no part in this.
    """
    kept = [pair for pair in named if pair[0].rpartition(".")[0] not in live.autogrow]
    groups = {name.rpartition(".")[0] for name, _ in kept if name.find(".") > 0}
    if any(widget.name in groups for widget in live.own_widgets):
        realign(live, kept)


def realign(live: LiveNode, named: Sequence[tuple[str, LiveLink | None]]) -> None:
    """Move each link to the input with the name of the file's input that names the link.

    `named` are the names of the file's inputs with their links. A group that grows gets further
    inputs by that, so it is done again until nothing moves.
    """
    placed = {one.link: one.name for one in live.inputs if one.link is not None}
    if all(placed.get(link) == name for name, link in named if link is not None):
        return
    names: dict[LiveLink, list[str]] = {}
    for name, link in named:
        if link is not None:
            names.setdefault(link, []).append(name)
    skipped: set[LiveLink] = set()
    passes = 0
    while passes < len(names):
        places = {link: place for place, link in _placed(live)}
        known = {*places, *live.loose}
        moves = _moves(
            live, {link: names[link] for link in names if link in known}, skipped, places
        )
        if not moves:
            return
        if _move(live, moves, names, skipped, places):
            passes += 1


def _placed(live: LiveNode) -> list[tuple[int, LiveLink]]:
    return [(place, one.link) for place, one in enumerate(live.inputs) if one.link is not None]


def _moves(
    live: LiveNode,
    names: dict[LiveLink, list[str]],
    skipped: set[LiveLink],
    places: dict[LiveLink, int],
) -> dict[LiveLink, int]:
    """The links that are not where they belong, with the places where they do."""
    by_name: dict[str, dict[int, None]] = {}
    for place, one in enumerate(live.inputs):
        by_name.setdefault(one.name, {})[place] = None
    moves = {}
    for link, wanted in names.items():
        right = [by_name[name] for name in wanted if name in by_name]
        if right and link not in skipped and not any(places.get(link) in some for some in right):
            moves[link] = min(next(iter(some)) for some in right)
    return moves


def _move(
    live: LiveNode,
    moves: dict[LiveLink, int],
    names: dict[LiveLink, list[str]],
    skipped: set[LiveLink],
    places: dict[LiveLink, int],
) -> bool:
    """Carry out the moves, unless another link is in the way."""
    known = {one.name for one in live.inputs}
    goals = set(moves.values())
    gone = {
        link
        for link, wanted in names.items()
        if places.get(link) in goals and not known.intersection(wanted)
    }
    occupants = {place: link for link, place in places.items()}
    taking_part = {*moves, *gone}
    blocked = [
        link
        for link, place in moves.items()
        if (there := occupants.get(place)) is not None and there not in taking_part
    ]
    if blocked or len(goals) < len(moves):
        skipped.update(blocked or moves)
        return False
    for one in live.inputs:
        if one.link in taking_part:
            one.link = None
    targets = [(live.inputs[place], link) for link, place in moves.items()]
    for one, link in targets:
        one.link = link
    live.loose = [link for link in live.loose if link not in taking_part]
    for one, _ in targets:
        grow_behind(live, one)
    return True


def keep_links(live: LiveNode, named: Sequence[tuple[str, LiveLink | None]]) -> None:
    """Give the inputs of these names the links that no input got.

    The front end counts inputs by their places while groups grow, and so loses links of a file that
    it wrote itself. On the canvas that it wrote the file of, they are there.
    """
    there = {one.link for one in live.inputs}
    for name, link in named:
        one = live.input(name)
        if link is not None and link not in there and one is not None and one.link is None:
            one.link = link
            grow_behind(live, one)
            there.add(link)
    live.loose = [link for link in live.loose if link not in there]
