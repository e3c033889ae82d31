"""An API prompt as Python-like code, as ComfyScript writes it: the size that the views are compared
with.

    model, clip, vae = CheckpointLoaderSimple('a.safetensors')
    latent = KSampler(model, 42, 20, 8.0, 'euler', 'normal', positive, negative, latent2, 1.0)

The arguments stand in the order of the node's definition. The code is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from plugin.bench.workflow_raw import specs

Prompt = Mapping[str, Any]


def script(prompt: Prompt, definitions: Mapping[str, Any]) -> str:
    """The code of a prompt; `definitions` as `/object_info` gives them."""
    names: dict[tuple[str, int], str] = {}
    taken: dict[str, int] = {}
    lines = []
    for address in _in_order(prompt):
        node = prompt[address]
        type_ = str(node["class_type"])
        definition = definitions.get(type_) or {}
        results = _results(definition)
        for number, result in enumerate(results):
            taken[result] = taken.get(result, 0) + 1
            count = taken[result]
            names[address, number] = result if count == 1 else f"{result}{count}"
        made = ", ".join(names[address, number] for number in range(len(results)))
        given = ", ".join(_arguments(node["inputs"], definition, names))
        call = f"{re.sub(r'[^A-Za-z0-9_]', '', type_)}({given})"
        lines.append(f"{made} = {call}" if made else call)
    return "\n".join(lines)


def _in_order(prompt: Prompt) -> list[str]:
    """The nodes, each after those that it needs; a cycle is cut somewhere."""
    done: dict[str, None] = {}
    open_: set[str] = set()
    for first in prompt:
        waiting = [first]
        while waiting:
            address = waiting[-1]
            if address in done:
                waiting.pop()
                continue
            open_.add(address)
            before = [one for one in _sources(prompt, address) if one not in open_]
            waiting += before
            if not before:
                done[waiting.pop()] = None
    return list(done)


def _sources(prompt: Prompt, address: str) -> Iterator[str]:
    for value in prompt[address]["inputs"].values():
        if isinstance(value, list) and len(value) == 2 and value[0] in prompt:
            yield value[0]


def _results(definition: Mapping[str, Any]) -> list[str]:
    names = definition.get("output_name") or definition.get("output") or []
    return [re.sub(r"\W+", "_", str(name).lower()) or "result" for name in names]


def _arguments(
    inputs: Mapping[str, Any], definition: Mapping[str, Any], names: Mapping[tuple[str, int], str]
) -> Iterator[str]:
    known = list(specs(definition))
    in_place = True
    for name in [*known, *(one for one in inputs if one not in known)]:
        if name not in inputs:
            in_place = False
            continue
        value = inputs[name]
        is_link = isinstance(value, list) and len(value) == 2 and tuple(value) in names
        said = names[value[0], value[1]] if is_link else repr(value)
        yield said if in_place and name in known else f"{name.replace('.', '_')}={said}"
