"""The scripted provider in a thread of its own, for tests that have no event loop."""

import asyncio
import itertools
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from plugin.tests.providers import Script, ScriptedProvider, SeenRequest

LIMIT = 30.0  # seconds until a wait fails the test
_numbers = itertools.count(1)
T = TypeVar("T")


class ProviderThread:
    """`ScriptedProvider` with plain calls; its docstring describes scripts."""

    def __init__(self, provider: ScriptedProvider, loop: asyncio.AbstractEventLoop) -> None:
        self._provider = provider
        self._loop = loop

    @property
    def base_url(self) -> str:
        return self._provider.base_url

    @property
    def requests(self) -> list[SeenRequest]:
        return self._provider.requests

    @property
    def last_messages(self) -> list[dict[str, Any]]:
        """The messages of the last request."""
        return self.requests[-1].messages

    def queue(self, *scripts: Script | str) -> None:
        self._provider.queue(*scripts)

    def release(self, name: str) -> None:
        self._loop.call_soon_threadsafe(self._provider.release, name)

    def reached(self, name: str) -> None:
        self._wait(self._provider.reached(name))

    def client_left(self) -> None:
        self._wait(self._provider.client_left())

    def start_over(self) -> None:
        """Forget all requests and scripts, so that a failed test does not fail the next."""
        self._provider.requests.clear()
        self._provider.unexpected = 0
        self._provider._scripts.clear()

    def check(self) -> None:
        """Every script was used, and every request had a script."""
        left = len(self._provider._scripts)
        assert left == 0, f"{left} scripted answers were not asked for"
        assert self._provider.unexpected == 0, "a request came without a script"

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(LIMIT)


@contextmanager
def running_provider(
    *, models: Sequence[str] = ("scripted",), key: str | None = None, port: int = 0
) -> Iterator[ProviderThread]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="provider", daemon=True)
    thread.start()
    provider = ScriptedProvider(models=models, key=key)
    running = ProviderThread(provider, loop)
    running._wait(provider.start(port))
    try:
        yield running
    finally:
        running._wait(provider.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(LIMIT)
        loop.close()


def new_wait() -> str:
    """The name of a `{"wait": name}` step that no other test uses."""
    return f"wait-{next(_numbers)}"
