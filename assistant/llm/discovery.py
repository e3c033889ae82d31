"""Finds LLM servers that run on this machine.

One short request goes to each usual port, on loopback only, all at the same time. The result is
cached for some seconds, so that frequent calls are cheap and a new server is found soon.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp

from .models import ModelInfo, get_json, models_in

PROBE_SECONDS = 0.6
# A server that listens on loopback is connected to at once, however busy it is. Windows takes two
# seconds to say that nobody listens.
CONNECT_SECONDS = 0.15
KEPT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class UsualPort:
    server: str
    port: int


USUAL_PORTS = (
    UsualPort("Ollama", 11_434),
    UsualPort("LM Studio", 1_234),
    UsualPort("llama.cpp", 8_080),
    UsualPort("vLLM", 8_000),
)


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered, and its models; `models` may be empty."""

    name: str
    base_url: str
    models: tuple[ModelInfo, ...]


class Discovery:
    """Looks at `ports` when the cached result is too old. `clock` gives monotonic seconds."""

    def __init__(
        self,
        ports: tuple[UsualPort, ...] = USUAL_PORTS,
        *,
        enabled: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ports = ports if enabled else ()
        self._clock = clock
        self._found: tuple[LocalServer, ...] = ()
        self._good_until = float("-inf")
        self._probing = asyncio.Lock()

    async def servers(self) -> tuple[LocalServer, ...]:
        """The servers that run now, or ran some seconds ago, in the order of the ports."""
        async with self._probing:
            if self._clock() >= self._good_until:
                self._found = await self._probe_all()
                self._good_until = self._clock() + KEPT_SECONDS
            return self._found

    async def _probe_all(self) -> tuple[LocalServer, ...]:
        if not self._ports:
            return ()
        timeout = aiohttp.ClientTimeout(total=PROBE_SECONDS, sock_connect=CONNECT_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
            answers = await asyncio.gather(*(_probe(session, port) for port in self._ports))
        return tuple(server for server in answers if server is not None)


async def _probe(session: aiohttp.ClientSession, usual: UsualPort) -> LocalServer | None:
    base_url = f"http://127.0.0.1:{usual.port}/v1"
    models = models_in(await get_json(session, f"{base_url}/models"))
    return None if models is None else LocalServer(usual.server, base_url, models)
