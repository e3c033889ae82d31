"""An older view of the same thing becomes a line where a newer one is sent (R18)."""

import json

from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.plan import Budget, Plan
from plugin.assistant.context.tool_facts import Shown, ToolFacts
from plugin.assistant.messages.prompt import ToolCall

from .histories import Messages, a_round, user

SETTINGS = Settings(tool_result_keep_last_rounds=0)
WIDE = Budget.of_messages(100_000)
VIEW = "#1 KSampler seed={}\n" * 40


def shows(call: ToolCall, text: str) -> Shown | None:
    """Views name their thing and their rank in the first line."""
    thing, _, rank = text.partition("\n")[0].partition(" rank ")
    return Shown(thing, int(rank)) if rank else None


FACTS = ToolFacts(recall="recall_result", shows=shows)


def view(thing: str, rank: int, seed: int) -> str:
    return f"{thing} rank {rank}\n{VIEW.format(*[seed] * 40)}"


def plan(messages: Messages, settings: Settings = SETTINGS) -> Plan:
    return ChatContext(settings, WIDE, messages=messages, facts=FACTS).plan()


def results(made: Plan) -> list[str]:
    return [message.text for message in made.messages if message.role == "tool"]


def test_an_older_view_becomes_a_line_with_its_handle() -> None:
    old, new = view("w", 1, 7), view("w", 1, 8)
    first, second = results(plan((user(), *a_round("a", text=old), *a_round("b", text=new))))
    line = json.loads(first)
    assert line["_omitted"] and "newer" in line["note"] and line["handle"] == "r2"
    assert second == new
    context = ChatContext(SETTINGS, WIDE, messages=(user(), *a_round("a", text=old)), facts=FACTS)
    assert context.recall("r2") == old


def test_a_view_is_sent_as_long_as_no_newer_one_shows_as_much() -> None:
    for newer in (view("other", 1, 8), view("w", 0, 8), "w is gone " * 80):
        messages = (user(), *a_round("a", text=view("w", 1, 7)), *a_round("b", text=newer))
        assert results(plan(messages)) == [view("w", 1, 7), newer]


def test_a_larger_view_takes_the_place_of_a_smaller_one() -> None:
    messages = (
        user(),
        *a_round("a", text=view("w", 0, 7)),
        *a_round("b", text=view("w", 2, 7)),
        *a_round("c", text=view("w", 0, 8)),
    )
    texts = results(plan(messages))
    assert [text.startswith('{"_omitted"') for text in texts] == [True, False, False]


def test_where_prompts_are_cached_nothing_that_was_sent_changes() -> None:
    cached = Settings(prompt_cache="auto")
    messages = (user(), *a_round("a", text=view("w", 1, 7)), *a_round("b", text=view("w", 1, 8)))
    assert results(plan(messages, cached)) == [view("w", 1, 7), view("w", 1, 8)]


def test_planning_again_gives_the_same_messages() -> None:
    messages = (user(), *a_round("a", text=view("w", 1, 7)), *a_round("b", text=view("w", 1, 8)))
    context = ChatContext(SETTINGS, WIDE, messages=messages, facts=FACTS)
    assert context.plan().messages == context.plan().messages
