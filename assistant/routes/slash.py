"""The slash commands, for a client that lists them."""

from __future__ import annotations

from aiohttp import web

from ..turn.slash.slash_commands import COMMANDS
from .answers import answer
from .route import PlainRequest, Route


async def list_slash_commands(request: PlainRequest) -> web.Response:
    """What a user may type with a slash in front."""
    return answer({"commands": [command.to_json() for command in COMMANDS]})


ROUTES = (Route("GET", "/assistant/commands", list_slash_commands, {200: "SlashCommands"}),)
