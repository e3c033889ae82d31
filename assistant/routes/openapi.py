"""GET /assistant/openapi.json: what this HTTP API takes and answers, as OpenAPI 3.1.

The document is data, in the YAML files of `api/`: one for each group of routes, joined here when
somebody asks for the first time. No handler reads it; the tests hold it against the handlers.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from aiohttp import web

from .. import __version__
from .guard import Gate, guarded

FILES: Final = Path(__file__).parent / "api"
HEAD: Final = "document.yaml"
"""What all groups share; the others have `paths` and `components`."""

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C, where this PyYAML has it, is ten times as fast."""


def openapi_routes(gate: Gate) -> list[web.RouteDef]:
    async def show(request: web.Request) -> web.Response:
        # In a thread: the files have a few thousand lines.
        content = await asyncio.to_thread(_content)
        return web.Response(body=content, content_type="application/json", charset="utf-8")

    return [web.get("/assistant/openapi.json", guarded(show, gate))]


def document() -> dict[str, Any]:
    """The whole document. Raises ValueError for a name that two files give."""
    whole = _read(FILES / HEAD)
    whole["info"]["version"] = __version__
    whole["paths"] = {}
    for file in sorted(FILES.glob("*.yaml")):
        if file.name == HEAD:
            continue
        group = _read(file)
        _join(whole["paths"], group.get("paths", {}), file)
        for kind, named in group.get("components", {}).items():
            _join(whole["components"].setdefault(kind, {}), named, file)
    return whole


@cache
def _content() -> bytes:
    return json.dumps(document(), ensure_ascii=False).encode()


def _read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)
    return content


def _join(whole: dict[str, Any], part: dict[str, Any], file: Path) -> None:
    if twice := sorted(whole.keys() & part.keys()):
        raise ValueError(f"{file.name} defines {', '.join(twice)} a second time")
    whole.update(part)
