"""The time of a plan in chats of any length:

    python bench/scale.py [--window 8000] [--cache none|auto] [--sizes 100 1000 10000 100000]

For each size a chat of so many messages goes on for 100 more requests. The figures are the time to
append the whole log and plan once (a chat that is opened again), p50 and p95 of the later plans,
each with the messages since the last plan, and of what is done after a turn, for which nobody waits
(`ChatContext.settle`). The time of the processor is given beside that of the clock, because other
programs on the machine do not change it.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import copy  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from dataclasses import replace  # noqa: E402
from itertools import islice  # noqa: E402
from typing import Any  # noqa: E402

from plugin.assistant.config import Settings  # noqa: E402
from plugin.assistant.context.chat_context import ChatContext  # noqa: E402
from plugin.assistant.context.window import Budget  # noqa: E402
from plugin.assistant.messages.prompt import PromptMessage  # noqa: E402
from plugin.bench.logs import message_of  # noqa: E402
from plugin.bench.measures import percentile  # noqa: E402
from plugin.bench.replay import MILLISECONDS  # noqa: E402
from plugin.bench.session import Shape, write_session  # noqa: E402
from plugin.bench.tool_facts import bench_facts  # noqa: E402

SEED = 11
REQUESTS = 100
SIZES = (100, 1_000, 10_000, 100_000)


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a plan takes in chats of any length.")
    parser.add_argument("--window", type=int, default=8_000, help="tokens")
    parser.add_argument("--cache", choices=("none", "auto"), default="auto")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="messages")
    arguments = parser.parse_args()
    settings = replace(Settings(), prompt_cache=arguments.cache)
    for size in arguments.sizes:
        measured = measure(size, settings, Budget.of_messages(arguments.window))
        print(json.dumps({"messages": size, **measured}))


def measure(size: int, settings: Settings, budget: Budget) -> dict[str, float]:
    """Seconds to open a chat of `size` messages; milliseconds of each plan after that."""
    source = endless(write_session(SEED, Shape(messages=1_000)).messages)
    rows = [message_of(row) for row in islice(source, size)]
    opened = time.perf_counter()
    chat = ChatContext(settings, budget, messages=rows, facts=bench_facts())
    chat.plan()
    spent = time.perf_counter() - opened
    plan, after_turn = _Times(), _Times()
    waiting: list[PromptMessage] = []
    while len(plan.clock) < REQUESTS:
        message = message_of(next(source))
        if message.role == "assistant":
            with plan.one():
                _append(chat, waiting)
                chat.plan()
        elif message.role == "user" and waiting:
            _append(chat, waiting)
            with after_turn.one():
                chat.settle()
        waiting.append(message)
    return {"open_s": round(spent, 3), **plan.figures(""), **after_turn.figures("after_turn_")}


def _append(chat: ChatContext, waiting: list[PromptMessage]) -> None:
    for message in waiting:
        chat.append(message)
    waiting.clear()


class _Times:
    """Milliseconds of what is measured again and again, by the clock and of the thread's CPU."""

    def __init__(self) -> None:
        self.clock: list[float] = []
        self.cpu: list[float] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        started, worked = time.perf_counter(), time.thread_time()
        yield
        self.clock.append((time.perf_counter() - started) * MILLISECONDS)
        self.cpu.append((time.thread_time() - worked) * MILLISECONDS)

    def figures(self, what: str) -> dict[str, float]:
        return {
            f"{what}{name}_p{share}_ms": _at(times, share)
            for name, times in (("clock", self.clock), ("cpu", self.cpu))
            for share in (50, 95)
        }


def _at(times: list[float], share: int) -> float:
    return round(percentile(times, share / 100), 2)


def endless(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Repeats the session without end, each time with new call ids; the system message comes
    once."""
    round_number = 0
    while True:
        for message in messages:
            if round_number and message["role"] == "system":
                continue
            row = copy.deepcopy(message)
            if "tool_call_id" in row:
                row["tool_call_id"] += f"_{round_number}"
            for call in row.get("tool_calls", ()):
                call["id"] += f"_{round_number}"
            yield row
        round_number += 1


if __name__ == "__main__":
    main()
