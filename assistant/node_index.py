"""ComfyUI's node definitions as the index that reading a workflow needs, kept while they stay.

Reading all definitions takes ComfyUI a while (it lists the folders of models), so it is done in a
thread and again only after some seconds. While ComfyUI says the same, the index is the same object.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from .comfy_port import ComfyPort
from .workflow.node_definitions import NO_DEFINITIONS, NodeDefinitions

FRESH_SECONDS = 20.0
"""A model file that was just put into its folder is known after this time at the latest."""


class NodeIndex:
    """The definitions of one ComfyUI."""

    def __init__(self, port: ComfyPort, now: Callable[[], float] = time.monotonic) -> None:
        self._port = port
        self._now = now
        self._lock = asyncio.Lock()
        self._read_at: float | None = None
        self._raw: dict[str, object] = {}
        self._known = NO_DEFINITIONS

    async def current(self) -> NodeDefinitions:
        """The definitions, at most `FRESH_SECONDS` old. What ComfyUI raises is raised."""
        async with self._lock:
            if self._read_at is None or self._now() - self._read_at > FRESH_SECONDS:
                self._known = await asyncio.to_thread(self._read)
                self._read_at = self._now()
            return self._known

    def _read(self) -> NodeDefinitions:
        raw = dict(self._port.node_definitions())
        # Cheaper than any digest: a millisecond for 885 definitions, whose hash takes 25.
        if raw == self._raw:
            return self._known
        self._raw = raw
        return NodeDefinitions(raw)
