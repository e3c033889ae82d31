"""What a turn is given of the user's memories, and what is never sent (R43, R45, R48)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.context.notes import MEMORIES
from plugin.assistant.memory.memory import SUMMARY, Memory, Source, Statement
from plugin.assistant.memory.store import MemoryStore
from plugin.assistant.turn.remembered import CORE_HEADING
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call

AUTO = {"LLM_PROMPT_CACHE": "auto"}
SIZE = "I always want 4:5 portraits"
GPU = "My GPU has 12 GB"


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as running:
        yield running


def store_of(chat: Chatting, user: str = "default") -> MemoryStore:
    return chat.assistant.space_of(user).memories


async def keep(chat: Chatting, *texts: str, **more: Any) -> list[Memory]:
    store = store_of(chat)
    return [(await store.keep(Statement(text, **more))).memory for text in texts]


def contents(chat: Chatting, request: int = -1) -> list[str]:
    return [str(m["content"]) for m in chat.provider.requests[request].messages]


def note(chat: Chatting, request: int = -1) -> str:
    """The note of memories in a request; empty without one."""
    found = [text for text in contents(chat, request) if text.startswith(MEMORIES.heading)]
    assert len(found) <= 1
    return found[0] if found else ""


def count(chat: Chatting, words: str) -> int:
    return sum(text.count(words) for text in contents(chat))


async def ask(chat: Chatting, text: str, name: str = "c1") -> Any:
    chat.provider.queue("Fine.")
    return await chat.say(text, name)


async def test_a_new_chat_knows_what_was_said_in_another(chat: Chatting) -> None:
    size, gpu = await keep(chat, SIZE, GPU)
    stream = await ask(chat, "Which size should I use for portraits?")
    assert SIZE in note(chat)
    assert contents(chat)[-1] == "Which size should I use for portraits?"
    assert stream.message.metadata["memories"] == [gpu.id, size.id]
    stored = {memory.id: memory for memory in await store_of(chat).all()}
    assert (stored[size.id].uses, stored[gpu.id].uses) == (1, 0)
    assert stored[size.id].used is not None


async def test_core_memories_stand_at_the_head_of_the_note(chat: Chatting) -> None:
    await keep(chat, GPU)
    await keep(chat, "I hate purple", pinned=True)
    await ask(chat, "Hello there")
    lines = note(chat).splitlines()
    assert lines[3] == CORE_HEADING
    assert lines[4].startswith("- I hate purple (")
    assert lines[5].startswith(f"- {GPU} (")


async def test_core_memories_stand_in_the_system_message_where_prompts_are_cached(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path, AUTO) as chat:
        await chat.counted()
        (gpu,) = await keep(chat, GPU)
        stream = await ask(chat, "Hello there")
        first = contents(chat)[0]
        assert CORE_HEADING in first.partition("# USER CONTEXT")[2]
        assert count(chat, GPU) == 1
        assert stream.message.metadata["memories"] == [gpu.id]
        await keep(chat, SIZE, pinned=True)
        await ask(chat, "Hello again")
        assert contents(chat)[0] == first
        last = (await chat.stored())["messages"][-1]["id"]
        made = await chat.client.post("/api/chats/c1/branch", json={"message_id": last})
        branch = (await made.json())["id"]
        await ask(chat, "And here", branch)
        assert contents(chat)[0] == first
        await ask(chat, "Hello there", "c3")
        assert SIZE in contents(chat)[0]
        await chat.idle()
    async with chatting(tmp_path, AUTO) as again:
        again.provider.queue("Fine.")
        await again.post({"id": "c1", "message": {**again.user("Still?"), "id": "later"}})
        assert contents(again)[0] == first


async def test_what_is_deleted_leaves_the_core_at_once(tmp_path: Path) -> None:
    async with chatting(tmp_path, AUTO) as chat:
        gpu, _ = await keep(chat, GPU, SIZE)
        await ask(chat, "Hello there")
        await store_of(chat).delete([gpu.id])
        await ask(chat, "Hello again")
        assert count(chat, GPU) == 0
        assert count(chat, SIZE) == 1
        await keep(chat, "I always want 3:2 portraits")
        await ask(chat, "Once more")
        assert count(chat, SIZE) == 0


@pytest.mark.parametrize("environ", [{}, AUTO], ids=["none", "auto"])
async def test_what_is_deleted_in_the_middle_of_a_turn_is_not_sent_again(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    async with chatting(tmp_path, environ) as chat:
        gpu, _ = await keep(chat, GPU, SIZE)
        chat.provider.queue(Script([{"wait": "here"}, tool_call("listUserSkills")]), "Fine.")
        async with chat.client.post(
            "/api/chat", json={"id": "c1", "message": chat.user("How much GPU memory?")}
        ) as response:
            await chat.provider.reached("here")
            assert count(chat, GPU) == 1
            await store_of(chat).delete([gpu.id])
            chat.provider.release("here")
            await response.read()
        assert len(chat.provider.requests) == 2
        assert count(chat, GPU) == 0
        assert count(chat, SIZE) == 1


async def test_the_note_is_the_same_for_the_whole_turn(chat: Chatting) -> None:
    await keep(chat, SIZE)
    chat.provider.queue(Script([{"wait": "here"}, tool_call("listUserSkills")]), "Fine.")
    async with chat.client.post(
        "/api/chat", json={"id": "c1", "message": chat.user("Which portraits?")}
    ) as response:
        await chat.provider.reached("here")
        await keep(chat, "Portraits are for my sister's shop")
        chat.provider.release("here")
        await response.read()
    assert note(chat, 0) == note(chat, 1) != ""


async def test_nothing_stands_twice_in_a_request(chat: Chatting) -> None:
    await keep(chat, SIZE, "I want 4:5 portraits on weekends only, please")
    await ask(chat, f"Remember: {SIZE}, as I said.")
    assert count(chat, SIZE) == 1
    await chat.client.post("/api/user-context/rules", json={"text": GPU})
    await store_of(chat).keep(Statement(GPU))
    await ask(chat, "How big is my GPU?", "c2")
    assert count(chat, GPU) == 1


@pytest.mark.parametrize("environ", [{}, AUTO], ids=["none", "auto"])
async def test_what_the_summary_says_is_not_added(tmp_path: Path, environ: dict[str, str]) -> None:
    limits = {"LLM_HISTORY_MAX_MESSAGES": "8", "LLM_SUMMARY_MAX_MESSAGES": "8"}
    async with chatting(tmp_path, {**environ, **limits}) as chat:
        earlier = [
            {"id": f"{role}{turn}", "role": role, "parts": [{"type": "text", "text": words}]}
            for turn in range(8)
            for role, words in (("user", f"{SIZE} as number {turn}"), ("assistant", "Fine. " * 80))
        ]
        chat.provider.queue("Fine.")
        await chat.post({"id": "c1", "messages": [*earlier, chat.user("Go on")]})
        await keep(chat, SIZE)
        stream = await ask(chat, "Which size do portraits have?")
        assert count(chat, SIZE) >= 1
        assert "memories" not in stream.message.metadata


async def test_off_sends_nothing(chat: Chatting) -> None:
    await keep(chat, SIZE)
    await store_of(chat).set_mode("off")
    stream = await ask(chat, "Which portraits?")
    assert note(chat) == ""
    assert "memories" not in stream.message.metadata


async def test_at_most_as_many_memories_as_the_setting_allows(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"ASSISTANT_MEMORY_LIMIT": "3"}) as chat:
        words = "amber birch copper dusk ember frost".split()
        await keep(chat, *(f"Portraits of {word} need a {word} light" for word in words))
        stream = await ask(chat, "Which light do portraits need?")
        assert len(stream.message.metadata["memories"]) == 3
        assert note(chat).count("need a") == 3


async def test_a_chat_has_no_memory_of_its_own_summary(chat: Chatting) -> None:
    store = store_of(chat)
    await store.summarise("c1", "A fox in the snow was painted for the shop.")
    await ask(chat, "What about the fox in the snow?")
    assert note(chat) == ""
    await ask(chat, "What about the fox in the snow?", "c2")
    assert "- In another chat: A fox in the snow" in note(chat)
    assert {memory.kind for memory in await store.all()} == {SUMMARY}


async def test_memories_are_chosen_by_what_the_workflow_names(chat: Chatting) -> None:
    loader = {
        "id": 1,
        "type": "UNETLoader",
        "widgets_values": ["flux1-dev.safetensors", "default"],
    }
    for number in range(6):
        await keep(chat, f"Topic {'abcdef'[number]}{number} is done", pinned=True)
    await keep(
        chat, "For Flux I use 28 steps", source=Source("c9", "u1", "For Flux I use 28 steps")
    )
    chat.provider.queue("Fine.")
    workflow = {"id": "w", "name": "w", "graph": {"nodes": [loader], "links": []}}
    await chat.say("Make it sharper now", workflow=workflow)
    assert "For Flux I use 28 steps" in note(chat)
    await ask(chat, "Make it sharper now", "c2")
    assert "For Flux" not in note(chat)
