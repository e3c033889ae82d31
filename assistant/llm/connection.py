"""The openai client: one instance for each server and key, its exceptions turned into ours.

`Connections` sends a body and returns the chunks as JSON objects; it neither interprets chunks nor
retries. `openai` is imported in a thread after ComfyUI's start, or by the first request.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import ssl
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from ..errors import ProviderError
from ..garbage import without_collecting
from ..messages.foreign_json import foreign_json
from . import failures
from .caps import DEFAULT_CAPS, CapReached, Caps
from .network import LinkLocalRefused, Network, fault_of
from .openai_clients import OpenAIClient, OpenAIClients
from .provider import Provider, usable_key
from .silence import Silence
from .sse import EventSplitter
from .time_limit import within
from .time_slice import TimeSlice
from .unpacking import unpacked

CONNECT_SECONDS = 10.0
MOST_SERVERS = 4
JSON_TYPES = ("application/json", "application/problem+json")
LARGEST_ERROR = 64 * 1024  # bytes of an error answer that are read
LARGE = 256 * 1024
"""Bytes of JSON from which on it is decoded in a thread."""
# After the end of an answer, so that the connection can be used again.
LONGEST_REST = 64 * 1024  # bytes
REST_SECONDS = 0.1


class Connections:
    """Clients by server and key, the last used ones last.

    `timeout_seconds` is the longest wait for the next bytes of an answer.
    """

    def __init__(self, timeout_seconds: float, network: Network, caps: Caps = DEFAULT_CAPS) -> None:
        self.timeout_seconds = timeout_seconds
        self.caps = caps
        self._network = network
        self._clients: OrderedDict[tuple[str, str, str], OpenAIClients] = OrderedDict()
        self._making = asyncio.Lock()

    async def open(self, provider: Provider, body: Mapping[str, Any]) -> Chunks:
        """Send `body` and return the answer's chunks. Raises `ProviderError`."""
        if not usable_key(provider.api_key):
            raise failures.unusable_key(provider)
        if not provider.base_url:  # the openai client would take the environment's, or its own
            raise failures.unreachable(provider, "It has no address.")
        try:
            self._network.check(provider)
        except LinkLocalRefused as error:
            raise failures.unreachable(provider, str(error), "link_local") from None
        try:
            client = await self._client(provider)
        except ImportError as error:
            raise failures.not_installed(error) from error
        try:
            stream = await client.post(body, _headers(provider))
        except Exception as error:
            failure = self.failure_of(provider, error, "tools" in body, started=False)
            if failure is None:
                raise
            # Without the cause: its text and its request may hold the key.
            raise failure from None
        return Chunks(self, provider, client, stream, had_tools="tools" in body)

    async def load(self) -> None:
        """Imports `openai`, which takes about a second, in a thread. Raises ImportError."""
        await asyncio.to_thread(_import_openai)

    async def close(self) -> None:
        clients, self._clients = list(self._clients.values()), OrderedDict()
        for client in clients:
            await client.close()

    async def _client(self, provider: Provider) -> OpenAIClient:
        key = (provider.base_url, provider.api_key, provider.source)
        async with self._making:
            clients = self._clients.setdefault(key, OpenAIClients())
            self._clients.move_to_end(key)
            while len(self._clients) > MOST_SERVERS:
                # Left to the garbage collector: a stream may still be running over it.
                self._clients.popitem(last=False)
            await clients.close_unused()
            if (client := clients.free()) is not None:
                return client
            tls = await self._network.tls(provider)
            return clients.add(await asyncio.to_thread(self._make, provider, tls))

    def _make(self, provider: Provider, tls: ssl.SSLContext) -> Any:
        openai = _import_openai()
        trace = self._network.trace_of(provider)

        async def traced(request: Any) -> None:
            request.extensions["trace"] = trace

        timeout = openai.Timeout(
            self.timeout_seconds, connect=min(CONNECT_SECONDS, self.timeout_seconds)
        )
        return openai.AsyncOpenAI(
            base_url=provider.base_url,
            api_key=provider.api_key or "none",
            max_retries=0,
            timeout=timeout,
            http_client=openai.DefaultAsyncHttpxClient(
                verify=tls,
                trust_env=not provider.local,
                follow_redirects=False,
                timeout=timeout,
                event_hooks={"request": [traced], "response": [_raise_error_answer]},
            ),
        )

    def failure_of(
        self, provider: Provider, error: Exception, had_tools: bool, *, started: bool
    ) -> ProviderError | None:
        """The `ProviderError` for an exception; None when the server did not cause it."""
        openai = importlib.import_module("openai")
        if isinstance(error, ProviderError):
            return error
        answer = error if isinstance(error, ErrorAnswer) else error.__cause__
        if isinstance(answer, ErrorAnswer):
            return _status(provider, answer, had_tools)
        if isinstance(error, CapReached):
            return failures.too_large(provider, error, started=started)
        if isinstance(error, openai.APITimeoutError) or "TimeoutException" in _kinds(error):
            return self._timed_out(provider, error, started)
        if isinstance(error, (openai.APIConnectionError, OSError)):
            return _disconnected(provider, error, started)
        if isinstance(error, ValueError):  # a chunk that is no JSON, or no text
            return failures.garbage(provider, getattr(error, "doc", ""), started=started)
        if "HTTPError" in _kinds(error):  # the network library's own, while we read a body
            return failures.cut(provider, started=started, detail=str(error))
        return None

    def _timed_out(self, provider: Provider, error: Exception, started: bool) -> ProviderError:
        if "ConnectTimeout" in _kinds(error) | _kinds(error.__cause__):
            return failures.unreachable(provider, "The connection was not accepted in time.")
        return failures.timed_out(provider, self.timeout_seconds, started=started)


class Chunks:
    """The chunks of one answer as they arrive. Must be closed.

    The caller sets `started` when the answer has text, reasoning or a tool call: the messages of
    later errors differ then.
    """

    def __init__(
        self,
        connections: Connections,
        provider: Provider,
        client: OpenAIClient,
        stream: Any,
        *,
        had_tools: bool,
    ) -> None:
        self._connections = connections
        self._provider = provider
        self._client: OpenAIClient | None = client
        self._stream = stream
        self._had_tools = had_tools
        self.started = False
        self.silence = Silence(connections.timeout_seconds)
        """The caller calls its `broken` when a chunk held something of an answer."""

    async def close(self) -> None:
        """Close the connection, so that the server stops generating."""
        try:
            await self._stream.close()
        finally:
            if self._client is not None:
                self._client.done()
                self._client = None

    async def read(self) -> AsyncGenerator[Mapping[str, Any], None]:
        """The chunks as JSON objects. Raises `ProviderError`.

        However fast they come, other tasks run in between."""
        try:
            response = self._stream.response
            pieces = _pieces(response)
            content_type = response.headers.get("content-type", "").partition(";")[0].strip()
            if content_type in JSON_TYPES:
                yield self._checked(await _json(await self._whole(pieces)))
                return
            if content_type.startswith("text/html"):
                page = await _beginning(pieces, LARGEST_ERROR)
                raise failures.garbage(self._provider, page.decode("utf-8", "replace"))
            async for data in self._events(pieces):
                yield self._checked(await _json(data))
        except Exception as error:
            failure = self._connections.failure_of(
                self._provider, error, self._had_tools, started=self.started
            )
            if failure is None:
                raise
            raise failure from None

    async def _events(self, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        """The data of the stream's events, up to `[DONE]`."""
        splitter = EventSplitter(self._connections.caps.line)
        time_slice = TimeSlice()
        lines = 0
        async for piece in pieces:
            for data in splitter.feed(piece):
                if data.startswith(b"[DONE]"):
                    await _let_end(pieces)
                    return
                yield data
                if time_slice.over:
                    await time_slice.give_way()
            if self.silence.lasts_too_long(splitter.lines - lines):
                seconds = self.silence.most_seconds
                raise failures.silent(self._provider, seconds, started=self.started)
            lines = splitter.lines
            if time_slice.over:
                await time_slice.give_way()

    async def _whole(self, pieces: AsyncIterator[bytes]) -> bytes:
        """The body of an answer that is not streamed. Raises CapReached."""
        most = self._connections.caps.line
        body = await _beginning(pieces, most + 1)
        if len(body) > most:
            raise CapReached("line", most)
        return body

    def _checked(self, chunk: Any) -> Mapping[str, Any]:
        """`chunk`, if it is a JSON object without an error; raises `ProviderError` otherwise."""
        if not isinstance(chunk, dict):
            raise failures.garbage(self._provider, str(chunk), started=self.started)
        if chunk.get("error"):
            refusal = failures.refusal_in(chunk)
            raise failures.refused(self._provider, refusal, had_tools=self._had_tools)
        return chunk


class ErrorAnswer(Exception):
    """An answer with a status of 300 or more; `headers` have lower-case names, and `body` is its
    beginning. `asked` is the size of the request in bytes, 0 where it is not known."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, asked: int) -> None:
        super().__init__(f"status {status}")
        self.asked = asked
        self.status = status
        self.headers = headers
        self.body = body


async def _raise_error_answer(response: Any) -> None:
    """A hook of the HTTP client. The openai client would read an error's whole body, however large
    it is."""
    if response.status_code < 300:
        return
    headers = {name.lower(): value for name, value in response.headers.items()}
    body = b""
    # What the server says is of use even where its body cannot be read to its end.
    with contextlib.suppress(ValueError):
        body = await _beginning(_pieces(response), LARGEST_ERROR)
    length = response.request.headers.get("content-length", "")
    raise ErrorAnswer(response.status_code, headers, body, int(length) if length.isdigit() else 0)


@without_collecting()
def _import_openai() -> Any:
    return importlib.import_module("openai")


def _pieces(response: Any) -> AsyncIterator[bytes]:
    """The body as it arrives, unpacked if it was packed although we did not ask for that."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    pieces: AsyncIterator[bytes] = response.aiter_raw()
    return pieces if encoding in ("", "identity") else unpacked(pieces, encoding)


async def _beginning(pieces: AsyncIterator[bytes], most: int) -> bytes:
    """The first `most` bytes of a body."""
    found: list[bytes] = []
    size = 0
    time_slice = TimeSlice()
    async for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size >= most:
            break
        if time_slice.over:
            await time_slice.give_way()
    return b"".join(found)[:most]


async def _let_end(pieces: AsyncIterator[bytes]) -> None:
    """Reads what follows the end of an answer, for a moment: a connection that is read to its end
    can be used again."""

    async def rest() -> None:
        await _beginning(pieces, LONGEST_REST)

    with contextlib.suppress(Exception):
        await within(REST_SECONDS, rest())


async def _json(data: bytes) -> Any:
    """The value of a chunk's bytes. Raises ValueError."""
    if len(data) < LARGE:
        return foreign_json(data.decode())
    return await asyncio.to_thread(lambda: foreign_json(data.decode()))


def _headers(provider: Provider) -> dict[str, Any]:
    """Authentication headers. Without them the openai client sends the environment's key,
    organization and project to any host; they belong to the environment's own provider."""
    omit = importlib.import_module("openai").Omit()
    # See `unpacking` for the encoding.
    headers: dict[str, Any] = {"Authorization": omit, "Accept-Encoding": "identity"}
    if provider.api_key:
        headers["Authorization"] = f"Bearer {provider.api_key}"
    if provider.source != "environment":
        headers |= {"OpenAI-Organization": omit, "OpenAI-Project": omit}
    return headers


def _kinds(error: BaseException | None) -> set[str]:
    """The names of an error's classes. Names, because openai may use httpx or httpx2."""
    return {kind.__name__ for kind in type(error).__mro__}


def _status(provider: Provider, answer: ErrorAnswer, had_tools: bool) -> ProviderError:
    if 300 <= answer.status < 400:
        return failures.redirected(provider, answer.headers.get("location", ""))
    body = answer.body.decode("utf-8", "replace")
    now = datetime.now(timezone.utc)
    refusal = failures.read_refusal(answer.status, answer.headers, body, now)
    refusal = replace(refusal, request_bytes=answer.asked)
    return failures.refused(provider, refusal, had_tools=had_tools)


def _disconnected(provider: Provider, error: Exception, started: bool) -> ProviderError:
    """`unreachable` if no connection was made, `cut` if a connection broke."""
    cause = error.__cause__
    reason = str(cause or error)
    if (fault := fault_of(error)) == "link_local":
        return failures.unreachable(provider, reason, fault)
    if not started and _kinds(cause) & {"ConnectError", "UnsupportedProtocol", "ProxyError"}:
        return failures.unreachable(provider, reason, fault)
    return failures.cut(provider, started=started, detail=reason)
