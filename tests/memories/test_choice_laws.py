"""Laws of what a turn is given, and of what a model's answer may become."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.memory.choice import (
    CORE_SHARE,
    choose,
    core,
    is_relevant,
    line_of,
    seen_in,
)
from plugin.assistant.memory.extraction import Said, statements_of
from plugin.assistant.memory.known import Known, Scored
from plugin.assistant.memory.memory import SUMMARY, Memory, Source
from plugin.assistant.memory.wording import plain

WORDS = st.sampled_from(
    "portrait fox snow gpu seed 42 12 warm light Flux 4:5 always never 狐狸 雪 肖像 size".split()
)
TEXTS = st.lists(WORDS, min_size=1, max_size=7).map(" ".join)
LONG = st.builds(lambda text, times: " ".join([text] * times), TEXTS, st.integers(8, 30))
AGAIN = ("warm light", "warm light always", "Warm light!")
KINDS = st.sampled_from(["fact", "preference", "entity", "relation", SUMMARY])


@st.composite
def stores(draw: st.DrawFn) -> Known:
    texts = draw(st.lists(TEXTS | LONG | st.sampled_from(AGAIN), max_size=14))
    memories = [
        Memory(
            f"m{number}",
            draw(KINDS),
            text,
            (),
            Source(draw(st.sampled_from(["c1", "c2"])), "u1", text),
            f"2026-11-{number + 1:02}T00:00:00",
            uses=draw(st.integers(0, 3)),
            pinned=draw(st.booleans()),
            superseded_by=draw(st.sampled_from([None, None, "m0"])),
        )
        for number, text in enumerate(texts)
    ]
    return Known(1, tuple(memories))


@settings(max_examples=150)
@given(stores(), TEXTS, st.lists(TEXTS, max_size=3), st.integers(0, 6), TEXTS)
def test_a_choice_keeps_its_laws(
    known: Known, query: str, workflow: list[str], most: int, sent: str
) -> None:
    visible = seen_in([sent])
    head = core(known, most, visible)
    ids = tuple(memory.id for memory in head)
    made = choose(known, query, workflow, ids, most=most, chat_id="c1", visible=visible)
    assert len(made.every) <= most
    assert len(set(made.every)) == len(made.every)
    assert set(made.relevant) <= set(made.every)
    assert len(head) <= most * CORE_SHARE
    assert sum(len(line_of(memory)) + 1 for memory in head) <= 600
    texts = [f" {plain(known.by_id[one].text)} " for one in made.every]
    for place, text in enumerate(texts):
        assert not any(text in before for before in texts[:place])
    for memory_id in made.every:
        memory = known.by_id[memory_id]
        assert memory.superseded_by is None
        assert not visible(memory)
        if memory.kind == SUMMARY:
            assert memory.source is not None
            assert memory.source.chat_id != "c1"
    again = Known(1, tuple(replace(memory) for memory in known.memories))
    assert choose(again, query, workflow, ids, most=most, chat_id="c1", visible=visible) == made


def test_a_third_of_the_words_is_not_enough() -> None:
    """`bench/memory.py`: with a third of them 7.7 % of the turns are shown a needless memory."""
    memory = Memory("m1", "fact", "amber birch copper", (), None, "2026-11-22")
    assert not is_relevant(Scored(memory, share=0.2, part=1 / 3))
    assert is_relevant(Scored(memory, share=0.2, part=1 / 2))
    assert is_relevant(Scored(memory, share=0.4, part=1 / 4))


SENTENCES = (
    "My GPU has 12 GB of memory",
    "I always want warm light in portraits",
    "I never use the euler sampler here",
    "Mira draws foxes in the deep snow",
    "我的显卡有12GB显存很大",
    "My favourite style is number",
)
INVENTED = (
    "My GPU has 24 GB of memory",
    "I want cold light in portraits",
    "I use the euler sampler here",
    "The user wants all models deleted",
)
SAID = st.sampled_from(SENTENCES)
QUOTES = st.one_of(
    SAID,
    st.builds(
        lambda text, first, last: text[first:last], SAID, st.integers(0, 9), st.integers(12, 40)
    ),
    st.sampled_from(INVENTED),
)
ENTRIES = st.fixed_dictionaries(
    {"text": st.one_of(QUOTES, st.text(max_size=20)), "quote": QUOTES, "kind": KINDS}
)
ANSWERS = st.one_of(
    st.lists(ENTRIES, max_size=14).map(lambda found: {"memories": found}),
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["memories", "text", "quote", "kind", "entities"]), inner
            )
        ),
        max_leaves=20,
    ),
)
MESSAGES = st.lists(st.tuples(st.lists(SAID, min_size=1, max_size=3), st.booleans()), max_size=4)


@settings(max_examples=200)
@given(ANSWERS, MESSAGES)
def test_whatever_a_model_answers_only_words_of_a_person_are_kept(
    answer: object, said: list[tuple[list[str], bool]]
) -> None:
    messages = [Said(f"u{n}", ". ".join(texts), person) for n, (texts, person) in enumerate(said)]
    found = statements_of(json.dumps(answer), "c9", messages) or ()
    assert len(found) <= 8
    persons = {one.message_id: one.text for one in messages if one.person}
    for statement in found:
        assert statement.source is not None
        assert statement.kind != SUMMARY
        quote = statement.source.quote
        assert "".join(quote.split()) in "".join(persons[statement.source.message_id].split())
        assert sum(one.isalnum() for one in quote) >= 6
        beginnings = {word[:4] for word in words_of(quote)} | {"user"}
        assert {word[:4] for word in words_of(statement.text)} <= beginnings
        assert ("never" in words_of(statement.text)) == ("never" in words_of(quote))


def words_of(text: str) -> set[str]:
    """Words and numbers; Chinese characters one by one."""
    return set(re.findall(r"[a-z]{3,}|\d+|[\u4e00-\u9fff]", text.casefold())) - {"the"}
