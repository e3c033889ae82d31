"""Whether two API prompts are the same but for the ids of the nodes that an edit added.

An added node's id is the front end's choice, so an edit is right with any other id, too. Everything
else must be equal: the other nodes' ids, types, inputs, values, links and titles. Which package and
version a node was made with (`cnr_id`, `aux_id` and `ver` in `_meta`) does not count.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

Prompt = Mapping[str, Any]
LINK_LENGTH = 2


def same_prompt(expected: Prompt, found: Prompt, added: Collection[str] = ()) -> bool:
    """True where `found` is `expected` under some renaming of the ids in `added`.

    `added` are ids of `expected`: of nodes, or of subgraph instances, whose nodes' ids begin with
    it and a colon.
    """
    if len(expected) != len(found):
        return False
    units = sorted(set(added), key=lambda unit: unit.count(":"))
    return any(
        not any(_differences(_renamed(expected, ids), _renamed(found, {}), ""))
        for ids in _renamings(expected, found, units)
    )


def prompt_differences(expected: Prompt, found: Prompt, added: Collection[str] = ()) -> list[str]:
    """Where two prompts differ, as lines `path: expected -> found`; empty if they are the same.

    Where no renaming makes them the same, the one with the fewest lines is taken.
    """
    units = sorted(set(added), key=lambda unit: unit.count(":"))
    best: list[str] | None = None
    for ids in _renamings(expected, found, units):
        lines = list(_differences(_renamed(expected, ids), _renamed(found, {}), ""))
        if best is None or len(lines) < len(best):
            best = lines
        if not best:
            return []
    return (
        best
        if best is not None
        else list(_differences(_renamed(expected, {}), _renamed(found, {}), ""))
    )


def _renamings(
    expected: Prompt, found: Prompt, units: list[str], ids: Mapping[str, str] | None = None
) -> Iterator[dict[str, str]]:
    """Each way to map the units to new ids of the same scope that `found` has."""
    ids = dict(ids or {})
    if len(ids) == len(units):
        yield ids
        return
    unit = units[len(ids)]
    kept = {key for key in expected if not _is_below(key, units)}
    for candidate in _candidates(expected, found, unit, ids):
        if candidate not in kept:
            yield from _renamings(expected, found, units, {**ids, unit: candidate})


def _candidates(
    expected: Prompt, found: Prompt, unit: str, ids: Mapping[str, str]
) -> Iterator[str]:
    """Ids in `found` that may stand for the unit: of the same type, and in the same scope."""
    scope = _new_id(unit, ids).rpartition(":")[0] if ":" in unit else ""
    depth = unit.count(":")
    taken = set(ids.values())
    seen = set()
    for key, node in found.items():
        candidate = ":".join(key.split(":")[: depth + 1])
        if key.count(":") < depth or candidate in seen or candidate in taken:
            continue
        if candidate.rpartition(":")[0] != scope:
            continue
        if unit in expected:
            # The prompt of a node of an unknown type names no type.
            same = key == candidate and node.get("class_type") == expected[unit].get("class_type")
        else:
            same = key != candidate
        if same:
            seen.add(candidate)
            yield candidate


def _is_below(key: str, units: Collection[str]) -> bool:
    return any(key == unit or key.startswith(unit + ":") for unit in units)


def _new_id(key: str, ids: Mapping[str, str]) -> str:
    """The id with its longest renamed beginning replaced."""
    parts = key.split(":")
    for length in range(len(parts), 0, -1):
        beginning = ":".join(parts[:length])
        if beginning in ids:
            return ":".join([ids[beginning], *parts[length:]])
    return key


def _renamed(prompt: Prompt, ids: Mapping[str, str]) -> dict[str, Any]:
    """The prompt with other ids, and with what counts of each node."""
    return {
        _new_id(key, ids): {
            **node,
            "inputs": {name: _new_value(value, ids) for name, value in node["inputs"].items()},
            "_meta": {"title": node.get("_meta", {}).get("title")},
        }
        for key, node in prompt.items()
    }


def _new_value(value: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(value, list) and len(value) == LINK_LENGTH and isinstance(value[0], str):
        return [_new_id(value[0], ids), value[1]]
    return value


def _differences(expected: Any, found: Any, place: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in {**expected, **found}:
            missing = "(none)"
            yield from _differences(
                expected.get(key, missing), found.get(key, missing), f"{place}/{key}"
            )
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (left, right) in enumerate(zip(expected, found, strict=True)):
            yield from _differences(left, right, f"{place}/{index}")
    elif expected != found or isinstance(expected, bool) != isinstance(found, bool):
        yield f"{place}: {expected!r} -> {found!r}"
