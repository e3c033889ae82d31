"""Whether a call may run, or a person has to decide about it first.

The law: a call goes through because its tool only reads, because it edits or because the budget
covers it and the chat's mode lets it, or because the user allowed the tool in this chat; a call
that asks each time never does. All others wait for a decision about just this call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

from ..chats import ApprovalMode, ChatStore
from ..chats.permissions import DEFAULT_MODE
from ..errors import AssistantError
from ..messages.fences import plain_line
from ..tools.tool import Asking, Tool, ToolContext

LONGEST_TEXT: Final = 1_100
"""Characters of the sentence that a person reads; the question about a memory has all its text."""
ANY_TOOL: Final = "Uses the tool {}."


@dataclass(frozen=True, slots=True)
class Granted:
    """What the user has granted: the approval mode, and the `tools` that need not ask."""

    mode: ApprovalMode = DEFAULT_MODE
    tools: frozenset[str] = frozenset()


class Permits(Protocol):
    """The permissions of a turn, as they are now: the user may change them while it runs."""

    async def granted(self) -> Granted: ...
    async def use_runs(self, runs: int) -> bool:
        """Takes runs from the budget of the mode `budget`; returns whether it covers them."""
        ...


class NoPermits:
    """Those of a turn without a chat, which nobody can grant anything."""

    async def granted(self) -> Granted:
        return Granted()

    async def use_runs(self, runs: int) -> bool:
        return False


class ChatPermits:
    """Those of a chat. Where the store fails, every call asks that can ask."""

    def __init__(self, store: ChatStore, chat_id: str) -> None:
        self._store = store
        self._chat_id = chat_id

    async def granted(self) -> Granted:
        try:
            chat = await self._store.get(self._chat_id)
        except AssistantError:
            return Granted("ask")
        if chat is None:
            return Granted("ask")
        return Granted(chat.permissions.mode or DEFAULT_MODE, frozenset(chat.allowed_tools))

    async def use_runs(self, runs: int) -> bool:
        try:
            return await self._store.use_runs(self._chat_id, runs)
        except AssistantError:
            return False


async def question_about(
    tool: Tool, arguments: Any, context: ToolContext, permits: Permits
) -> Asking | None:
    """The question that a person has to decide about before the call runs; None where the call goes
    through. Raises what `tool.asks` raises."""
    asking = await tool.asks(arguments, context) if tool.asks is not None else None
    text = plain_line(asking.text if asking is not None else ANY_TOOL.format(tool.name))
    change = asking.change if asking is not None else None
    if tool.asks_each_time or (asking is not None and asking.each_time):
        return Asking(text[:LONGEST_TEXT], each_time=True, change=change)
    if tool.kind == "reads":
        return None
    granted = await permits.granted()
    if not tool.asks_first and granted.mode != "ask":
        return None
    if tool.name in granted.tools:
        return None
    runs = tool.spends(arguments) if granted.mode == "budget" and tool.spends else None
    if runs is not None and await permits.use_runs(runs):
        return None
    return Asking(text[:LONGEST_TEXT], change=change)
