"""A ComfyUI extension for tests: what its validation says of prompts, without running them."""

import json
from importlib import import_module
from typing import Any

from aiohttp import web

NODE_CLASS_MAPPINGS: dict[str, Any] = {}


async def probe(request: web.Request) -> web.Response:
    """For each prompt of a list the error, and the nodes that are named as wrong."""
    execution = import_module("execution")
    answers = []
    for prompt in await request.json():
        accepted, error, _, wrong = await execution.validate_prompt("probe", prompt, None)
        answers.append({"accepted": accepted, "error": error, "nodes": wrong})
    return web.json_response(answers, dumps=_as_json)


def _as_json(value: Any) -> str:
    return json.dumps(value, default=str)


def _add_route() -> None:
    import_module("server").PromptServer.instance.routes.post("/validation_probe")(probe)


_add_route()
