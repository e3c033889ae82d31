"""The token that clients on other machines need, and the cookie that replaces it in browsers.

A browser's event stream cannot send headers, so the panel trades the token once for a cookie. The
cookie holds a digest keyed with the token: it survives a restart, and another token makes it
invalid.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

HEADER = "X-Assistant-Token"
COOKIE = "comfyui_assistant"
COOKIE_SECONDS = 365 * 24 * 3600
"""A year: people enter the token once per browser."""
_LABEL = b"comfyui_assistant session 1"


def presents(token: str, headers: Mapping[str, str], cookies: Mapping[str, str]) -> bool:
    """Whether a request carries `token`: in our header, as a Bearer token, or by the cookie."""
    if not token:
        return False
    scheme, _, bearer = headers.get("Authorization", "").partition(" ")
    tokens = [headers.get(HEADER, ""), bearer.strip() if scheme.lower() == "bearer" else ""]
    by_header = [same(given, token) for given in tokens]
    return any([*by_header, same(cookies.get(COOKIE, ""), cookie_value(token))])


def cookie_value(token: str) -> str:
    return hmac.new(_bytes(token), _LABEL, hashlib.sha256).hexdigest()


def same(given: str, expected: str) -> bool:
    """Equality whose time depends on neither text. Nothing equals an empty `expected`."""
    digests = (hashlib.sha256(_bytes(text)).digest() for text in (given, expected))
    return hmac.compare_digest(*digests) and expected != ""


def _bytes(text: str) -> bytes:
    # Headers may hold bytes that are no UTF-8; aiohttp hands them over as surrogates.
    return text.encode("utf-8", "surrogatepass")
