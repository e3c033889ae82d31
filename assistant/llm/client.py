"""Sends a request to a model's server and gives the answer as events, the same for all servers.

`Client` retries a failed request as long as no event of its answer was given out, decides whether
an answer is complete, and closes the connection when the caller stops reading. `turn` interprets
the events.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Protocol

from ..config import Settings
from ..errors import ProviderError
from . import failures
from .caps import CapReached, Written, caps_of
from .chunk_reader import ChunkReader
from .connection import Chunks, Connections
from .network import Network
from .provider import Provider
from .request import LLMRequest, adapted, body_of
from .stream_events import Event, Finish, ModelName, Notice, Usage
from .time_limit import within
from .time_slice import TimeSlice

logger = logging.getLogger("comfyui_assistant")

MOST_SECONDS_OF_RETRIES = 30.0
FIRST_DELAY_SECONDS = 1.0
# Retries by error code, where the server does not say when to try again.
RETRIES = {"rate_limited": 4, "provider_error": 2, "unreachable": 1, "cut": 1}
RETRIES_WITH_RETRY_AFTER = 10
# Seconds. A `Notice` announces a wait that is at least so long.
SHOWN_WAIT_SECONDS = 2.0
# After the finish reason only the usage can follow; some servers never close the stream.
GRACE_SECONDS = 3.0
# Settings that change the answer, by the names that the user reads when a setting was left out.
NAMED_SETTINGS = {
    "temperature": "temperature",
    "reasoning_effort": "reasoning effort",
    "seed": "seed",
}

Prepare = Callable[[Provider], Awaitable[Provider]]


class Place(Protocol):
    """A request's place in the line before a server that answers one at a time."""

    def wait(self) -> AsyncGenerator[str, None]:
        """Sentences for the user, until it is this request's turn."""

    def leave(self, failure: ProviderError | None) -> None:
        """Makes room for the next request; `failure` is the request's, if it failed."""


PlaceOf = Callable[[Provider], Place | None]


async def as_it_is(provider: Provider) -> Provider:
    """The `prepare` of a client whose servers run already."""
    return provider


class Client:
    """Requests answers from models.

    `prepare` is called before each try: it starts a server that we run ourselves, and finds a model
    where the provider names none. `place_of` gives a request's place in the line before a server
    that answers one at a time, and None for all other servers. Tests pass `clock` (monotonic
    seconds), `sleep` and `grace_seconds`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        prepare: Prepare = as_it_is,
        place_of: PlaceOf = lambda _: None,
        network: Network | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._caps = caps_of(settings)
        self._connections = Connections(
            settings.timeout_seconds, network or Network(settings), self._caps
        )
        self._prepare = prepare
        self._place_of = place_of
        self._clock = clock
        self._sleep = sleep
        self._grace = grace_seconds

    async def load(self) -> None:
        """Imports the library in a thread, so that the first request need not wait for it. Raises
        ImportError."""
        await self._connections.load()

    async def close(self) -> None:
        await self._connections.close()

    async def stream(self, provider: Provider, request: LLMRequest) -> AsyncGenerator[Event, None]:
        """The answer's events; the last one is `Finish`.

        Raises `ProviderError`, also after events, which stay valid. Closing the generator
        (`contextlib.aclosing`) or cancelling its task closes the connection.
        """
        place, failure = self._place_of(provider), None
        try:
            if place is not None:
                async with contextlib.aclosing(place.wait()) as sentences:
                    async for sentence in sentences:
                        yield Notice("waiting", sentence)
            async with contextlib.aclosing(self._tries(provider, request)) as events:
                async for event in events:
                    yield event
        except ProviderError as error:
            failure = error
            raise
        finally:
            if place is not None:
                place.leave(failure)

    async def _tries(self, provider: Provider, request: LLMRequest) -> AsyncGenerator[Event, None]:
        """The events of the first try that gives any."""
        body: dict[str, Any] = {}
        began = self._clock()
        tries = 0
        while True:
            spoken = False
            try:
                # Before each try: a server that we run may have ended meanwhile.
                ready = await self._prepare(provider)
                body = body or body_of(ready, request)
                async with contextlib.aclosing(
                    self._answer(ready, body, request.written)
                ) as events:
                    async for event in events:
                        spoken = spoken or not isinstance(event, (ModelName, Usage))
                        yield event
                return
            except ProviderError as failure:
                if spoken:
                    raise
                error = failure
            change = adapted(body, error.detail) if error.code == "bad_request" else None
            if change is not None:
                body, setting = change
                if setting in NAMED_SETTINGS:
                    name = NAMED_SETTINGS[setting]
                    message = f"{body['model']} takes no {name}; it was left out."
                    yield Notice("setting_left_out", message)
                continue
            tries += 1
            delay = _delay(error, tries, self._clock() - began)
            if delay is None:
                raise error
            logger.info("LLM request failed (%s); trying again in %.1f s", error.code, delay)
            if delay >= SHOWN_WAIT_SECONDS:
                wait = round(delay)
                yield Notice("waiting", f"Trying again in {wait} s. {error.happened}", wait)
            await self._sleep(delay)

    async def _answer(
        self, provider: Provider, body: Mapping[str, Any], written: Written
    ) -> AsyncGenerator[Event, None]:
        """The events of one HTTP request. Other tasks run between them, however many come at
        once."""
        chunks = await self._connections.open(provider, body)
        reader = ChunkReader(functools.partial(_made_id_prefix, body), self._caps, written)
        time_slice = TimeSlice()
        error: ProviderError | None = None
        try:
            async with contextlib.aclosing(self._until_whole(chunks, reader)) as answer:
                async for chunk in answer:
                    for event in reader.feed(chunk):
                        chunks.silence.broken()
                        yield event
                        if time_slice.over:
                            await time_slice.give_way()
                    chunks.started = reader.spoke
        except ProviderError as failure:
            error = failure
        except CapReached as reached:
            error = failures.too_large(provider, reached, started=reader.spoke)
        finally:
            await chunks.close()
        finish: Finish | None = None
        for event in reader.end():
            if isinstance(event, Finish):
                finish = event
            else:
                yield event
        yield _whole(provider, reader, finish, error)

    async def _until_whole(
        self, chunks: Chunks, reader: ChunkReader
    ) -> AsyncGenerator[Mapping[str, Any], None]:
        """The chunks; after the finish reason, only chunks that come within the grace time."""
        loop = asyncio.get_running_loop()
        until: float | None = None
        async with contextlib.aclosing(chunks.read()) as answer:
            while True:
                try:
                    if reader.finished:
                        until = until or loop.time() + self._grace
                        chunk = await within(until - loop.time(), _next(answer))
                    else:
                        chunk = await answer.__anext__()
                except (StopAsyncIteration, _Ended, asyncio.TimeoutError):
                    return
                yield chunk


class _Ended(Exception):
    """An answer has no further chunk. A task cannot raise StopAsyncIteration."""


async def _next(chunks: AsyncGenerator[Mapping[str, Any], None]) -> Mapping[str, Any]:
    """The next chunk. Raises _Ended."""
    async for chunk in chunks:
        return chunk
    raise _Ended


def _whole(
    provider: Provider, reader: ChunkReader, finish: Finish | None, error: ProviderError | None
) -> Finish:
    """The `Finish` of a complete answer. Raises `ProviderError` for an incomplete or empty answer,
    and for one that was too large."""
    if error is not None and error.code == "too_large":
        raise error
    if finish is None:
        if error is not None:
            raise error
        if not reader.understood:
            raise failures.garbage(provider, "")
        raise failures.cut(provider, started=reader.spoke)
    if reader.finish_word == "error":
        raise failures.refused(provider, failures.Refusal(0, ""))
    if not reader.spoke and finish.reason in ("stop", "other"):
        raise failures.empty(provider)
    return finish


def _delay(error: ProviderError, tries: int, elapsed: float) -> float | None:
    """Seconds to wait after `tries` failed tries and `elapsed` seconds; None: do not try again."""
    if error.code not in RETRIES or "retry" not in error.actions:
        return None
    if error.retry_after is not None:
        most, delay = RETRIES_WITH_RETRY_AFTER, max(error.retry_after, FIRST_DELAY_SECONDS)
    else:
        most, delay = RETRIES[error.code], FIRST_DELAY_SECONDS * 2 ** (tries - 1)
    if tries > most or elapsed + delay > MOST_SECONDS_OF_RETRIES:
        return None
    return delay


def _made_id_prefix(body: Mapping[str, Any]) -> str:
    """Prefix for the ids of tool calls that came without an id; the same for the same request."""
    text = json.dumps(body, sort_keys=True)
    return f"call_{hashlib.sha256(text.encode()).hexdigest()[:12]}_"
