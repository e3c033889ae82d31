"""Histories for the tests of the context: short ones by hand, random ones by hypothesis."""

import json
from collections.abc import Iterable
from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from plugin.assistant.messages.prompt import (
    ImageContent,
    PromptMessage,
    PromptRole,
    TextContent,
    ToolCall,
)

Messages = tuple[PromptMessage, ...]

law = settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""Settings of hypothesis for properties."""
chat_law = settings(law, max_examples=30)
"""Settings for properties of a whole chat, which each example plans dozens of times."""


def system(text: str = "You help.") -> PromptMessage:
    return PromptMessage("system", text)


def user(text: str = "What is this?", *, skill_chars: int = 0) -> PromptMessage:
    return PromptMessage("user", text, skill_chars=skill_chars)


def answer(text: str = "A workflow.") -> PromptMessage:
    return PromptMessage("assistant", text)


def calling(*ids: str, text: str = "", name: str = "getUserSkill") -> PromptMessage:
    return PromptMessage("assistant", text, tuple(ToolCall(identity, name) for identity in ids))


def result(identity: str, text: str = "{}", *, failed: bool = False) -> PromptMessage:
    return PromptMessage("tool", text, tool_call_id=identity, failed=failed)


def a_round(*ids: str, text: str = "{}") -> Messages:
    """A call for each id, and their results."""
    return (calling(*ids), *(result(identity, text) for identity in ids))


def rounds(count: int, text: str = "{}") -> Messages:
    """`count` rounds of one call each, with ids c0, c1, ..."""
    return joined(a_round(f"c{number}", text=text) for number in range(count))


def joined(parts: Iterable[Messages]) -> Messages:
    return tuple(message for part in parts for message in part)


def with_repeats(turns: int, seed: int) -> Messages:
    """A log with three long texts as results, one of them a failure, in which the user activates
    one skill again and again."""
    random = Random(seed)
    skill = '[The user activated the skill "moon" (`moon`).]\n\n' + "Draw it. " * 60
    activated = user(skill.rstrip(), skill_chars=len(skill.rstrip()))
    asking = replace(activated, content=f"{activated.text}\n\n[The user's message]\n\nmore")
    texts = ("a view of the workflow " * 30, json.dumps({"rows": ["word " * 90] * 3}))
    failure = json.dumps({"error": "Value not in list. " * 30})
    return joined(
        (
            random.choice((activated, asking, user(f"q{turn}"))),
            *(
                message
                for number in range(random.randint(1, 3))
                for message in a_round(
                    *(f"c{turn}-{number}-{n}" for n in range(random.randint(1, 3))),
                    text=random.choice((*texts, failure)),
                )
            ),
            answer(f"done {turn}"),
        )
        for turn in range(turns)
    )


# There are few ids, so that they collide; the texts have characters of all planes, and lone
# surrogates.
IDS = st.sampled_from(["a", "b", "c", "call_0", "call_1", "call-2", "a-2", ""])
CHARACTERS = st.characters(exclude_categories=())
GIANTS = st.builds(
    lambda piece, count: piece * count,
    st.sampled_from(["x", "word ", "é", "图", "\U0001f600", '{"a":1}', "\n"]),
    st.integers(500, 9_000),
)
TEXTS = st.one_of(st.text(CHARACTERS, max_size=40), GIANTS)
JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: (
        st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=20), inner, max_size=8)
    ),
    max_leaves=25,
)
CONTENT_PARTS = st.one_of(
    st.builds(TextContent, st.text(CHARACTERS, max_size=20)),
    st.just(ImageContent("data:image/png;base64,AAAA")),
)
CONTENTS = st.one_of(TEXTS, st.lists(CONTENT_PARTS, max_size=3).map(tuple))
CALLS = st.lists(
    st.builds(ToolCall, IDS, st.sampled_from(["getWorkflowInfo", "x"]), st.just('{"slug":"a"}')),
    max_size=5,
).map(tuple)


def _plain(role: PromptRole) -> st.SearchStrategy[PromptMessage]:
    return st.builds(PromptMessage, st.just(role), CONTENTS)


PROMPT_MESSAGES = st.one_of(
    _plain("user"),
    st.builds(PromptMessage, st.just("system"), st.sampled_from(["", "Be brief."])),
    st.builds(PromptMessage, st.just("assistant"), TEXTS, CALLS),
    st.builds(
        PromptMessage,
        st.just("tool"),
        TEXTS,
        tool_call_id=IDS | st.none(),
        failed=st.booleans(),
    ),
)


@st.composite
def _round(draw: st.DrawFn) -> Messages:
    """An assistant message with one or more calls, and most of the results, in any order."""
    calls = draw(CALLS.filter(bool))
    results = [
        PromptMessage("tool", draw(TEXTS), tool_call_id=call.id, failed=draw(st.booleans()))
        for call in calls
    ]
    kept = draw(st.permutations(results))[: draw(st.integers(len(results) - 1, len(results)))]
    return (PromptMessage("assistant", draw(st.text(max_size=5)), calls), *kept)


ASKING = st.builds(PromptMessage, st.just("user"), st.text(CHARACTERS, min_size=1, max_size=9))
SINGLE = PROMPT_MESSAGES.map(lambda message: (message,))
ANSWERING = SINGLE.filter(lambda block: block[0].role != "user")
BLOCKS = st.one_of(_round(), _round(), _round(), ASKING.map(lambda message: (message,)), SINGLE)
ORDERLY = st.builds(
    lambda before, asked, after: (*joined(before), asked, *joined(after)),
    st.lists(BLOCKS, max_size=7),
    ASKING,
    st.lists(st.one_of(_round(), _round(), ANSWERING), max_size=5),
)
HISTORIES = st.one_of(ORDERLY, ORDERLY, ORDERLY, st.lists(PROMPT_MESSAGES, max_size=9).map(tuple))
"""Logs with any fault: results without calls, calls without results, ids used twice, any system
message."""
