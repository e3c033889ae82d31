"""GET /assistant/commands: the slash commands, for who wants to list them (R41)."""

from __future__ import annotations

from aiohttp import web

from ..turn.slash.commands import COMMANDS
from .answers import answer
from .guard import Gate, guarded


def slash_routes(gate: Gate) -> list[web.RouteDef]:
    async def list_commands(request: web.Request) -> web.Response:
        """`{"commands": [{"name", "aliases", "argument", "line", "place"}]}`"""
        return answer({"commands": [command.to_json() for command in COMMANDS]})

    return [web.get("/assistant/commands", guarded(list_commands, gate))]
