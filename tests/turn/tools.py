"""Tools that tests put beside the real tools: in the panel, slow, broken, acting."""

from __future__ import annotations

import asyncio
from typing import Any

from plugin.assistant.tools.parameters import Arguments, parameters_of
from plugin.assistant.tools.tool import Tool, ToolContext
from plugin.assistant.tools.toolset import Toolset, standard_toolset
from plugin.tests.chatting import Chatting


class Node(Arguments):
    node: int


class Bench:
    """The tools, and a record of the calls that the server ran."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.erased = 0

    def install(self, chat: Chatting) -> None:
        """Puts the tools into a backend before its first request."""
        chat.assistant.toolset = Toolset((*standard_toolset(), *self.tools))

    @property
    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool(
                "paintNode",
                "Painted a node",
                "Paints.",
                "edits",
                parameters_of(Node),
                "panel",
                group="edit",
            ),
            Tool("runWorkflow", "Ran the workflow", "Runs.", "acts", place="panel", group="run"),
            Tool("erase", "Erased", "Erases.", "acts", run=self._erase, group="edit"),
            Tool("slow", "Waited", "Waits.", "reads", run=self._slow, group="lookup"),
            Tool("odd", "Measured", "Measures.", "reads", run=self._odd, group="lookup"),
            Tool("broken", "Broke", "Breaks.", "reads", run=self._broken, group="lookup"),
        )

    async def _erase(self, _: Any, context: ToolContext) -> Any:
        self.erased += 1
        return {"erased": self.erased}

    async def _slow(self, _: Any, context: ToolContext) -> Any:
        self.started.set()
        await self.release.wait()
        return "done"

    async def _odd(self, _: Any, context: ToolContext) -> Any:
        return {"size": float("nan")}

    async def _broken(self, _: Any, context: ToolContext) -> Any:
        raise RuntimeError("secret words of a bug")
