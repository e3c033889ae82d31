"""A log of OpenAI messages, lived turn by turn in a chat of the product (`lived`).

The log's own tools take part: a call of the log runs as a tool that returns the log's result, so
that tool loops, masks, cuts and recalled passages are those of a running chat. Each turn comes with
its requests and with the rows that the chat has by then.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plugin.assistant.messages.changes import Change
from plugin.assistant.messages.conversion import rows_of
from plugin.assistant.messages.prompt import PromptMessage, ToolCall
from plugin.assistant.tools.history_tools import HISTORY_TOOLS
from plugin.assistant.tools.parameters import Parameters
from plugin.assistant.tools.skill_tools import SKILL_TOOLS
from plugin.assistant.tools.tool import EVERY_WINDOW, Tool, ToolContext
from plugin.assistant.tools.toolset import Toolset, standard_toolset
from plugin.bench.lived import LivedChats, Round, Sent, Wanted, living
from plugin.bench.logs import message_of
from plugin.bench.tool_facts import changes_of

CHAT = "lived"
OWN = (*SKILL_TOOLS, *HISTORY_TOOLS)
"""Tools of the product that a log may call, too; they run as they are."""


@dataclass(frozen=True, slots=True)
class LivedTurn:
    """One turn. `before` are the chat's rows before its user message, `asked` that message's row;
    `rounds` are the rows of the answer, round by round, the last without a call. Request `n` was
    sent after `n` rounds."""

    before: tuple[PromptMessage, ...]
    asked: PromptMessage
    rounds: tuple[tuple[PromptMessage, ...], ...]
    sent: tuple[Sent, ...]

    def running(self, number: int) -> tuple[PromptMessage, ...]:
        """The rows of the turn that request `number` (from 0) answers."""
        return (self.asked, *(row for rows in self.rounds[:number] for row in rows))


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A user's message, the model's rounds after it, and the results of their calls, in order."""

    text: str
    rounds: tuple[Round, ...]
    results: tuple[str, ...] = ()


def logged_turns(log: Iterable[Mapping[str, Any]]) -> Iterator[LoggedTurn]:
    """The turns of a log. System messages are left out: a chat has the product's own."""
    messages = [message_of(row) for row in log]
    spoken = [message for message in messages if message.role != "system"]
    number = 0

    def turn_of(message: PromptMessage) -> int:
        nonlocal number
        number += message.role == "user"
        return number

    for _, rows in groupby(spoken, turn_of):
        asked, *answer = rows
        rounds = [_round(row) for row in answer if row.role == "assistant"]
        results = [row.text for row in answer if row.role == "tool"]
        yield LoggedTurn(asked.text, tuple(rounds), tuple(results))


def _round(row: PromptMessage) -> Round:
    return Round(row.text, tuple((call.name, call.arguments) for call in row.tool_calls))


async def lived_turns(turns: Sequence[LoggedTurn], wanted: Wanted) -> AsyncIterator[LivedTurn]:
    """Lives the turns, one after another, in a new chat."""
    results: deque[str] = deque()
    toolset = _toolset(turns, results)
    before: tuple[PromptMessage, ...] = ()
    with TemporaryDirectory() as folder:
        async with living(Path(folder), wanted, toolset) as chats:
            for turn in turns:
                results.clear()
                results.extend(turn.results)
                sent = await chats.turn(CHAT, turn.text, turn.rounds)
                asked, answer = await _rows(chats)
                yield LivedTurn(before, asked, _rounds(answer), tuple(sent))
                before = (*before, asked, *answer)


async def _rows(chats: LivedChats) -> tuple[PromptMessage, tuple[PromptMessage, ...]]:
    """The rows of the chat's last message and of its answer."""
    (question, answer), _ = await chats.space.chats.page(CHAT, limit=2)
    return rows_of(question)[0], rows_of(answer)


def _rounds(answer: Sequence[PromptMessage]) -> tuple[tuple[PromptMessage, ...], ...]:
    found: list[list[PromptMessage]] = []
    for row in answer:
        if row.role == "assistant":
            found.append([])
        found[-1].append(row)
    return tuple(map(tuple, found))


def _toolset(turns: Iterable[LoggedTurn], results: deque[str]) -> Toolset:
    """The tools that the turns call; those that are not OWN return the next of `results`."""
    own = {tool.name for tool in OWN}
    called = {name: None for turn in turns for one in turn.rounds for name, _ in one.calls}
    return Toolset((*(_logged(name, results) for name in called if name not in own), *OWN))


def _logged(name: str, results: deque[str]) -> Tool:
    known = standard_toolset().get(name)

    async def run(arguments: Any, context: ToolContext) -> Any:
        text = results.popleft()
        try:
            return json.loads(text)
        except ValueError:
            return text

    def changes(call: ToolCall, value: Any) -> Iterable[Change]:
        return changes_of(call, value)

    return Tool(
        name=name,
        title=name,
        description=f"Tool {name} of the log.",
        kind="reads",
        parameters=Parameters({"type": "object"}, lambda value: value),
        run=run,
        window=EVERY_WINDOW,
        group="lookup",
        digest=known.digest if known is not None else None,
        changes=changes,
    )
