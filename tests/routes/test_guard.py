"""The wrapper around every handler: which requests are served, and how errors look."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from unittest.mock import Mock

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from plugin.assistant.config import Settings
from plugin.assistant.errors import (
    AssistantError,
    Conflict,
    InvalidRequest,
    NotFound,
    ProviderError,
    Refused,
    StoreError,
)
from plugin.assistant.routes.guard import CLIENT_GONE, Gate, guarded, peer_is_local
from plugin.tests.routes.site import Client, error_of, raw, serving


def request(
    method: str = "GET", peer: object = ("127.0.0.1", 50_000), **headers: str
) -> web.Request:
    """A request whose headers are given as `sec_fetch_site="none"`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    transport = Mock()
    transport.get_extra_info = lambda name, default=None: peer if name == "peername" else default
    transport.is_closing = lambda: False
    return make_mocked_request(method, "/x", headers=named, transport=transport)


def refusal(settings: Settings, asked: web.Request) -> Refused | None:
    try:
        Gate(settings).check(asked)
    except Refused as error:
        return error
    return None


def code(settings: Settings, asked: web.Request) -> str | None:
    found = refusal(settings, asked)
    return found.code if found else None


# Host


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8188", "LOCALHOST.:8188", "127.0.0.1:8188", "[::1]:8188"]
)
def test_loopback_hosts_come_in(host: str) -> None:
    assert code(Settings(), request(host=host)) is None


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "192.168.1.5:8188", ""])
def test_other_hosts_do_not(host: str) -> None:
    assert code(Settings(), request(host=host)) == "host_not_allowed"


def test_a_request_without_a_host_does_not_come_in() -> None:
    assert code(Settings(), request()) == "host_not_allowed"


@pytest.mark.parametrize(
    ("entry", "host", "comes_in"),
    [
        ("nas.local", "nas.local", True),
        ("nas.local", "NAS.local.:8188", True),
        ("NAS.local:8188", "nas.local:8188", True),
        ("nas.local:8188", "nas.local:8189", False),
        ("nas.local:8188", "nas.local", False),
        ("nas.local", "evil.nas.local", False),
        ("192.168.1.5", "192.168.1.5:8188", True),
        ("fd00::5", "[fd00::5]:8188", True),
        ("*", "evil.example", False),
        ("*.example", "evil.example", False),
    ],
)
def test_an_allowed_host_is_named_with_or_without_its_port(
    entry: str, host: str, comes_in: bool
) -> None:
    settings = Settings(allowed_hosts=(entry,))
    assert (code(settings, request(host=host)) is None) == comes_in


def test_the_refusal_of_a_host_says_what_to_set() -> None:
    error = refusal(Settings(allowed_hosts=("a",)), request(host="NAS.local:8188"))
    assert error and error.status == 403
    assert error.extra == {"variable": "ASSISTANT_ALLOWED_HOSTS", "value": "a,nas.local"}
    again = Settings(allowed_hosts=("a", "nas.local"))
    assert code(again, request(host="NAS.local:8188")) is None


def test_entries_that_let_nobody_in_are_reported() -> None:
    settings = Settings(allowed_hosts=("*", "nas"), allowed_origins=("nas.example", "http://b"))
    problems = Gate(settings).problems
    assert [problem.variable for problem in problems] == [
        "ASSISTANT_ALLOWED_HOSTS",
        "ASSISTANT_ALLOWED_ORIGINS",
    ]
    assert "'*'" in problems[0].message and "'nas.example'" in problems[1].message


# Origin and Sec-Fetch-Site


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8188", "http://localhost:8188"),
        ("LOCALHOST.:8188", "http://localhost:8188"),
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("[::1]:8188", "http://[::1]:8188"),
    ],
)
def test_our_own_page_comes_in(host: str, origin: str) -> None:
    asked = request("POST", host=host, origin=origin, sec_fetch_site="same-origin")
    assert code(Settings(), asked) is None


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://localhost",
        "http://localhost:8189",
        "https://localhost:8188",
        "http://127.0.0.1:8188",
        "null",
        "",
        "file://",
        "http://localhost:8188.evil.example",
        "http://localhost:8188, http://evil.example",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_foreign_origin_does_not(method: str, origin: str) -> None:
    asked = request(method, host="localhost:8188", origin=origin)
    assert code(Settings(), asked) == "origin_not_allowed"


def test_an_allowed_origin_comes_in_through_a_tls_proxy() -> None:
    settings = Settings(allowed_hosts=("nas.example",), allowed_origins=("https://nas.example",))
    asked = request("POST", host="nas.example", origin="https://nas.example:443")
    assert code(settings, asked) is None
    assert code(Settings(allowed_hosts=("nas.example",)), asked) == "origin_not_allowed"


def test_the_refusal_of_an_origin_says_what_to_set() -> None:
    error = refusal(Settings(), request(host="localhost:8188", origin="https://nas.example"))
    assert error and error.extra == {
        "variable": "ASSISTANT_ALLOWED_ORIGINS",
        "value": "https://nas.example",
    }


@pytest.mark.parametrize("site", ["cross-site", "same-site", "unheard-of", ""])
def test_another_site_does_not_come_in_even_without_an_origin(site: str) -> None:
    asked = request(host="localhost", sec_fetch_site=site)
    assert code(Settings(), asked) == "origin_not_allowed"


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_page_that_we_serve_may_read(site: str) -> None:
    assert code(Settings(), request(host="localhost", sec_fetch_site=site)) is None


def test_a_browser_must_say_its_origin_to_change_something() -> None:
    for headers in ({"sec_fetch_site": "none"}, {"sec_fetch_mode": "navigate"}):
        asked = request("POST", host="localhost", **headers)
        assert code(Settings(), asked) == "origin_not_allowed"


def test_a_program_that_is_no_browser_may_change_something() -> None:
    assert code(Settings(), request("POST", host="localhost")) is None


# Peer and token


@pytest.mark.parametrize(
    ("peer", "local"),
    [
        (("127.0.0.1", 5), True),
        (("::1", 5, 0, 0), True),
        (("::ffff:127.0.0.1", 5, 0, 0), True),
        ("", True),  # a Unix socket
        (("192.168.1.9", 5), False),
        (("::ffff:192.168.1.9", 5, 0, 0), False),
        (("fe80::1%eth0", 5, 0, 2), False),
        (None, False),
    ],
)
def test_the_peer_is_who_holds_the_connection(peer: object, local: bool) -> None:
    assert peer_is_local(request(peer=peer)) == local


def test_what_a_client_says_about_its_address_is_not_read() -> None:
    asked = request(peer=("10.0.0.9", 5), host="localhost", x_forwarded_for="127.0.0.1")
    assert code(Settings(token="t"), asked) == "token_required"


def test_a_local_peer_needs_no_token() -> None:
    assert code(Settings(token="secret"), request(host="localhost")) is None


def test_a_peer_elsewhere_needs_the_token() -> None:
    settings = Settings(token="secret")
    elsewhere = ("10.0.0.9", 5)
    error = refusal(settings, request(peer=elsewhere, host="localhost"))
    assert error and (error.status, error.code) == (401, "token_required")
    wrong = request(peer=elsewhere, host="localhost", x_assistant_token="secre")
    assert code(settings, wrong) == "token_required"
    right = request(peer=elsewhere, host="localhost", x_assistant_token="secret")
    assert code(settings, right) is None


def test_a_peer_elsewhere_is_told_when_there_is_no_token() -> None:
    asked = request(peer=("10.0.0.9", 5), host="localhost", x_assistant_token="")
    error = refusal(Settings(), asked)
    assert error and (error.status, error.code) == (403, "token_not_set")
    assert error.extra == {"variable": "ASSISTANT_TOKEN"}


# Errors


def failing(error: BaseException) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handler(request: web.Request) -> web.StreamResponse:
        raise error

    return handler


@pytest.mark.parametrize(
    ("error", "status", "expected"),
    [
        (InvalidRequest("No.", where="a[0].b"), 400, {"where": "a[0].b"}),
        (NotFound("No."), 404, {"code": "not_found"}),
        (StoreError("No."), 503, {"code": "store_failed"}),
        (
            Refused("No.", code="busy", status=429, extra={"x": "y"}),
            429,
            {"code": "busy", "x": "y"},
        ),
        (
            ProviderError("No.", code="unreachable", actions=("retry",), detail="refused"),
            502,
            {"code": "unreachable", "actions": ["retry"], "detail": "refused"},
        ),
    ],
)
async def test_our_errors_become_json(
    error: AssistantError, status: int, expected: dict[str, object]
) -> None:
    async with serving(web.get("/x", guarded(failing(error), Gate(Settings())))) as client:
        answer = await client.get("/api/x")
        assert answer.status == status
        assert answer.headers["Cache-Control"] == "no-store"
        assert {**error_of(await answer.json()), **expected} == error_of(await answer.json())


async def test_a_conflict_says_beside_the_error_what_is_busy() -> None:
    error = Conflict("Busy.", code="turn_running", extra={"chat_id": "c1"})
    async with serving(web.get("/x", guarded(failing(error), Gate(Settings())))) as client:
        answer = await client.get("/api/x")
        assert answer.status == 409
        assert await answer.json() == {
            "error": {"code": "turn_running", "message": "Busy."},
            "chat_id": "c1",
        }


async def test_a_refusal_says_when_to_come_again() -> None:
    error = Refused("Full.", code="too_many_streams", status=503, retry_after=5)
    async with serving(web.get("/x", guarded(failing(error), Gate(Settings())))) as client:
        answer = await client.get("/api/x")
        assert (answer.status, answer.headers["Retry-After"]) == (503, "5")


async def test_what_nobody_foresaw_is_a_plain_500_and_one_log_entry(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = RuntimeError("Schlüssel sk-abcdefgh12345678 fehlt")
    async with serving(web.get("/x/{id}", guarded(failing(error), Gate(Settings())))) as client:
        answer = await client.get("/api/x/some-chat")
        assert answer.status == 500
        text = await answer.text()
    assert error_of(json.loads(text))["code"] == "internal"
    assert "Traceback" not in text and "fehlt" not in text
    (record,) = [r for r in caplog.records if r.name == "comfyui_assistant"]
    written = record.getMessage()
    assert record.levelno == logging.ERROR and written.isascii()
    assert "GET /api/x/{id}" in written and "Traceback" in written and "RuntimeError" in written
    assert "sk-abcdefgh12345678" not in written and "some-chat" not in written


@pytest.mark.parametrize("error", [RuntimeError("half way"), NotFound("Gone.")])
async def test_an_answer_that_breaks_off_is_cut_and_gets_no_second_head(error: Exception) -> None:
    async def begin(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"first")
        raise error

    async with serving(web.get("/x", guarded(begin, Gate(Settings())))) as client:
        answer = await raw(client, b"GET /api/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.count(b"HTTP/1.1") == 1 and b"first" in answer
    assert not answer.endswith(b"0\r\n\r\n")


async def test_cancellation_passes_through() -> None:
    handler = guarded(failing(asyncio.CancelledError()), Gate(Settings()))
    with pytest.raises(asyncio.CancelledError):
        await handler(request(host="localhost"))


async def test_a_client_that_went_away_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    gone = request(host="localhost")
    assert gone.transport is not None
    gone.transport.is_closing = lambda: True  # type: ignore[method-assign]
    answer = await guarded(failing(ConnectionResetError()), Gate(Settings()))(gone)
    assert answer.status == CLIENT_GONE
    assert not caplog.records


async def test_no_log_tells_of_a_client_that_leaves_while_it_is_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ended = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"more" * 10_000)
        finally:
            ended.set()

    app = web.Application()
    app.router.add_get("/endless", guarded(endless, Gate(Settings())))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    reader, writer = await asyncio.open_connection(*runner.addresses[0])
    writer.write(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readuntil(b"more")
    writer.transport.abort()
    await ended.wait()
    await runner.cleanup()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_handler_keeps_its_name_behind_the_guard() -> None:
    async def list_things(request: web.Request) -> web.StreamResponse:
        return web.Response()

    assert guarded(list_things, Gate(Settings())).__name__ == "list_things"


async def test_over_a_real_connection_two_hosts_are_refused() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response()

    async with serving(web.get("/x", guarded(handler, Gate(Settings())))) as client:
        twice = await _status(client, b"Host: localhost\r\nHost: evil.example\r\n")
        none = await _status(client, b"")
        own = await _status(client, b"Host: localhost\r\n")
    assert (twice in (400, 403), none in (400, 403), own) == (True, True, 200)


async def _status(client: Client, headers: bytes) -> int:
    request = b"GET /api/x HTTP/1.1\r\nConnection: close\r\n" + headers + b"\r\n"
    return int((await raw(client, request)).split(b" ", 2)[1])
