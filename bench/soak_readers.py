"""The readers of `soak.py`: clients that follow the events of a chat, and what they heard.

A reader folds the events into the text of each answer. An event whose number does not follow the
last one, without a snapshot, is a fault of the server.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

import aiohttp

Manner = Literal["steady", "reconnecting", "slow"]
SLOW_SECONDS = 0.3
"""The pause of a slow reader after each event."""
STAYS = (0.3, 3.0)
AWAY = (0.0, 0.5)
"""How long a reader that reconnects stays connected and then away, in paces: the mean pauses
between two turns."""
SMALL_BUFFER = 2_048
"""Bytes that a slow reader's client reads ahead, so that it is slow for the server, too."""


@dataclass
class Chat:
    """A chat of the soak. `heard` are the texts of each answer, by message id, that readers had at
    its end."""

    id: str
    heard: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    left: bool = False


@dataclass
class Reading:
    """What all readers met."""

    events: int = 0
    snapshots: int = 0
    resumed: int = 0
    too_slow: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)


class Reader:
    """Follows one chat after the other. `pace` is the mean pause between two turns, in seconds."""

    def __init__(
        self, url: str, number: int, manner: Manner, pace: float, reading: Reading
    ) -> None:
        self._url = url
        self._number = number
        self._manner = manner
        self._pace = pace
        self._reading = reading
        self._pick = Random(number)
        self._seq: int | None = None
        self._epoch = ""
        self._answers: dict[str, str] = {}

    async def follow(self, chat: Chat) -> None:
        """Reads the chat's events, over as many connections as it takes, until the chat is left."""
        self._seq, self._epoch, self._answers = None, "", {}
        buffer = SMALL_BUFFER if self._manner == "slow" else 2**16
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(timeout=timeout, read_bufsize=buffer) as client:
            while not chat.left:
                try:
                    await asyncio.wait_for(self._connection(client, chat), self._stay())
                except (aiohttp.ClientError, ConnectionError, asyncio.TimeoutError):
                    await asyncio.sleep(self._pace * self._pick.uniform(*AWAY))

    def _stay(self) -> float | None:
        if self._manner != "reconnecting":
            return None
        return self._pace * self._pick.uniform(*STAYS)

    async def _connection(self, client: aiohttp.ClientSession, chat: Chat) -> None:
        query, headers = {"chat_id": chat.id, "client_id": f"reader-{self._number}"}, {}
        if self._seq is not None:
            headers["Last-Event-ID"] = str(self._seq)
            query["epoch"] = self._epoch
            self._reading.resumed += 1
        url = f"{self._url}/chats/subscribe"
        async with client.get(url, params=query, headers=headers) as response:
            if response.status != 200:
                self._reading.refused += 1
                await asyncio.sleep(1)
                return
            async for event in events_of(response):
                if chat.left:
                    return
                if event is None:
                    continue
                self._take(event, chat)
                if self._manner == "slow":
                    await asyncio.sleep(SLOW_SECONDS)

    def _take(self, event: Mapping[str, Any], chat: Chat) -> None:
        kind = event["type"]
        self._reading.events += 1
        if kind == "closed":
            self._reading.too_slow += event.get("reason") == "too_slow"
            self._seq = None
            return
        if kind == "snapshot":
            self._reading.snapshots += 1
            self._answers = {}
            if (stream := event["stream"]) is not None:
                self._answers[stream["message"]["id"]] = text_of(stream["message"]) + "".join(
                    map(_delta, stream["chunks"])
                )
        elif self._seq is None or event["seq"] != self._seq + 1 or event["epoch"] != self._epoch:
            self._reading.faults.append(
                f"reader {self._number} ({self._manner}): {kind} {event['seq']} of"
                f" {event['epoch']} after {self._seq} of {self._epoch}"
            )
        self._seq, self._epoch = event["seq"], event["epoch"]
        self._fold(event, chat)

    def _fold(self, event: Mapping[str, Any], chat: Chat) -> None:
        kind = event["type"]
        if kind == "stream_started":
            self._answers[event["message"]["id"]] = text_of(event["message"])
        elif kind == "stream_delta" and event["message_id"] in self._answers:
            self._answers[event["message_id"]] += _delta(event["chunk"])
        elif kind == "stream_finished" and event["message_id"] in self._answers:
            chat.heard[event["message_id"]].add(self._answers.pop(event["message_id"]))


def text_of(message: Mapping[str, Any]) -> str:
    """The text parts of a message, joined."""
    return "".join(part["text"] for part in message["parts"] if part["type"] == "text")


def _delta(chunk: Mapping[str, Any]) -> str:
    return str(chunk["delta"]) if chunk["type"] == "text-delta" else ""


async def events_of(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any] | None]:
    """The data of each server-sent event; None for a comment, and for the end `[DONE]`."""
    kept = b""
    async for piece in response.content.iter_any():
        *lines, kept = (kept + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                yield None if line == b"data: [DONE]" else json.loads(line[6:])
            elif line.startswith(b":"):
                yield None
