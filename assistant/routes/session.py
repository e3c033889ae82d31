"""POST /assistant/session: trades the token for a cookie, once per browser."""

from __future__ import annotations

from typing import Annotated, Final

from aiohttp import web
from pydantic import Field

from ..errors import Refused
from ..validation import Body
from .answers import nothing
from .credentials import COOKIE, COOKIE_SECONDS, cookie_value, same
from .guard import TOKEN, token_required
from .route import Request, Route

LONGEST_TOKEN: Final = 4096  # characters


class SessionBody(Body):
    token: Annotated[str, Field(min_length=1, max_length=LONGEST_TOKEN)]


async def open_session(request: Request[SessionBody, None]) -> web.Response:
    """Trade the token for a cookie, once per browser."""
    expected = request.installation.settings.token
    if not expected:
        raise Refused(f"{TOKEN} is not set, so there is no token to enter.", code="token_not_set")
    if not same(request.body.token, expected):
        raise token_required()
    response = nothing()
    response.set_cookie(
        COOKIE,
        cookie_value(expected),
        max_age=COOKIE_SECONDS,
        path="/",
        secure=_encrypted(request.http),
        httponly=True,
        samesite="Strict",
    )
    return response


ROUTES = (
    Route(
        "POST",
        "/assistant/session",
        open_session,
        {204: "CookieSet"},
        errors=(401,),
        token_needed=False,
    ),
)


def _encrypted(request: web.Request) -> bool:
    """Whether the browser uses TLS, to us or to a proxy in front of us (the guard has checked the
    Origin)."""
    return request.secure or request.headers.get("Origin", "").lower().startswith("https://")
