"""What a request has of the rows of its chat: whole, or not; and where its tail begins.

A row is whole in a request when its text stands in one message word for word, and its calls are
there. A result that stands twice in the chat and once in the request is whole.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from plugin.assistant.context.notes import RECALLED
from plugin.assistant.context.tokens import message_tokens
from plugin.assistant.messages.prompt import PromptMessage
from plugin.assistant.tools.history_tools import RECALL_RESULT
from plugin.bench.lived import Sent
from plugin.bench.lived_log import LivedTurn
from plugin.bench.measures import text_of

GUIDES = ("getSystemSkill", "getUserSkill")
KEPT_ROUNDS = 2
"""The newest rounds whose results R14 keeps in `none`."""
TRIGGER_SHARE, TARGET_SHARE = 0.70, 0.40
"""LLM_SUMMARY_TRIGGER and LLM_SUMMARY_TARGET."""
RESERVE, RESERVE_SHARE, MARGIN_SHARE = 4_096, 0.25, 0.05
"""Of the window: what is kept free for the answer, its most, and for errors of the estimate."""
SAFE_SHARE = 0.9
"""A request of at most this share of the trigger is surely below it, whatever an estimate says."""


def safely_below(tokens: float, window: int) -> bool:
    """Whether a request of `tokens` tokens is below the token trigger of a window."""
    return tokens <= SAFE_SHARE * TRIGGER_SHARE * _prompt(window)


def target_tokens(window: int) -> float:
    """The tokens that a cut leaves."""
    return TARGET_SHARE * _prompt(window)


def _prompt(window: int) -> float:
    return window - min(RESERVE, window * RESERVE_SHARE) - window * MARGIN_SHARE


@dataclass(frozen=True, slots=True)
class Shown:
    """The messages of a request, in which rows are looked for."""

    texts: tuple[str, ...]
    calls: frozenset[str]

    @classmethod
    def of(cls, sent: Sent) -> Shown:
        calls = (call["id"] for one in sent.spoken for call in one.get("tool_calls") or ())
        contents = (_normal(text_of({**one, "tool_calls": None})) for one in sent.spoken)
        return cls(tuple(contents), frozenset(calls))

    def has(self, row: PromptMessage) -> bool:
        """Whether the row is whole in the request."""
        wanted = _normal(row.text)
        said = not wanted or any(wanted in text for text in self.texts)
        return said and all(call.id in self.calls for call in row.tool_calls)


def _normal(text: str) -> str:
    """The text; JSON with its names in order, since the store orders them."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def fixed_tokens(sent: Sent) -> float:
    """Tokens of system message and schemas."""
    parts = sent.report["parts"]
    return float(sum(parts[name]["tokens"] for name in ("system", "user_context", "tool_schemas")))


def running_tokens(turn: LivedTurn, number: int) -> float:
    """Tokens of request `number` if no row of its own turn were shortened."""
    sent, shown = turn.sent[number], Shown.of(turn.sent[number])
    missing = (row for row in turn.running(number) if not shown.has(row))
    return float(sent.report["total"]["tokens"]) + sum(message_tokens(row) for row in missing)


def due_whole(turn: LivedTurn, number: int, cache: str) -> list[PromptMessage]:
    """The rows of the running turn that request `number` has to show whole while it is below its
    trigger: skills and recalled pages of any round; other results of the newest two rounds in
    `none`, of all rounds in `auto`."""
    due = [turn.asked] if turn.asked.skill_chars else []
    rounds = turn.rounds[:number]
    newest = 0 if cache == "auto" else len(rounds) - KEPT_ROUNDS
    for place, (call, *results) in enumerate(rounds):
        for asked, result in zip(call.tool_calls, results, strict=True):
            if place >= newest or asked.name in (*GUIDES, RECALL_RESULT):
                due.append(result)
    return due


def tail_start(rows: Sequence[PromptMessage], sent: Sent) -> int:
    """The first of the rows at the end of the log that the request has without a gap, each at
    least as a line: `len(rows)` when it has not even the last."""
    texts = [(message["role"], text_of(message)) for message in sent.spoken]
    results = {message.get("tool_call_id") for message in sent.spoken}
    calls = Shown.of(sent).calls
    for place in range(len(rows) - 1, -1, -1):
        row = rows[place]
        if row.role == "tool":
            there = row.tool_call_id in results
        elif row.tool_calls:
            there = all(call.id in calls for call in row.tool_calls)
        else:
            there = any(role == row.role and _is_of(text, row.text) for role, text in texts)
        if not there:
            return place + 1
    return 0


def _is_of(text: str, said: str) -> bool:
    """Whether a message of the request is the message `said`, perhaps with text before or after."""
    return text == said or text.startswith(said + "\n") or text.endswith("\n" + said)


def recalled(sent: Sent) -> frozenset[str]:
    """The texts in the request that were recalled, each with its heading."""
    texts = (text_of(message) for message in sent.spoken)
    return frozenset(
        text[text.index(RECALLED.heading) :] for text in texts if RECALLED.heading in text
    )
