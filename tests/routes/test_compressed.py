"""Bodies with a Content-Encoding are refused as they are, and nothing of them is unpacked."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from functools import cache
from pathlib import Path

import aiohttp
import pytest
from aiohttp.streams import StreamReader
from plugin.preview.server import serve
from plugin.tests.chatting import app_of
from plugin.tests.routes.site import Site, error_of, site

UNPACKED = 120_000_000
"""Bytes; packed they are a tenth of a megabyte."""
FEW = 20_000_000
"""Bytes that aiohttp may have unpacked before a handler runs."""


@cache
def bomb() -> bytes:
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1_000_000)
    packed = b"".join(pack.compress(zeros) for _ in range(UNPACKED // len(zeros)))
    return packed + pack.flush()


async def sent(ours: Site, encoding: str, body: bytes, **headers: str) -> bytes:
    """What a client gets that sends this body to `POST /api/chat`, up to the end of the
    connection."""
    named = {"Host": ours.authority, **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    head = (
        f"POST /api/chat HTTP/1.1\r\n{lines}Content-Type: application/json\r\n"
        f"Content-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection(ours.client.host, ours.client.port)
    try:
        writer.write(head.encode() + body)
        got = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        size = int(got.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return got + await reader.readexactly(size)
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 415),
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
    ],
    ids=["allowed", "host", "origin"],
)
async def test_nothing_is_unpacked_of_a_compressed_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], status: int
) -> None:
    unpacked = 0
    feed = StreamReader.feed_data

    def counted(self: StreamReader, data: bytes, *rest: int) -> object:
        nonlocal unpacked
        unpacked += len(data)
        return feed(self, data, *rest)

    body = bomb()
    async with site(tmp_path) as ours:
        monkeypatch.setattr(StreamReader, "feed_data", counted)
        got = await sent(ours, "gzip", body, **headers)
        # What aiohttp does with the rest of the body, it does before it takes another request.
        await asyncio.sleep(1)
        monkeypatch.undo()
    head, _, content = got.partition(b"\r\n\r\n")
    assert head.split()[1] == str(status).encode()
    assert b"\r\nConnection: close" in head
    assert error_of(json.loads(content))
    assert unpacked < FEW


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "x-own", "identity, gzip", "GZIP"])
async def test_every_encoding_is_refused_with_json(tmp_path: Path, encoding: str) -> None:
    async with site(tmp_path) as ours:
        body = {"gzip": gzip.compress(b"{}"), "deflate": zlib.compress(b"{}")}
        got = await sent(ours, encoding, body.get(encoding.lower(), b"{}"))
    head, _, content = got.partition(b"\r\n\r\n")
    assert head.split()[1] == b"415"
    assert error_of(json.loads(content))["code"] == "unsupported_media_type"


async def test_identity_is_no_compression(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        got = await sent(ours, "identity", b"[]")
    assert got.split()[1] == b"400"
    assert error_of(json.loads(got.partition(b"\r\n\r\n")[2]))["code"] == "invalid_request"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip"])
async def test_the_preview_refuses_what_aiohttp_cannot_unpack_with_json(
    tmp_path: Path, encoding: str
) -> None:
    """Without the package for it, aiohttp answers a brotli body by itself, unless it is told to
    leave bodies as they are."""
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    app = app_of(tmp_path, {"ASSISTANT_DISCOVER": "0"})
    serving = asyncio.create_task(serve(app, "127.0.0.1", 0, port.set_result))
    url = f"http://127.0.0.1:{await port}/api/chat"
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    async with (
        aiohttp.ClientSession() as client,
        client.post(url, data=b"\x0b\x02\x80{}\n\x03", headers=headers) as response,
    ):
        assert response.status == 415
        assert error_of(await response.json())["code"] == "unsupported_media_type"
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
