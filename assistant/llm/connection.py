"""The openai client: one instance for each server and key, its exceptions turned into ours.

`Connections` sends a body and returns the chunks as JSON objects; it neither interprets chunks nor
retries. `openai` is imported in a thread after ComfyUI's start, or by the first request.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import ssl
from collections import OrderedDict
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime, timezone
from typing import Any

from ..errors import ProviderError
from . import failures
from .network import LinkLocalRefused, Network, fault_of
from .provider import Provider, usable_key

CONNECT_SECONDS = 10.0
MOST_CLIENTS = 4
PATH = "/chat/completions"
JSON_TYPES = ("application/json", "application/problem+json")
LARGEST_ERROR = 64 * 1024  # characters of an error answer that are read


class Connections:
    """Clients by server and key, the last used one last.

    `timeout_seconds` is the longest wait for the next bytes of an answer.
    """

    def __init__(self, timeout_seconds: float, network: Network) -> None:
        self.timeout_seconds = timeout_seconds
        self._network = network
        self._clients: OrderedDict[tuple[str, str, str], Any] = OrderedDict()
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
        client = await self._client(provider)
        openai = importlib.import_module("openai")
        try:
            stream = await client.post(
                PATH,
                cast_to=object,
                body=dict(body),
                options={"headers": _headers(provider)},
                stream=True,
                stream_cls=openai.AsyncStream[object],
            )
        except Exception as error:
            failure = self.failure_of(provider, error, "tools" in body, started=False)
            if failure is None:
                raise
            # Without the cause: its text and its request may hold the key.
            raise failure from None
        return Chunks(self, provider, stream, had_tools="tools" in body)

    async def load(self) -> None:
        """Imports `openai`, which takes about a second, in a thread. Raises ImportError."""
        await asyncio.to_thread(importlib.import_module, "openai")

    async def close(self) -> None:
        clients, self._clients = list(self._clients.values()), OrderedDict()
        for client in clients:
            await client.close()

    async def _client(self, provider: Provider) -> Any:
        key = (provider.base_url, provider.api_key, provider.source)
        async with self._making:
            if key not in self._clients:
                tls = await self._network.tls(provider)
                self._clients[key] = await asyncio.to_thread(self._make, provider, tls)
            self._clients.move_to_end(key)
            while len(self._clients) > MOST_CLIENTS:
                # Left to the garbage collector: a stream may still be running over it.
                self._clients.popitem(last=False)
            return self._clients[key]

    def _make(self, provider: Provider, tls: ssl.SSLContext) -> Any:
        openai = importlib.import_module("openai")
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
                event_hooks={"request": [traced]},
            ),
        )

    def failure_of(
        self, provider: Provider, error: Exception, had_tools: bool, *, started: bool
    ) -> ProviderError | None:
        """The `ProviderError` for an exception; None when the server did not cause it."""
        openai = importlib.import_module("openai")
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, openai.APITimeoutError) or "TimeoutException" in _kinds(error):
            return self._timed_out(provider, error, started)
        if isinstance(error, (openai.APIConnectionError, OSError)):
            return _disconnected(provider, error, started)
        if isinstance(error, openai.APIStatusError):
            return _status(provider, error, had_tools)
        if isinstance(error, openai.APIError):  # an error object inside the stream
            refusal = failures.refusal_in({"error": error.body})
            return failures.refused(provider, refusal, had_tools=had_tools)
        # A chunk that is no JSON (openai 3), no text, or nested too deeply.
        if isinstance(error, (ValueError, RecursionError)):
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
        self, connections: Connections, provider: Provider, stream: Any, *, had_tools: bool
    ) -> None:
        self._connections = connections
        self._provider = provider
        self._stream = stream
        self._had_tools = had_tools
        self.started = False

    async def close(self) -> None:
        """Close the connection, so that the server stops generating."""
        await self._stream.close()

    async def read(self) -> AsyncGenerator[Mapping[str, Any], None]:
        """The chunks as JSON objects. Raises `ProviderError`."""
        try:
            response = self._stream.response
            content_type = response.headers.get("content-type", "").partition(";")[0].strip()
            if content_type in JSON_TYPES:
                yield self._whole(await response.aread())
                return
            if content_type.startswith("text/html"):
                page = (await response.aread()).decode("utf-8", "replace")
                raise failures.garbage(self._provider, page)
            async for chunk in self._stream:
                yield self._checked(chunk)
        except Exception as error:
            failure = self._connections.failure_of(
                self._provider, error, self._had_tools, started=self.started
            )
            if failure is None:
                raise
            raise failure from None

    def _whole(self, body: bytes) -> Mapping[str, Any]:
        """The JSON answer of a server that does not stream."""
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise failures.garbage(self._provider, body.decode("utf-8", "replace")) from None
        return self._checked(answer)

    def _checked(self, chunk: Any) -> Mapping[str, Any]:
        """`chunk`, if it is a JSON object without an error; raises `ProviderError` otherwise."""
        if not isinstance(chunk, Mapping):
            raise failures.garbage(self._provider, str(chunk), started=self.started)
        if chunk.get("error"):
            refusal = failures.refusal_in(chunk)
            raise failures.refused(self._provider, refusal, had_tools=self._had_tools)
        return chunk


def _headers(provider: Provider) -> dict[str, Any]:
    """Authentication headers. Without them the openai client sends the environment's key,
    organization and project to any host; they belong to the environment's own provider."""
    omit = importlib.import_module("openai").Omit()
    headers: dict[str, Any] = {"Authorization": omit}
    if provider.api_key:
        headers["Authorization"] = f"Bearer {provider.api_key}"
    if provider.source != "environment":
        headers |= {"OpenAI-Organization": omit, "OpenAI-Project": omit}
    return headers


def _kinds(error: BaseException | None) -> set[str]:
    """The names of an error's classes. Names, because openai may use httpx or httpx2."""
    return {kind.__name__ for kind in type(error).__mro__}


def _status(provider: Provider, error: Any, had_tools: bool) -> ProviderError:
    headers = {name.lower(): value for name, value in error.response.headers.items()}
    if 300 <= error.status_code < 400:
        return failures.redirected(provider, headers.get("location", ""))
    body = error.response.text[:LARGEST_ERROR]
    refusal = failures.read_refusal(error.status_code, headers, body, datetime.now(timezone.utc))
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
