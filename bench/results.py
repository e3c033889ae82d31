"""Results of the tools that read or run a workflow in a generated session, as JSON or text.

Each function takes a random source, and the value to plant in the result, if any.
"""

from __future__ import annotations

import random
from typing import Any

from . import wordings
from .facts import Planted

FOUND_NODES = (3, 7)
LISTED_MODELS = (8, 40)
DOCUMENT_PARAGRAPHS = (4, 14)
GIANT_PARAGRAPHS = 260
"""About 25,000 characters, which nearly fill a window of 8,000 tokens."""


def found_nodes(pick: random.Random, query: str, planted: Planted | None) -> dict[str, Any]:
    kinds = pick.sample(list(wordings.NODE_KINDS), pick.randint(*FOUND_NODES))
    nodes = [
        {
            "type": kind,
            "category": pick.choice(("image/upscaling", "loaders", "sampling", "conditioning")),
            "description": pick.choice(wordings.DESCRIPTIONS),
        }
        for kind in kinds
    ]
    if planted is not None:
        pick.choice(nodes)["note"] = planted.phrase
    return {"query": query, "count": len(nodes), "nodes": nodes}


def node_info(pick: random.Random, kind: str, planted: Planted | None) -> dict[str, Any]:
    inputs = {
        name: {
            "type": type(default).__name__.upper(),
            "default": default,
            "tooltip": pick.choice(wordings.DESCRIPTIONS),
        }
        for name, default in wordings.NODE_KINDS[kind].items()
    }
    inputs["model"] = {"type": "MODEL", "tooltip": pick.choice(wordings.DESCRIPTIONS)}
    info: dict[str, Any] = {"type": kind, "inputs": inputs, "outputs": ["MODEL"]}
    if planted is not None:
        info["preset"] = planted.phrase
    return info


def model_list(pick: random.Random, folder: str, planted: Planted | None) -> dict[str, Any]:
    names = [
        f"{pick.choice(wordings.MODEL_WORDS)}_{pick.choice(wordings.MODEL_WORDS)}"
        f"_v{pick.randint(1, 12)}.safetensors"
        for _ in range(pick.randint(*LISTED_MODELS))
    ]
    if planted is not None:
        names.insert(pick.randrange(len(names)), f"{planted.named}.safetensors")
    return {"folder": folder, "count": len(names), "models": names}


def document(pick: random.Random, topic: str, planted: Planted | None, *, giant: bool) -> str:
    count = GIANT_PARAGRAPHS if giant else pick.randint(*DOCUMENT_PARAGRAPHS)
    lines = [f"{n + 1}. {pick.choice(wordings.DESCRIPTIONS)}" for n in range(count)]
    if planted is not None:
        lines.insert(pick.randrange(count), f"Example: {planted.phrase}.")
    return f"# {topic}\n\n" + "\n".join(lines)


def run_output(
    pick: random.Random, prompt: str, topic: str, planted: Planted | None
) -> dict[str, Any]:
    name = planted.value if planted else f"ComfyUI_{pick.randint(1, 99_999):05d}_"
    return {
        "status": "success",
        "prompt_id": prompt,
        "seconds": round(pick.uniform(2, 240), 1),
        "outputs": [{"node": pick.randint(3, 60), "filename": name, "subfolder": topic}],
    }
