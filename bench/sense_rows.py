"""The rows of `sense.py`: what each measures, and its goal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plugin.bench import asked, sense_logs, sense_speed
from plugin.bench.environments import PeerUnavailable, version_of
from plugin.bench.peers import PEERS
from plugin.bench.sense_row import Figure, Options

CONVERSATION_WINDOW = 12_000
TALK_WINDOW = 4_096
MOST_MESSAGE_TOKENS = 3_000
"""Tokens of messages in `none`, the system message and the schemas not counted."""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    measure: Callable[[Options], Awaitable[list[Figure]]]


@dataclass(frozen=True, slots=True)
class Conversations:
    """A row about evidence in sight: its conversations, the window, and the goals for `any` and
    `all`. `limited`: in `none` the messages may have MOST_MESSAGE_TOKENS."""

    name: str
    what: str
    read: Callable[[Options], Sequence[asked.Asked]]
    window: int
    any: float
    all: float
    limited: bool = field(default=False, kw_only=True)

    async def measure(self, options: Options) -> list[Figure]:
        conversations = asked.sampled(self.read(options), options.sample)
        if not conversations:
            return []
        found = []
        for mode in options.modes:
            values = await asked.ours(conversations, options.wanted(mode, self.window))
            goal = f"any ≥ {self.any}, all ≥ {self.all}"
            met = values["any"] >= self.any and values["all"] >= self.all
            if self.limited and mode == "none":
                goal += f", tokens ≤ {MOST_MESSAGE_TOKENS:,}"
                met = met and values["tokens_most"] <= MOST_MESSAGE_TOKENS
            found.append(Figure(self.name, self.what, "ours", mode, values, goal, met))
        return [*found, *self._others(conversations, options)]

    def _others(self, conversations: Sequence[asked.Asked], options: Options) -> list[Figure]:
        if options.peers is not None and "ours" in options.peers:
            return []
        values: dict[str, Any] = asked.reference(conversations, self.window)
        found = [Figure(self.name, self.what, "the fixed rule", "-", values)]
        for peer in PEERS:
            if options.peers is None or peer.name in options.peers:
                try:
                    version = version_of(peer)
                    values = asked.theirs(conversations, peer, self.window, options.folder)
                    values["version"] = version
                except PeerUnavailable as reason:
                    values = {"unavailable": str(reason)}
                found.append(Figure(self.name, self.what, peer.title, "-", values))
        return found


def _locomo(options: Options) -> list[asked.Asked]:
    return asked.from_files([options.locomo] if options.locomo else [], options.lived)


def _realtalk(options: Options) -> list[asked.Asked]:
    files = sorted(options.realtalk.glob("Chat_*.json")) if options.realtalk else []
    return asked.from_files(files, options.lived)


def _talks(language: str) -> Callable[[Options], list[asked.Asked]]:
    def read(options: Options) -> list[asked.Asked]:
        every = asked.from_talks(options.seed)
        return [talk for talk in every if talk.name.startswith(language)]

    return read


CONVERSATIONS = (
    Conversations(
        "locomo",
        "evidence in sight, LoCoMo, window 12,000",
        _locomo,
        CONVERSATION_WINDOW,
        0.88,
        0.75,
        limited=True,
    ),
    Conversations(
        "realtalk",
        "evidence in sight, REALTALK, window 12,000",
        _realtalk,
        CONVERSATION_WINDOW,
        0.78,
        0.53,
        limited=True,
    ),
    Conversations(
        "talks",
        "evidence in sight, English talks, window 4,096",
        _talks("en"),
        TALK_WINDOW,
        0.95,
        0.92,
    ),
    Conversations(
        "talks-zh",
        "evidence in sight, Chinese talks, window 4,096",
        _talks("zh"),
        TALK_WINDOW,
        0.95,
        0.92,
    ),
)
ROWS = (
    *(Row(one.name, one.measure) for one in CONVERSATIONS),
    Row("whole", sense_logs.whole),
    Row("logs", sense_logs.logs),
    Row("guides", sense_logs.guides),
    Row("replay", sense_logs.replay),
    Row("speed", sense_speed.speed),
)
