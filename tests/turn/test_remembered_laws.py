"""Laws of the memories in a request: nothing that is gone, nothing twice, within the caps, the same
bytes, and nothing of another user."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.notes import MEMORIES
from plugin.assistant.context.tail import fit
from plugin.assistant.memory.choice import line_of
from plugin.assistant.memory.known import Known
from plugin.assistant.memory.memory import Memory, Source
from plugin.assistant.memory.wording import plain
from plugin.assistant.messages.fences import plain_line
from plugin.assistant.turn.conversation import Conversation
from plugin.assistant.turn.remembered import core_text, forget, remember
from plugin.assistant.workflow.snapshot import Snapshot
from plugin.tests.chats.examples import answer, user
from plugin.tests.chatting import Chatting, chatting

WORDS = st.sampled_from("portrait fox snow gpu seed 42 12 warm light always size 狐狸 雪".split())
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
AGAIN = ("warm light", "warm light always", "Warm light!")
LONG = st.builds(lambda text, times: " ".join([text] * times), TEXTS, st.integers(1, 30))


@st.composite
def memories(draw: st.DrawFn) -> Known:
    texts = draw(st.lists(TEXTS | LONG | st.sampled_from(AGAIN), max_size=12))
    return Known(
        1,
        tuple(
            Memory(
                f"m{number}",
                "fact",
                text[:1_000],
                (),
                Source("c9", "u1", text[:1_000]),
                f"2026-11-{number + 1:02}T00:00:00",
                pinned=draw(st.booleans()),
            )
            for number, text in enumerate(texts)
        ),
    )


def without(known: Known, gone: frozenset[int], replaced: frozenset[int]) -> Known:
    """The memories after some were deleted, and others superseded."""
    left = (
        replace(memory, superseded_by="m99") if place in replaced else memory
        for place, memory in enumerate(known.memories)
        if place not in gone
    )
    return Known(2, tuple(left))


def begun(known: Known, said: Sequence[str], *, cached: bool) -> tuple[Conversation, str]:
    """A turn that has been given its memories, and its system message."""
    conversation = Conversation(Settings())
    path = [(answer if n % 2 else user)(f"m{n}", text) for n, text in enumerate(said)]
    conversation.feed_locked(path)
    system = core_text(conversation, known, 10, ["You help."]) if cached else ""
    remember(
        conversation,
        known,
        said[-1],
        Snapshot(),
        system="You help.\n" + system,
        most=10,
        cached=cached,
        chat_id="c1",
    )
    return conversation, system


def note(conversation: Conversation) -> str:
    found = [note.text for note in conversation.tail.notes if note.kind is MEMORIES]
    assert len(found) <= 1
    return found[0] if found else ""


SAID = st.lists(TEXTS, min_size=1, max_size=3).filter(lambda said: len(said) % 2 == 1)
PLACES = st.frozensets(st.integers(0, 11), max_size=6)


@settings(max_examples=80)
@given(memories(), SAID, PLACES, PLACES, st.booleans())
def test_nothing_deleted_or_superseded_is_sent(
    known: Known, said: list[str], gone: frozenset[int], replaced: frozenset[int], cached: bool
) -> None:
    conversation, _ = begun(known, said, cached=cached)
    left = without(known, gone, replaced)
    forget(conversation, left, cached=cached)
    system = core_text(conversation, left, 10, ["You help."]) if cached else ""
    sent = (note(conversation) + "\n" + system).splitlines()
    current = {
        plain_line(line_of(memory)) for memory in left.memories if memory.superseded_by is None
    }
    lines = [line for line in sent if line.startswith("- ")]
    assert set(lines) <= current


@settings(max_examples=80)
@given(memories(), SAID, st.booleans())
def test_nothing_stands_twice_and_the_same_bytes_come_again(
    known: Known, said: list[str], cached: bool
) -> None:
    conversation, system = begun(known, said, cached=cached)
    made = system + "\n" + note(conversation)
    lines = [line for line in made.splitlines() if line.startswith("- ")]
    assert len(lines) <= 10
    told = f" {' | '.join(map(plain, said))} "
    texts = {plain_line(line_of(memory)): memory.text for memory in known.current}
    for place, line in enumerate(lines):
        words = f" {plain(texts[line])} "
        assert words not in told
        assert not any(words in f" {plain(texts[before])} " for before in lines[:place])
    again, system_again = begun(replace(known), said, cached=cached)
    assert (note(again), system_again) == (note(conversation), system)


@settings(max_examples=80)
@given(memories(), TEXTS, st.integers(0, 3_000))
def test_the_note_has_at_most_400_tokens_of_the_tail(known: Known, text: str, budget: int) -> None:
    conversation, _ = begun(known, [text], cached=False)
    notes = tuple(note for note in conversation.tail.notes if note.kind is MEMORIES)
    for sent in fit(notes, budget):
        assert sent.tokens <= min(400, budget)


STEPS = st.lists(
    st.tuples(st.sampled_from(["keep", "keep", "delete", "restore"]), st.booleans(), TEXTS),
    min_size=1,
    max_size=8,
)
USERS = {"Ada": "ada's", "ada": "other's"}
"""Users whose folders differ in a letter's case, and the word that marks what is theirs."""


@settings(max_examples=8)
@given(STEPS)
def test_a_user_never_sees_anothers(steps: list[tuple[str, bool, str]]) -> None:
    """Two users of one installation keep, delete and restore by turns, then each asks a model."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asyncio.run(_play(Path(folder), steps))


async def _play(folder: Path, steps: list[tuple[str, bool, str]]) -> None:
    first, second = USERS
    made: dict[str, list[str]] = {first: [], second: []}
    async with chatting(folder) as chat:
        for kind, is_first, text in steps:
            user_id = first if is_first else second
            await _step(chat, user_id, kind, f"{USERS[user_id]} {text}", made[user_id])
        for user_id in USERS:
            other = second if user_id == first else first
            headers = {"Comfy-User": user_id}
            for url in ("/api/memories", "/api/memories?q=portrait+fox", "/api/memories/export"):
                async with chat.client.get(url, headers=headers) as response:
                    assert USERS[other] not in await response.text()
            chat.provider.queue("Fine.")
            body = {"id": "c1", "message": chat.user("Which portrait, fox, snow, gpu, seed?")}
            async with chat.client.post("/api/chat", json=body, headers=headers) as response:
                await response.read()
            sent = json.dumps(chat.provider.requests[-1].body)
            assert USERS[other] not in sent
            for identity in made[other]:
                url = f"/api/memories/{identity}"
                assert (await chat.client.delete(url, headers=headers)).status == 404
                assert (await chat.client.post(f"{url}/restore", headers=headers)).status == 404


async def _step(chat: Chatting, user_id: str, kind: str, text: str, made: list[str]) -> None:
    headers = {"Comfy-User": user_id}
    if kind == "keep":
        answer = await chat.client.post("/api/memories", json={"text": text}, headers=headers)
        if answer.status == 201:
            made.append((await answer.json())["id"])
    elif made and kind == "delete":
        await chat.client.delete(f"/api/memories/{made[-1]}", headers=headers)
    elif made:
        await chat.client.post(f"/api/memories/{made[-1]}/restore", headers=headers)
