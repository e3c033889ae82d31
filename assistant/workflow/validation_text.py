"""The problems of a workflow in few words, for the model.

    2 problems, 1 of which stops the run.
    stops the run:
    #57:3 steps: wrong_type. The value "flow" of "steps" is not a whole number. The default is 20.
    does not stop it:
    #9 crop: not_a_choice. ...

Ids and names of inputs are anybody's: one that is not plain stands there as a JSON string, as in
the view of the workflow. Values stand in the sentences as JSON strings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..messages.fences import quoted
from .validation_problems import Problem

NONE_FOUND: Final = "No problems found."
MOST_LINES: Final = 40
"""Problems that are told one by one; some 2,000 tokens."""
MOST_NODES: Final = 8
"""Nodes that one line names."""
LONGEST_NAME: Final = 80
_PLAIN = re.compile(r"[A-Za-z0-9][\w:.+-]{0,79}", re.ASCII)


def problems_text(problems: Sequence[Problem], limit: int = MOST_LINES) -> str:
    """The problems in the order given, which is worst first; `limit` is in lines."""
    if not problems:
        return NONE_FOUND
    blocking = sum(one.blocks_run for one in problems)
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    verb = "stops" if blocking == 1 else "stop"
    lines = [f"{count}, {blocking or 'none'} of which {verb} the run."]
    grouped = _grouped(problems)
    told = 0
    for blocks, title in ((True, "stops the run:"), (False, "does not stop it:")):
        group = [one for one in grouped if one[0].blocks_run == blocks][: limit - told]
        if group:
            lines.append(title)
            lines.extend(_line(one) for one in group)
            told += len(group)
    if told < len(grouped):
        left = sum(len(one) for one in grouped) - sum(len(one) for one in grouped[:told])
        lines.append(f"{left} more. Ask for single nodes to see them.")
    return "\n".join(lines)


def _grouped(problems: Sequence[Problem]) -> list[list[Problem]]:
    """Problems that are the same but for the node, together where the first one stands."""
    found: dict[object, list[Problem]] = {}
    for one in problems:
        text = one.fix.text if one.fix is not None else None
        found.setdefault((one.blocks_run, one.code, one.input, one.message, text), []).append(one)
    return list(found.values())


def _line(group: Sequence[Problem]) -> str:
    first = group[0]
    nodes = [f"#{_name(one.node)}" for one in group[:MOST_NODES] if one.node]
    if len(group) > MOST_NODES:
        nodes.append(f"{len(group) - MOST_NODES} more")
    place = " ".join(part for part in (", ".join(nodes), _name(first.input)) if part)
    sentences = f"{first.code}. {first.message}"
    if first.fix is not None:
        sentences += f" {first.fix.text}"
    return f"{place}: {sentences}" if place else sentences


def _name(name: str) -> str:
    if not name or _PLAIN.fullmatch(name):
        return name
    return quoted(name[:LONGEST_NAME])
