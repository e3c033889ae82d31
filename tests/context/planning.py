"""Plans a chat request by request, as a running chat does, for the tests of the laws."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.draft import CountedMessage, Draft, compose
from plugin.assistant.context.fidelity import GroupReducer
from plugin.assistant.context.limits import limits_of
from plugin.assistant.context.log import ChatLog
from plugin.assistant.context.plan import Budget, Plan
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.summary.text import summary_text
from plugin.assistant.context.system import SystemText
from plugin.assistant.context.tail import Tail
from plugin.assistant.context.tokens import schema_text, schema_tokens
from plugin.assistant.context.window import Window
from plugin.assistant.errors import ContextOverflow, InvalidRequest
from plugin.assistant.messages.prompt import PromptMessage, to_openai

from .histories import HISTORIES, Messages
from .wild import wild_log

OURS = SystemText("You are ComfyUI Assistant.", "full")
TOOLS = ({"type": "function", "function": {"name": "getUserSkill", "parameters": {}}},)
OFF = Settings(
    repeat_min_chars=0,
    tool_result_keep_last_rounds=0,
    tool_output_trim_chars=0,
    history_max_messages=0,
    summary_max_tokens=0,
    summary_max_messages=0,
    summary_max_turns=0,
    summary_trigger=1.0,
)
"""Settings with every limit switched off; only the window limits the request."""
CACHED = Settings(prompt_cache="auto")
SMALL = Budget(Window(2_048, known=True))
HUGE = Window(100_000_000, known=True)
WINDOWS = (1_024, 2_048, 4_096, 8_192, 32_768)

LIMITS = st.builds(
    Settings,
    prompt_cache=st.sampled_from(["none", "auto"]),
    summary=st.sampled_from(["extractive", "off"]),
    tool_result_keep_last_rounds=st.integers(0, 3),
    tool_output_trim_chars=st.sampled_from([0, 1, 17, 200, 2_000]),
    history_max_messages=st.sampled_from([0, 1, 2, 5, 24]),
    repeat_min_chars=st.sampled_from([0, 60, 400]),
    min_recent_messages=st.sampled_from([0, 2, 6]),
)
BUDGETS = st.builds(
    Budget,
    st.builds(Window, st.sampled_from(WINDOWS), known=st.booleans()) | st.just(HUGE),
    st.booleans(),
    exact=st.booleans(),
)
LOGS: st.SearchStrategy[Messages] = st.one_of(
    HISTORIES,
    st.builds(wild_log, st.integers(0), st.integers(1, 9)),
)
LONG_LOGS: st.SearchStrategy[Messages] = st.builds(wild_log, st.integers(0), st.just(25))
"""A log that is long enough for several cuts."""


def numbered(log: Iterable[PromptMessage]) -> Messages:
    """The log with each row's number as its `source`, so that a test finds the row in a request."""
    return tuple(replace(message, source=str(row)) for row, message in enumerate(log))


def row_of(message: PromptMessage) -> int | None:
    """The row of a request's message; None for a message that the plan made."""
    return None if message.source is None else int(message.source)


def a_context(
    settings: Settings,
    budget: Budget,
    log: Iterable[PromptMessage] = (),
    projections: Projections | None = None,
) -> ChatContext:
    return ChatContext(settings, budget, OURS, TOOLS, log, projections)


def plan_of(context: ChatContext, tail: Tail | None = None) -> Plan | None:
    """The plan, or None where a plan may be refused. Any other exception fails the test."""
    try:
        return context.plan(tail)
    except (InvalidRequest, ContextOverflow):
        return None


def planned(log: Iterable[PromptMessage], settings: Settings, budget: Budget) -> Plan | None:
    """The first plan of a new chat with this log."""
    return plan_of(a_context(settings, budget, log))


@dataclass(frozen=True)
class Request:
    """One request of a running chat: the log that it was planned from, and what was committed
    before and after."""

    log: Messages
    plan: Plan
    before: Projections
    after: Projections

    @property
    def messages(self) -> Messages:
        return self.plan.messages

    @property
    def asked(self) -> int:
        """The row of the last user message."""
        return max(row for row, message in enumerate(self.log) if message.role == "user")


TailOf = Callable[[ChatContext], Tail | None]


def requests(
    log: Messages,
    settings: Settings,
    budget: Budget,
    context: ChatContext | None = None,
    tail_of: TailOf = lambda context: None,
) -> Iterator[Request]:
    """The requests of a chat that runs through the log: one before each assistant message, and one
    at its end."""
    context = a_context(settings, budget) if context is None else context
    log = numbered(log)
    for row in range(len(log) + 1):
        if row == len(log) or log[row].role == "assistant":
            before = context.projections
            plan = plan_of(context, tail_of(context))
            if plan is not None:
                yield Request(log[:row], plan, before, context.projections)
        if row < len(log):
            context.append(log[row])


def body_of(messages: Iterable[PromptMessage]) -> list[dict[str, Any]]:
    return [to_openai(message) for message in messages]


def text_of(messages: Iterable[PromptMessage]) -> str:
    """The JSON that a provider would get."""
    return json.dumps(body_of(messages), ensure_ascii=False, allow_nan=False)


def strict_faults(body: Sequence[Mapping[str, Any]], *, alternation: bool = False) -> list[str]:
    """The faults that a strict provider would find in `messages`; written apart from the
    validator."""
    found = []
    ids: set[str] = set()
    position = 0
    while position < len(body):
        message = body[position]
        role, content = message["role"], message["content"]
        if role == "tool":
            found.append(f"{position}: a result on its own")
        if role in ("user", "system") and not content:
            found.append(f"{position}: nothing in it")
        if role == "assistant" and not content and not message.get("tool_calls"):
            found.append(f"{position}: nothing in it")
        calls = [call["id"] for call in message.get("tool_calls", [])]
        if ids & set(calls) or len(set(calls)) < len(calls):
            found.append(f"{position}: an id used twice")
        ids.update(calls)
        answers = body[position + 1 : position + 1 + len(calls)]
        if [item.get("tool_call_id") for item in answers] != calls:
            found.append(f"{position}: calls and results differ")
        position += 1 + len(calls)
    if alternation:
        found.extend(_turn_faults(body))
    return found


def _turn_faults(body: Sequence[Mapping[str, Any]]) -> list[str]:
    found = []
    turns = [item["role"] for item in body if item["role"] != "tool"]
    talk = turns[1:] if turns[:1] == ["system"] else turns
    if talk[:1] != ["user"]:
        found.append("the user does not begin")
    if "system" in talk:
        found.append("a system message within")
    # An answer may follow an answer only when results stand between them.
    for before, after in pairwise(body):
        if before["role"] == after["role"] != "tool":
            found.append(f"two messages of {after['role']} in a row")
    return found


def drafted(
    request: Request, projections: Projections, settings: Settings, budget: Budget
) -> Draft:
    """The request that these projections give without a new commitment."""
    ours = CountedMessage.of("system", OURS.text)
    taken = schema_tokens(schema_text(TOOLS), budget.count)
    limits = limits_of(settings, budget, taken, ours.tokens)
    summary = None
    if projections.summary is not None:
        text = summary_text(projections.summary, projections.summary_tokens)
        summary = CountedMessage.of("user", text)
    reducer = GroupReducer(limits.fidelity)
    return compose(ChatLog(request.log), projections, ours, summary, limits, reducer)
