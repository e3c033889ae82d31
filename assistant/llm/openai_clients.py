"""The openai clients of one server and key: as many as its requests need.

The network library looks at all idle connections of a client with each request, which takes a
system call for each: a fifth of the time of fifty requests at once. So a client answers few
requests at a time, and there are more clients when more requests come.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import Any

PATH = "/chat/completions"
AT_ONCE = 8
"""Requests that a client answers at a time before another client is made."""
MOST_CLIENTS = 16
"""Beyond this number the clients share all requests."""
UNUSED_SECONDS = 30.0
"""After so long without a request a client is closed, with its connections, when the next request
comes. The first client stays."""


class OpenAIClient:
    """A client of the `openai` library, and how many requests it answers at the moment."""

    def __init__(self, library_client: Any) -> None:
        self._client = library_client
        self._used = time.monotonic()
        self.requests = 0

    @property
    def unused(self) -> bool:
        return not self.requests and time.monotonic() - self._used > UNUSED_SECONDS

    async def post(self, body: Mapping[str, Any], headers: Mapping[str, Any]) -> Any:
        """The stream of an answer; the caller says `done` when it has ended. Raises what the
        library raises."""
        self.requests += 1
        try:
            return await self._client.post(
                PATH,
                cast_to=object,
                body=dict(body),
                options={"headers": headers},
                stream=True,
                stream_cls=importlib.import_module("openai").AsyncStream[object],
            )
        except BaseException:
            self.done()
            raise

    def done(self) -> None:
        """A request has ended."""
        self.requests -= 1
        self._used = time.monotonic()

    async def close(self) -> None:
        await self._client.close()


class OpenAIClients:
    """The clients of one server and key, the first made first."""

    def __init__(self) -> None:
        self._clients: list[OpenAIClient] = []

    def free(self) -> OpenAIClient | None:
        """The first client that has room, so that few requests use few connections; None where
        another client is to be added."""
        for client in self._clients:
            if client.requests < AT_ONCE:
                return client
        if len(self._clients) < MOST_CLIENTS:
            return None
        return min(self._clients, key=lambda client: client.requests)

    def add(self, library_client: Any) -> OpenAIClient:
        self._clients.append(OpenAIClient(library_client))
        return self._clients[-1]

    async def close_unused(self) -> None:
        while len(self._clients) > 1 and self._clients[-1].unused:
            await self._clients.pop().close()

    async def close(self) -> None:
        clients, self._clients = self._clients, []
        for client in clients:
            await client.close()
