"""POST /assistant/session: trades the token for a cookie, once per browser."""

from __future__ import annotations

from aiohttp import web

from ..config import Settings
from ..errors import Refused
from .answers import nothing
from .body import only, read_json, text
from .credentials import COOKIE, COOKIE_SECONDS, cookie_value, same
from .guard import TOKEN, Gate, guarded, token_required

LONGEST_TOKEN = 4096  # characters


def session_routes(gate: Gate, settings: Settings) -> list[web.RouteDef]:
    async def open_session(request: web.Request) -> web.Response:
        """`{"token"}` -> 204 with the cookie; 401 for another token."""
        body = await read_json(request)
        only(body, "token")
        given = text(body, "token", most=LONGEST_TOKEN)
        if not settings.token:
            raise Refused(
                f"{TOKEN} is not set, so there is no token to enter.", code="token_not_set"
            )
        if not same(given, settings.token):
            raise token_required()
        response = nothing()
        response.set_cookie(
            COOKIE,
            cookie_value(settings.token),
            max_age=COOKIE_SECONDS,
            path="/",
            secure=_encrypted(request),
            httponly=True,
            samesite="Strict",
        )
        return response

    return [web.post("/assistant/session", guarded(open_session, gate, token_needed=False))]


def _encrypted(request: web.Request) -> bool:
    """Whether the browser speaks TLS, to us or to a proxy before us (the Origin was checked)."""
    return request.secure or request.headers.get("Origin", "").lower().startswith("https://")
