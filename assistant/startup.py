"""Starts the assistant when ComfyUI's server starts, so that ComfyUI's own start does not wait.

    startup = Startup(make)                make() imports the assistant's modules and builds it
    startup.routes                         each waits until the assistant is there
    startup.start(); await startup.close()

ComfyUI imports its plugins one after the other before its page opens. This module imports next to
nothing; `make` runs in a thread, beside the server's first requests. If it fails, ComfyUI's log
gets one line, and every route answers with that reason.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from aiohttp import web

from .errors import AssistantError, NotLoaded
from .garbage import without_collecting
from .routes.paths import PATHS

if TYPE_CHECKING:
    from .app import Assistant

log = logging.getLogger("comfyui_assistant")

Result = TypeVar("Result")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Startup:
    """For one event loop, the server's. `make` is called once, in a thread."""

    def __init__(self, make: Callable[[], Assistant]) -> None:
        self._make = make
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loading: asyncio.Task[Assistant] | None = None
        self._handlers: Mapping[tuple[str, str], Handler] = {}
        self.routes = tuple(
            web.route(method, path, self._handler(method, path)) for method, path in PATHS
        )

    def start(self) -> None:
        """Begins to load; called in the server's loop."""
        self._loop = asyncio.get_running_loop()
        self._loading = self._loop.create_task(self._load())
        # Without a request nobody asks for the failure, which is logged already.
        self._loading.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def close(self) -> None:
        """Closes the assistant; waits for a load that is under way."""
        try:
            assistant = await self.assistant()
        except AssistantError:
            return
        await assistant.close()

    async def assistant(self) -> Assistant:
        """The assistant, once it is loaded. Raises NotLoaded. For the server's loop."""
        if self._loading is None:
            raise NotLoaded("ComfyUI's server has not started yet.")
        # Shielded: a request that goes away must not stop the load.
        return await asyncio.shield(self._loading)

    async def complete(self, prompt: str, *, system: str = "", seed: int | None = None) -> str:
        """The active provider's answer to one prompt, for nodes. Raises NotLoaded and
        ProviderError. For the server's loop: see `hand_over`."""
        assistant = await self.assistant()
        return await assistant.complete(prompt, system=system, seed=seed)

    def hand_over(self, work: Coroutine[Any, Any, Result]) -> asyncio.Future[Result]:
        """Runs `work` in the server's loop, for a caller in another thread's loop. Raises
        RuntimeError before `start`."""
        if self._loop is None:
            work.close()
            raise RuntimeError("The assistant has not started yet.")
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _load(self) -> Assistant:
        try:
            assistant = await asyncio.to_thread(self._made)
        except Exception as error:
            log_failure("could not load and stays off", error)
            raise NotLoaded(
                f"ComfyUI Assistant could not load: {_one_line(error)}. ComfyUI's log says more."
            ) from error
        self._handlers = {(one.method, one.path): one.handler for one in assistant.routes()}
        try:
            await assistant.start()
        except Exception as error:
            log_failure("could not start", error)
        return assistant

    @without_collecting()
    def _made(self) -> Assistant:
        return self._make()

    def _handler(self, method: str, path: str) -> Handler:
        async def wait_and_handle(request: web.Request) -> web.StreamResponse:
            try:
                await self.assistant()
            except NotLoaded as error:
                told = {"error": {"code": error.code, "message": error.message}}
                return web.json_response(told, status=error.status)
            return await self._handlers[method, path](request)

        return wait_and_handle


def log_failure(what: str, error: BaseException) -> None:
    """Writes one line of ASCII to ComfyUI's log: `what` failed, and the `error`."""
    reason = _one_line(error).encode("ascii", "replace").decode()
    log.error("ComfyUI Assistant %s: %s", what, reason)
    log.debug("Details", exc_info=error)


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
