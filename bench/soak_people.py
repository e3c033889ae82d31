"""The people of `soak.py`: each has one chat at a time and sends it turns, and checks the answers.

When a chat has as many messages as its person wants, it is read from the server, all of its answers
are compared with what the model said, and the person begins a new chat. The first chats end at
different lengths, so that from then on chats of all lengths are in use at any time.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, Literal

import aiohttp
import openai

from .soak_provider import Task
from .soak_readers import Chat, Reading, events_of, text_of

Kind = Literal["plain", "tools", "abort", "rejoin"]
SHARES: Final[Mapping[Kind, float]] = {"plain": 0.5, "tools": 0.3, "abort": 0.1, "rejoin": 0.1}
MOST_ROUNDS = 4
MOST_WORDS = 60
WORD_SECONDS = 0.01
LONG_WORDS, LONG_WORD_SECONDS = 120, 0.02
"""The answer that is stopped, or whose reader leaves: 2.4 seconds."""
LONGEST_TURN_SECONDS = 120.0
TRIES, TRY_SECONDS = 200, 0.05
"""How often, and how long apart, a refused message is sent again: a turn may still end."""
PAGE = 200
FIRST_CHUNKS = ("text-delta", "tool-input-start", "reasoning-delta")
PROSE = "Why is my picture black, and what does the sampler say about the steps? " * 3


@dataclass(frozen=True, slots=True)
class FirstChunk:
    """When a request was sent (seconds since the soak began), and the milliseconds to the first
    chunk of the model's answer."""

    at: float
    ms: float
    bare: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as its client saw it. `text` is what was read of the answer `message_id`."""

    user: str
    task: Task
    kind: Kind
    message_id: str | None
    text: str
    ended: bool


@dataclass
class Record:
    """What all people met. `wrong` has a sentence for each answer or event that was lost, came
    twice or is not what the model said."""

    turns: Counter[str] = field(default_factory=Counter)
    first_chunks: list[FirstChunk] = field(default_factory=list)
    checked: int = 0
    chats: int = 0
    refused: int = 0
    lengths: dict[int, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how a soak runs: `url` of the API, `began` on the clock of `time.perf_counter`;
    `pace` is the mean pause between two turns of a person, in seconds, `messages` the length at
    which a chat is left, and `people` their number."""

    url: str
    provider: str
    began: float
    pace: float
    messages: int
    people: int

    @property
    def now(self) -> float:
        return time.perf_counter() - self.began


class Person:
    """Person `number` of the soak."""

    def __init__(
        self, place: Place, number: int, record: Record, client: aiohttp.ClientSession
    ) -> None:
        self._place = place
        self._number = number
        self._record = record
        self._client = client
        self._bare = openai.AsyncOpenAI(base_url=place.provider, api_key="soak", max_retries=0)
        self._pick = Random(number)
        self._chats = 0
        self._turns = 0
        self._said: list[Said] = []
        self._until = place.messages * (number + 1) // place.people
        self.chat = Chat("")
        self.ready = asyncio.Event()

    async def live(self, seconds: float) -> None:
        """Sends turns until `seconds` after the soak's begin; then the last chat is checked."""
        await asyncio.sleep(self._pick.uniform(0, self._place.pace))
        await self._begin()
        while self._place.now < seconds:
            await self._guarded(self._turn)
            await self._guarded(self._ask_bare)
            if 2 * len(self._said) >= self._until:
                await self._leave()
                await self._begin()
            pause = self._pick.expovariate(1 / self._place.pace)
            await asyncio.sleep(max(0.0, min(pause, seconds - self._place.now)))
        await self._leave()
        await self._bare.close()

    async def _guarded(self, step: Callable[[], Awaitable[None]]) -> None:
        try:
            await asyncio.wait_for(step(), LONGEST_TURN_SECONDS)
        except Exception as error:  # A soak goes on, and says at its end what failed.
            self._record.wrong.append(f"{self.chat.id}: {type(error).__name__}: {error}")

    async def _begin(self) -> None:
        self.chat = Chat(f"soak-{self._number}-{self._chats}")
        self._said = []
        self._chats += 1
        self._record.chats += 1
        async with self._client.post(
            f"{self._place.url}/chats", json={"id": self.chat.id}
        ) as response:
            response.raise_for_status()
        self.ready.set()

    async def _leave(self) -> None:
        """Checks the chat and leaves it; its readers go on to the next."""
        self.chat.left = True
        self.ready.clear()
        await self._guarded(self._check)
        self._until = self._place.messages

    async def _turn(self) -> None:
        kind = self._pick.choices(list(SHARES), list(SHARES.values()))[0]
        self._turns += 1
        said = await self._say(self._task(kind), kind)
        self._said.append(said)
        self._record.turns[kind] += 1
        self._record.lengths[self._number] = 2 * len(self._said)

    def _task(self, kind: Kind) -> Task:
        name = f"{self._number}-{self._turns}"
        if kind in ("abort", "rejoin"):
            return Task(name, 0, LONG_WORDS, LONG_WORD_SECONDS)
        rounds = self._pick.randint(1, MOST_ROUNDS) if kind == "tools" else 0
        return Task(name, rounds, self._pick.randint(5, MOST_WORDS), WORD_SECONDS)

    async def _say(self, task: Task, kind: Kind) -> Said:
        """One turn; where the client leaves on purpose it joins the turn again."""
        user = f"u{task.name}"
        parts = [{"type": "text", "text": f"{task.mark} {PROSE}"}]
        body = {"id": self.chat.id, "message": {"id": user, "role": "user", "parts": parts}}
        leaves_after = self._pick.randint(5, LONG_WORDS // 2)
        for _ in range(TRIES):
            started = time.perf_counter()
            async with self._client.post(f"{self._place.url}/chat", json=body) as response:
                if response.status == 409:
                    self._record.refused += 1
                    await asyncio.sleep(TRY_SECONDS)
                    continue
                if response.status != 200:
                    raise ValueError(f"{response.status} {await response.text()}")
                reading = _Answer(started, started - self._place.began)
                await reading.read(response, self._interruption(kind, leaves_after))
                if reading.first.ms:
                    self._record.first_chunks.append(reading.first)
            if kind == "rejoin":
                reading = await self._rejoin(reading)
            return Said(user, task, kind, reading.message_id, reading.text, reading.ended)
        raise ValueError(f"refused {TRIES} times")

    def _interruption(self, kind: Kind, after: int) -> Callable[[int], Awaitable[bool]]:
        """What the person does after each chunk: True to leave the answer."""

        async def interrupt(deltas: int) -> bool:
            if deltas != after or kind not in ("abort", "rejoin"):
                return False
            if kind == "rejoin":
                return True
            url = f"{self._place.url}/chats/{self.chat.id}/commands"
            async with self._client.post(url, json={"type": "abort"}) as response:
                if response.status != 202:
                    raise ValueError(f"abort: {response.status} {await response.text()}")
            return False

        return interrupt

    async def _rejoin(self, before: _Answer) -> _Answer:
        """Reads the running turn from its beginning, after a pause."""
        await asyncio.sleep(self._pick.uniform(0, 1))
        url = f"{self._place.url}/chat/{self.chat.id}/stream"
        async with self._client.get(url) as response:
            if response.status == 204:  # It has ended meanwhile; the stored answer is checked.
                return before
            again = _Answer(time.perf_counter(), self._place.now)
            await again.read(response)
            return again

    async def _ask_bare(self) -> None:
        """The same request without the assistant: the measure of what the machine can do now."""
        task = Task(f"bare-{self._number}-{self._turns}", 0, 5)
        started = time.perf_counter()
        stream = await self._bare.chat.completions.create(
            model="soak",
            messages=[{"role": "user", "content": f"{task.mark} {PROSE}"}],
            stream=True,
        )
        first = 0.0
        async for chunk in stream:
            if not first and chunk.choices and chunk.choices[0].delta.content:
                first = time.perf_counter()
        at = started - self._place.began
        self._record.first_chunks.append(FirstChunk(at, (first - started) * 1000, True))

    async def _check(self) -> None:
        """Compares the stored chat with what was asked and answered."""
        wrong = faults_of(await self._stored(), self._said, self.chat)
        self._record.wrong += [f"{self.chat.id}: {fault}" for fault in wrong]
        self._record.checked += len(self._said)

    async def _stored(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        query = {"limit": str(PAGE)}
        while True:
            url = f"{self._place.url}/chats/{self.chat.id}"
            async with self._client.get(url, params=query) as response:
                response.raise_for_status()
                page = await response.json()
            messages = page["messages"] + messages
            if not page["has_more"]:
                return messages
            query["before"] = messages[0]["id"]


class _Answer:
    """An answer that is read from a stream. `started` is when it was asked for, on the clock of
    `time.perf_counter`, and `at` the same in seconds since the soak began."""

    def __init__(self, started: float, at: float) -> None:
        self.message_id: str | None = None
        self.text = ""
        self.ended = False
        self.first = FirstChunk(at, 0.0, False)
        self._started = started

    async def read(
        self,
        response: aiohttp.ClientResponse,
        interrupt: Callable[[int], Awaitable[bool]] | None = None,
    ) -> None:
        """Reads until `[DONE]`, or until `interrupt`, which gets the number of text deltas so far,
        is true."""
        deltas = 0
        async for chunk in events_of(response):
            if chunk is None:
                continue
            kind = chunk["type"]
            if kind == "start":
                self.message_id = chunk["messageId"]
            elif kind == "finish":
                self.ended = True
            if kind in FIRST_CHUNKS and not self.first.ms:
                spent = time.perf_counter() - self._started
                self.first = FirstChunk(self.first.at, spent * 1000, False)
            if kind == "text-delta":
                self.text += chunk["delta"]
                deltas += 1
                if interrupt is not None and await interrupt(deltas):
                    return


def faults_of(messages: list[dict[str, Any]], said: list[Said], chat: Chat) -> list[str]:
    """A sentence for each message that the stored chat has not, has twice or has otherwise than its
    readers, in order."""
    faults = []
    ids = [message["id"] for message in messages]
    faults += [f"{name} is stored {n} times" for name, n in Counter(ids).items() if n > 1]
    expected = [name for turn in said for name in (turn.user, turn.message_id)]
    if ids != expected:
        lost, more = set(expected) - set(ids), set(ids) - set(expected)
        faults.append(f"lost {lost or 'nothing'}, unexpected {more or 'nothing'}, or out of order")
    stored = {message["id"]: message for message in messages}
    for turn in said:
        answer = stored.get(turn.message_id or "")
        if answer is not None:
            faults += _answer_faults(turn, answer)
    for name, texts in chat.heard.items():
        if name in stored and texts != {text_of(stored[name])}:
            faults.append(f"{name}: readers had another text than is stored")
    return faults


def _answer_faults(turn: Said, answer: Mapping[str, Any]) -> list[str]:
    text, wanted = text_of(answer), turn.task.answer
    cut = answer.get("metadata", {}).get("cut")
    faults = []
    if turn.kind == "abort" and cut == "aborted":
        if not wanted.startswith(text):
            faults.append(f"{turn.user}: the stopped answer is {text!r}")
    elif cut or text != wanted:
        faults.append(f"{turn.user}: stored is {text!r} ({cut}), the model said {wanted!r}")
    if turn.ended and turn.text != text:
        faults.append(f"{turn.user}: its client read {turn.text!r}, stored is {text!r}")
    return faults
