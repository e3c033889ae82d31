"""`docs/contracts/trust-boundary.md`, line by line, against every route of the assistant."""

import asyncio
import gc
import io
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plugin.assistant.routes.body import MAX_BODY_BYTES
from plugin.assistant.routes.credentials import HEADER
from plugin.tests.providers import ScriptedProvider, failure
from plugin.tests.routes.site import QUIET, Site, error_of, raw, site

TOKEN = "the right token"
JSON_ROUTES = (
    ("POST", "/api/chat"),
    ("POST", "/api/chats"),
    ("POST", "/api/chats/cleanup"),
    ("POST", "/api/chats/1/branch"),
    ("POST", "/api/chats/1/commands"),
    ("PATCH", "/api/chats/1"),
    ("POST", "/api/chats/1/restore"),
    ("POST", "/api/chats/import"),
    ("POST", "/api/chats/1/share"),
    ("POST", "/api/assistant/session"),
    ("POST", "/api/user-context/skills"),
    ("PATCH", "/api/user-context/skills/1"),
    ("POST", "/api/user-context/rules"),
    ("PATCH", "/api/user-context/rules/1"),
    ("PUT", "/api/user-context/rules/order"),
    ("PUT", "/api/user-context/preferences/1"),
    ("POST", "/api/memories"),
    ("PATCH", "/api/memories/1"),
    ("POST", "/api/memories/1/restore"),
    ("POST", "/api/memories/extract"),
    ("POST", "/api/memories/import"),
    ("PUT", "/api/memories/settings"),
    ("POST", "/api/assistant/settings/test"),
    ("POST", "/api/assistant/models"),
    ("POST", "/api/assistant/data/delete"),
    ("POST", "/api/assistant/workflow-summary"),
    ("PUT", "/api/assistant/providers/1"),
    ("POST", "/api/assistant/providers/1/activate"),
)
"""All routes that read a body."""

WRONG_BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"{'a': 1}",
    b'{"a": NaN}',
    b'{"a": 1e999}',
    b"\xff\xfe{}",
    b"\x00",
    b'{"a":' * 5000 + b"1" + b"}" * 5000,
    b"[" * 200_000,
    b"9" * 10_000,
)


@pytest.fixture
async def ours(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path) as opened:
        yield opened


def test_the_list_of_routes_with_a_body_is_complete(tmp_path: Path) -> None:
    async def changing() -> set[tuple[str, str]]:
        async with site(tmp_path) as ours:
            return {call for call in ours.calls() if call[0] in ("POST", "PUT", "PATCH")}

    assert asyncio.run(changing()) == set(JSON_ROUTES)


# 1 and 2: pages and hosts


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Origin": "https://evil.example"}, "origin_not_allowed"),
        ({"Origin": "null"}, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "cross-site"}, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "same-site"}, "origin_not_allowed"),
        ({"Host": "evil.example"}, "host_not_allowed"),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, "host_not_allowed"),
    ],
)
async def test_every_route_refuses_other_pages_and_other_hosts(
    ours: Site, headers: dict[str, str], code: str
) -> None:
    before = ours.files()
    for method, path in ours.calls():
        answer = await ours.client.request(method, path, json={"text": "x"}, headers=headers)
        assert (answer.status, error_of(await answer.json())["code"]) == (403, code), path
    assert ours.files() == before


async def test_every_changing_route_refuses_a_browser_that_hides_its_origin(ours: Site) -> None:
    for method, path in ours.calls():
        if method == "GET":
            continue
        headers = {"Sec-Fetch-Site": "same-origin"}
        answer = await ours.client.request(method, path, json={}, headers=headers)
        assert answer.status == 403, path


async def test_every_route_lets_our_own_page_in(ours: Site) -> None:
    headers = {"Origin": f"http://{ours.authority}", "Sec-Fetch-Site": "same-origin"}
    for method, path in ours.calls():
        answer = await ours.client.request(method, path, json={}, headers=headers)
        if answer.status == 403:
            assert error_of(await answer.json())["code"] == "token_not_set", path


# 3: peers


async def test_every_route_wants_the_token_from_another_machine(tmp_path: Path) -> None:
    async with site(tmp_path, replace(QUIET, token=TOKEN), local=False) as ours:
        for method, path in ours.calls():
            for headers in ({}, {HEADER: "wrong"}, {"Authorization": "Bearer wrong"}):
                answer = await ours.client.request(
                    method, path, json={"token": "x"}, headers=headers
                )
                error = error_of(await answer.json())
                assert (answer.status, error["code"]) == (401, "token_required"), path


@pytest.mark.parametrize("headers", [{HEADER: TOKEN}, {"Authorization": f"Bearer {TOKEN}"}])
async def test_every_route_lets_the_token_in(tmp_path: Path, headers: dict[str, str]) -> None:
    async with site(tmp_path, replace(QUIET, token=TOKEN), local=False) as ours:
        for method, path in ours.calls():
            body = {"token": TOKEN} if path.endswith("/session") else {}
            answer = await ours.client.request(method, path, json=body, headers=headers)
            assert answer.status not in (401, 403), path


async def test_every_route_is_closed_to_other_machines_without_a_token(tmp_path: Path) -> None:
    async with site(tmp_path, local=False) as ours:
        for method, path in ours.calls():
            answer = await ours.client.request(method, path, json={}, headers={HEADER: ""})
            error = error_of(await answer.json())
            assert (answer.status, error["code"]) == (403, "token_not_set"), path
            assert error["variable"] == "ASSISTANT_TOKEN"


# 4: bodies


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "application/jsonx",
        "text/json",
    ],
)
@pytest.mark.parametrize(("method", "path"), JSON_ROUTES)
async def test_every_route_with_a_body_takes_json_only(
    ours: Site, method: str, path: str, media_type: str
) -> None:
    headers = {"Content-Type": media_type}
    answer = await ours.client.request(method, path, data=b'{"text": "x"}', headers=headers)
    assert answer.status == 415
    error_of(await answer.json())


async def test_json_may_name_its_charset(ours: Site) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    answer = await ours.client.post(
        "/api/user-context/rules", data='{"text": "Grüße"}'.encode(), headers=headers
    )
    assert (answer.status, (await answer.json())["text"]) == (201, "Grüße")


@pytest.fixture
def no_collection() -> Iterator[None]:
    """No garbage is collected: where the recursion limit is reached, the finalizers of other
    objects would fail too, and pytest counts that as an error."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(("method", "path"), JSON_ROUTES)
@pytest.mark.usefixtures("no_collection")
async def test_every_route_refuses_a_wrong_body(ours: Site, method: str, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    for body in WRONG_BODIES:
        if path.endswith(("/activate", "/restore")) and not body:
            continue  # these routes take no fields, so an empty body is valid
        answer = await ours.client.request(method, path, data=body, headers=headers)
        assert answer.status == 400, (path, body[:20])
        error = error_of(await answer.json())
        assert "Traceback" not in error["message"] and "routes" not in error["message"]


@pytest.mark.parametrize(("method", "path"), JSON_ROUTES)
async def test_every_route_refuses_33_megabytes_by_their_announced_length(
    ours: Site, method: str, path: str
) -> None:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {ours.authority}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {33 * 1024 * 1024}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection(ours.client.host, ours.client.port)
    writer.write(head.encode() + b'{"text": "')
    answer = await reader.readuntil(b"\r\n")
    writer.close()
    assert int(answer.split(b" ", 2)[1]) == 413


async def test_a_body_of_unknown_length_is_refused_at_the_limit(ours: Site) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"text": "'
        while True:
            sent += 1024 * 1024
            yield b"x" * (1024 * 1024)

    async def ask() -> int:
        headers = {"Content-Type": "application/json"}
        answer = await ours.client.post("/api/user-context/rules", data=endless(), headers=headers)
        return answer.status

    assert await ask() == 413
    assert sent >= MAX_BODY_BYTES


async def test_a_large_body_within_the_limit_is_read_whatever_the_hosts_own_limit(
    ours: Site,
) -> None:
    body = io.BytesIO(b'{"text": "' + b"x" * (MAX_BODY_BYTES - 12) + b'"}')
    headers = {"Content-Type": "application/json"}
    answer = await ours.client.post("/api/user-context/rules", data=body, headers=headers)
    assert answer.status == 400
    assert "at most 2000" in error_of(await answer.json())["message"]


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ("Content-Encoding: gzip\r\nContent-Length: 9\r\n", b"not gzip!", 415),
        ("Content-Encoding: deflate\r\nContent-Length: 9\r\n", b"not zlib!", 415),
        ("Transfer-Encoding: chunked\r\n", b"zz\r\nnonsense\r\n", 400),
    ],
)
async def test_a_body_that_cannot_be_decoded_is_refused_and_no_error_of_ours(
    ours: Site, headers: str, body: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    head = (
        f"POST /api/user-context/rules HTTP/1.1\r\nHost: {ours.authority}\r\n"
        f"Content-Type: application/json\r\nConnection: close\r\n{headers}\r\n"
    )
    answer = await raw(ours.client, head.encode() + body)
    assert int(answer.split(b" ", 2)[1]) == status
    if status == 415:
        assert not [record for record in caplog.records if record.levelname == "ERROR"]


NAMES = st.sampled_from(
    [
        "name",
        "description",
        "instructions",
        "text",
        "value",
        "token",
        "base_url",
        "model",
        "context_window",
        "api_key",
        "slug",
        "id",
        "variable",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["..", "CON", "a/b", "http://127.0.0.1:9/v1", "http://[", "http://\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


CALLS = st.tuples(st.sampled_from(JSON_ROUTES), st.dictionaries(NAMES | st.text(), VALUES))


@pytest.mark.slow
@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(calls=st.lists(CALLS, min_size=10, max_size=20))
def test_no_json_body_gives_a_500(
    tmp_path: Path, calls: list[tuple[tuple[str, str], dict[str, Any]]]
) -> None:
    async def ask() -> None:
        async with site(tmp_path) as ours:
            for (method, path), body in calls:
                content = json.dumps(body).encode()
                headers = {"Content-Type": "application/json"}
                answer = await ours.client.request(method, path, data=content, headers=headers)
                assert answer.status < 500, (method, path, body, await answer.text())

    # The test of a provider connects to a closed port: no server of this machine listens on port 9.
    asyncio.run(ask())


# Secrets

PLANTED = "sk-planted-0123456789abcdef"


@asynccontextmanager
async def with_keys_everywhere(folder: Path) -> AsyncIterator[tuple[Site, ScriptedProvider]]:
    """A key of the environment, a key of the panel, and a server that repeats the keys."""
    async with ScriptedProvider(key=PLANTED) as server:
        configured = replace(
            QUIET, openai_api_key=PLANTED + "E", openai_base_url=server.base_url, token=TOKEN
        )
        async with site(folder, configured) as ours:
            yield ours, server


def _texts(content: bytes) -> str:
    """An answer's text; of an archive the texts of its files."""
    if not content.startswith(b"PK"):
        return content.decode()
    with ZipFile(BytesIO(content)) as archive:
        return "".join(archive.read(name).decode("latin-1") for name in archive.namelist())


async def test_no_answer_and_no_log_line_holds_a_key_or_the_token(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    said: list[str] = []
    async with with_keys_everywhere(tmp_path) as (ours, server):
        mine = {"base_url": server.base_url, "model": "m", "api_key": PLANTED}
        leak = f"Incorrect API key provided: {PLANTED}"
        server.queue(failure(401, leak), failure(400, leak))
        session = {"token": TOKEN}
        calls: list[tuple[str, str, Any]] = [
            ("PUT", "/api/assistant/providers/mine", mine),
            ("PUT", "/api/assistant/providers/broken", {**mine, "base_url": f"http://{PLANTED}:x"}),
            ("PUT", "/api/assistant/providers/odd", {**mine, "api_key": PLANTED + "\n\u20ac"}),
            ("POST", "/api/assistant/settings/test", {"name": "mine"}),
            ("POST", "/api/assistant/settings/test", mine),
            ("POST", "/api/assistant/session", session),
            *((method, path, {}) for method, path in ours.calls() if "DELETE" not in method),
            ("GET", "/api/assistant/models?provider=mine", None),
        ]
        for method, path, body in calls:
            async with ours.client.request(method, path, json=body) as answer:
                endless = path.endswith("/subscribe")
                content = await (answer.content.readuntil(b"\n\n") if endless else answer.read())
                said.append(f"{method} {path}: {answer.headers} {_texts(content)!r}")
    said.extend(record.getMessage() for record in caplog.records)
    for line in said:
        assert PLANTED not in line and TOKEN not in line, line
