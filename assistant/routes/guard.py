"""Which requests are served: one wrapper around every handler (`docs/contracts/trust-boundary.md`).

`route.served` wraps all routes. Checked in this order: the Host header (against DNS rebinding), the
page that sends the request (against other sites), the token (of peers on other machines). `body`
checks bodies; the store checks ids. The wrapper also turns errors into JSON, so that a handler only
raises exceptions.

The peer is the other end of the connection; `X-Forwarded-For` is not read, because any client can
send it. Behind a reverse proxy on this machine every peer is therefore loopback and needs no token:
the proxy has to check its visitors, and the Host check still requires the proxy's name in
ASSISTANT_ALLOWED_HOSTS.
"""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Awaitable, Callable, Hashable
from contextlib import AbstractContextManager

from aiohttp import web

from ..config import Settings
from ..errors import AssistantError, Problem, Refused
from ..llm.redaction import without_keys
from .answers import error_answer, internal_error
from .authority import (
    Authority,
    Origin,
    is_loopback_address,
    origin_of,
    parse_allowed_host,
    parse_authority,
    parse_origin,
)
from .credentials import presents
from .memory import Memory
from .places import Places
from .sending import LargeAnswer

log = logging.getLogger("comfyui_assistant")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
OWN_SITES = frozenset(("same-origin", "none"))
"""Values of Sec-Fetch-Site: our own page, and the user without a page (address bar, bookmark)."""
FETCH_HEADERS = ("Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Sec-Fetch-User")
CLIENT_GONE = 499
"""Status in the access log for a client that left before its response was complete."""
PLAIN = frozenset(("", "identity"))
"""Values of Content-Encoding for a body that is not compressed."""

HOSTS = "ASSISTANT_ALLOWED_HOSTS"
ORIGINS = "ASSISTANT_ALLOWED_ORIGINS"
TOKEN = "ASSISTANT_TOKEN"


def peer_is_local(request: web.Request) -> bool:
    """Whether the other end of the connection is on this machine; a Unix socket always is."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    if isinstance(peer, tuple) and peer:
        return is_loopback_address(str(peer[0]))
    return isinstance(peer, (str, bytes))


class Gate:
    """Decides which requests are served, and how many streams and large answers are sent at a time.

    `problems` names the entries of the settings that cannot be parsed; they allow no request.
    """

    def __init__(
        self, settings: Settings, *, is_local: Callable[[web.Request], bool] = peer_is_local
    ) -> None:
        self._settings = settings
        self._is_local = is_local
        self.memory = Memory()
        limits = (settings.max_streams, settings.stalled_seconds, self.memory)
        self._streams = Places(*limits)
        self._large_answers = Places(*limits)
        hosts = [(entry, parse_allowed_host(entry)) for entry in settings.allowed_hosts]
        origins = [(entry, parse_origin(entry)) for entry in settings.allowed_origins]
        self._hosts = frozenset(host for _, host in hosts if host)
        self._origins = frozenset(origin for _, origin in origins if origin)
        self.problems = (
            *(_unreadable(HOSTS, entry, "nas.local") for entry, host in hosts if not host),
            *(
                _unreadable(ORIGINS, entry, "https://nas.example")
                for entry, origin in origins
                if not origin
            ),
        )

    def check(self, request: web.Request, *, token_needed: bool = True) -> None:
        """Raises `Refused` unless the request may be served."""
        own = self._check_host(request)
        self._check_page(request, own)
        if not self._is_local(request):
            self._check_token(request, token_needed)

    def stream_slot(
        self, request: web.Request, client_id: str | None = None
    ) -> AbstractContextManager[None]:
        """Takes the place of one open stream, for the panel `client_id`. Raises `Refused` (503)
        when there is none."""
        return self._streams.taken(request, self._client(request, client_id))

    async def send_large(self, request: web.Request, answer: LargeAnswer) -> web.StreamResponse:
        """Sends a large answer; as many as streams may be sent at a time. Raises `Refused` (503)
        when there is no place."""
        with self._large_answers.taken(request, self._client(request, None)):
            return await answer.sent(request)

    def _client(self, request: web.Request, client_id: str | None) -> Hashable:
        """Who shares places: all of another machine is one client. On this machine a panel is one,
        and the programs that name no panel are one together."""
        if self._is_local(request):
            return client_id
        peer = request.transport.get_extra_info("peername") if request.transport else None
        return ("peer", str(peer[0]) if isinstance(peer, tuple) and peer else "")

    def _check_host(self, request: web.Request) -> Authority:
        given = request.headers.getall("Host", [])
        host = parse_authority(given[0]) if len(given) == 1 else None
        if host is None:
            raise Refused("The request does not say which host it is for.", code="host_not_allowed")
        if host.loopback or host in self._hosts or Authority(host.host) in self._hosts:
            return host
        shown = Authority(host.host)
        raise Refused(
            f"ComfyUI was opened as {shown}, a name that the assistant does not know."
            f" If it is yours, add it to {HOSTS} and restart ComfyUI.",
            code="host_not_allowed",
            extra=_remedy(HOSTS, (*self._settings.allowed_hosts, str(shown))),
        )

    def _check_page(self, request: web.Request, host: Authority) -> None:
        """Raises `Refused` unless the request comes from our own page, from a page that is allowed,
        or from a program that is no browser."""
        for text in request.headers.getall("Origin", []):
            origin = parse_origin(text)
            if origin is None or not self._is_own(origin, request.scheme, host):
                raise self._foreign(origin)
        sites = request.headers.getall("Sec-Fetch-Site", [])
        if not OWN_SITES.issuperset(sites):
            raise self._foreign(None)
        changes = request.method not in SAFE_METHODS
        if changes and "Origin" not in request.headers and _from_browser(request):
            raise self._foreign(None)

    def _is_own(self, origin: Origin, scheme: str, host: Authority) -> bool:
        return origin in self._origins or origin == origin_of(scheme, host)

    def _foreign(self, origin: Origin | None) -> Refused:
        if origin is None:
            return Refused(
                "The request comes from another web page than ComfyUI's.", code="origin_not_allowed"
            )
        return Refused(
            f"The request comes from {origin}, which is another address than ComfyUI's own."
            f" If it is yours (a TLS proxy), add it to {ORIGINS} and restart ComfyUI.",
            code="origin_not_allowed",
            extra=_remedy(ORIGINS, (*self._settings.allowed_origins, str(origin))),
        )

    def _check_token(self, request: web.Request, needed: bool) -> None:
        token = self._settings.token
        if not token:
            raise Refused(
                f"You are on another machine than ComfyUI. Set {TOKEN} there to a secret text,"
                " restart ComfyUI, and enter it here.",
                code="token_not_set",
                extra={"variable": TOKEN},
            )
        if needed and not presents(token, request.headers, request.cookies):
            raise token_required()


def guarded(handler: Handler, gate: Gate, *, token_needed: bool = True) -> Handler:
    """`handler` behind `gate`, with its errors as JSON; no response is cached.

    Without `token_needed` another machine is served before it has sent the token.
    """

    @functools.wraps(handler)
    async def guarded_handler(request: web.Request) -> web.StreamResponse:
        try:
            gate.check(request, token_needed=token_needed)
            if _is_compressed(request):
                raise _compressed()
            response = await handler(request)
            if isinstance(response, LargeAnswer):
                _protect(response)
                return await gate.send_large(request, response)
        except Exception as error:
            if isinstance(error, ConnectionError) and _gone(request):
                # No client reads the response. aiohttp would log the exception of each closed tab.
                return web.Response(status=CLIENT_GONE)
            response = _answer_to(error, request)
            if _has_begun(request):
                # The status is sent already, so only a closed connection can show the error.
                raise ConnectionResetError("The answer broke off.") from None
        if _is_compressed(request):
            await _read_no_more(request, response)
        if not response.prepared:
            _protect(response)
        return response

    return guarded_handler


def _protect(response: web.StreamResponse) -> None:
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")


def _is_compressed(request: web.Request) -> bool:
    given = ",".join(request.headers.getall("Content-Encoding", [])).split(",")
    return not PLAIN.issuperset(name.strip().lower() for name in given)


def _compressed() -> Refused:
    return Refused(
        "Send the body without compression (no Content-Encoding).",
        code="unsupported_media_type",
        status=415,
    )


async def _read_no_more(request: web.Request, response: web.StreamResponse) -> None:
    """Ends the connection after the response. What still comes is thrown away as it is: aiohttp
    would decompress it on the event loop before it throws it away."""
    response.force_close()
    if request.content.exception() is None:
        request.protocol.close()
        return
    # What came already could not be decompressed, which aiohttp would log as an error of ours.
    _protect(response)
    await response.prepare(request)
    await response.write_eof()
    request.protocol.force_close()


def token_required() -> Refused:
    return Refused(
        f"You are on another machine than ComfyUI. Enter the text that {TOKEN} has there.",
        code="token_required",
        status=401,
    )


def _answer_to(error: Exception, request: web.Request) -> web.Response:
    if isinstance(error, AssistantError):
        return error_answer(error)
    _log_failure(request, error)
    return internal_error()


def _has_begun(request: web.Request) -> bool:
    """Whether part of a response has been sent."""
    return request.writer.output_size > 0


def _from_browser(request: web.Request) -> bool:
    return any(name in request.headers for name in FETCH_HEADERS)


def _gone(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()


def _remedy(variable: str, entries: tuple[str, ...]) -> dict[str, str]:
    """The setting to change and its new value, which the panel shows."""
    return {"variable": variable, "value": ",".join(entries)}


def _unreadable(variable: str, entry: str, example: str) -> Problem:
    message = f"{variable} holds {entry!r}, which lets nobody in; it takes names like {example}."
    return Problem("invalid_setting", message, variable)


def _log_failure(request: web.Request, error: Exception) -> None:
    """One log entry in ASCII with the trace. It names the route's pattern, not the path that the
    client sent."""
    resource = request.match_info.route.resource
    route = resource.canonical if resource else "?"
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    lines = (without_keys(line) for line in trace.splitlines())
    text = "\n".join(lines).encode("ascii", "backslashreplace").decode()
    log.error("%s %s failed; the client got a 500.\n%s", request.method, route, text)
