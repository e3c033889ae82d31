"""Inputs and outputs of one node that must have one type, whichever it is (`COMFY_MATCHTYPE_V3`).

The front end keeps such types the same when somebody draws a link; ComfyUI takes every prompt, and
the run fails where a node gets what it cannot use. So nothing here blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .inputs import ANY, MATCH_TYPE
from .validation_inputs import Expected
from .validation_problems import Fix, Problem, shown
from .validation_prompt import PromptCheck, PromptNodeCheck, accepts, output_types


def match_problems(check: PromptCheck) -> Iterator[Problem]:
    """Links whose type follows from other links and does not fit."""
    given_types = _Given(check)
    for node in check.nodes.values():
        first: dict[str, tuple[str, str]] = {}
        for name, expected in node.expected.items():
            given = given_types.type(node, name)
            if given is None:
                continue
            problem = _problem(check, node, expected, given, first)
            if problem is not None:
                yield problem


def _problem(
    check: PromptCheck,
    node: PromptNodeCheck,
    expected: Expected,
    given: str,
    first: dict[str, tuple[str, str]],
) -> Problem | None:
    """`first` has for each group of inputs the first that is linked, with its type."""
    name = expected.name
    if expected.input.type != MATCH_TYPE:
        if not _follows(check, node, name) or accepts(given, expected):
            return None
        taken = " or ".join(expected.input.types)
        return _wrong(node, name, f"{shown(name)} takes {taken}, and what comes is {given}.", taken)
    allowed = expected.input.types
    if ANY not in allowed and not set(given.split(",")) & set(allowed):
        taken = " or ".join(allowed)
        return _wrong(node, name, f"{shown(name)} takes {taken}, and what comes is {given}.", taken)
    other, kind = first.setdefault(expected.input.template or name, (name, given))
    if set(kind.split(",")) & set(given.split(",")):
        return None
    message = f"{shown(name)} gets {given}, and {shown(other)}, whose type it must have, {kind}."
    return _wrong(node, name, message, kind)


def _wrong(node: PromptNodeCheck, name: str, message: str, taken: str) -> Problem:
    fix = Fix(f"Connect an output of type {taken}.")
    return Problem(node.address, name, "wrong_type", message, fix)


def _follows(check: PromptCheck, node: PromptNodeCheck, name: str) -> bool:
    """Whether the output that feeds an input has the type of what feeds its own node."""
    source, slot = node.inputs[name]
    return bool(output_types(check.nodes[source].definition)[slot] == MATCH_TYPE)


class _Given:
    """The types that come to inputs; each way is gone once, however many inputs share it."""

    def __init__(self, check: PromptCheck) -> None:
        self._check = check
        self._known: dict[tuple[str, str], str | None] = {}

    def type(self, node: PromptNodeCheck, name: str) -> str | None:
        """The type that comes to an input, through nodes that pass types on; `None` for any."""
        way: list[tuple[str, str]] = []
        found: str | None = None
        following: str | None = name
        while following is not None:
            key = (node.address, following)
            if key in self._known:
                found = self._known[key]
                break
            way.append(key)
            self._known[key] = None  # for a way that leads back here
            node, found, following = self._step(node, node.inputs.get(following))
        self._known.update(dict.fromkeys(way, found))
        return found

    def _step(
        self, node: PromptNodeCheck, value: Any
    ) -> tuple[PromptNodeCheck, str | None, str | None]:
        """Where a link comes from, with its type, or with the input that decides its type."""
        if not isinstance(value, list) or self._check.bad_link(value) is not None:
            return node, None, None
        source, slot = self._check.nodes[value[0]], value[1]
        if source.definition is None:
            return source, None, None
        kind = output_types(source.definition)[slot]
        if kind != MATCH_TYPE:
            return source, kind if isinstance(kind, str) and kind != ANY else None, None
        template = source.definition.outputs[slot].template
        linked = (
            one.name
            for one in source.expected.values()
            if one.input.template == template and isinstance(source.inputs.get(one.name), list)
        )
        return source, None, next(linked, None) if template is not None else None
