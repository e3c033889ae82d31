"""Uses the assistant for an hour, as twenty people with fifty readers do, and measures it:

    python bench/soak.py [--minutes 60] [--people 20] [--readers 50] [--pace 6]
                         [--messages 100] [--out FOLDER]

The preview and a scripted model are processes of their own; all goes over real HTTP. Turns are
plain answers, loops of tool calls, answers that are stopped, and answers whose client leaves and
joins again; readers are steady, reconnect all the time, or read slowly. After each turn the bare
`openai` client asks the same model once, so that times can be compared on a machine whose load
changes. A chat is left when it has `--messages` messages, and then all of its answers are compared
with what the model said and with what its readers had.

Prints a row each minute; at the end the times of each ten minutes and the verdict. FOLDER
(`.cache/bench`) gets `soak.json`, written anew with each row, and `soak.md`. In a shorter soak the
minutes are parts of it: there are sixty rows and six windows. The exit code is 1 if the verdict has
a NO.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import asyncio  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import AsyncIterator, Callable, Sequence  # noqa: E402
from dataclasses import asdict, dataclass, field  # noqa: E402
from typing import Any  # noqa: E402

import aiohttp  # noqa: E402
from plugin.bench.environments import ROOT  # noqa: E402
from plugin.bench.soak_figures import (  # noqa: E402
    SAMPLE_HEAD,
    SAMPLES,
    WINDOW_HEAD,
    Sample,
    Verdict,
    row,
    sample_cells,
    table,
    verdicts,
    window_cells,
    windows,
)
from plugin.bench.soak_people import LONGEST_TURN_SECONDS, Person, Place, Record  # noqa: E402
from plugin.bench.soak_readers import Manner, Reader  # noqa: E402

MINUTES, PEOPLE, READERS, PACE_SECONDS, MESSAGES = 60.0, 20, 50, 6.0, 100
START_SECONDS = 60
CALM_SECONDS = 10.0
MOST_SHOWN = 20
"""Faults that are printed; `soak.json` has all."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How long, how many and how fast; `calm` is the pause in seconds between the end and the last
    sample, when everybody has left."""

    seconds: float
    people: int = PEOPLE
    readers: int = READERS
    pace: float = PACE_SECONDS
    messages: int = MESSAGES
    calm: float = CALM_SECONDS


@dataclass
class Soak:
    """A soak and what it has found so far. `before` and `after` are samples of the server when
    nobody used it."""

    plan: Plan
    record: Record = field(default_factory=Record)
    samples: list[Sample] = field(default_factory=list)
    before: Sample | None = None
    after: Sample | None = None

    @property
    def wrong(self) -> list[str]:
        return self.record.wrong + self.record.reading.faults

    @property
    def verdicts(self) -> list[Verdict]:
        record, seconds = self.record, self.plan.seconds
        of_windows = windows(record.first_chunks, self.samples, seconds)
        answers = (
            f"answers: {record.checked:,} of {sum(record.turns.values()):,} checked,"
            f" {len(self.wrong)} lost, repeated or wrong"
        )
        whole = record.checked == sum(record.turns.values()) and not self.wrong
        return [*verdicts(self.samples, of_windows, seconds), Verdict(whole, answers)]

    def results(self) -> dict[str, Any]:
        record = self.record
        of_windows = windows(record.first_chunks, self.samples, self.plan.seconds)
        return {
            "plan": asdict(self.plan),
            "python": platform.python_version(),
            "system": platform.platform(),
            "processors": os.cpu_count(),
            "samples": [asdict(sample) for sample in self.samples],
            "before": asdict(self.before) if self.before else None,
            "after": asdict(self.after) if self.after else None,
            "windows": [
                {**asdict(w), "ratio_p50": w.ratio_p50, "ratio_p95": w.ratio_p95}
                for w in of_windows
            ],
            "turns": dict(record.turns),
            "chats": record.chats,
            "checked": record.checked,
            "refused": record.refused,
            "readers": {**asdict(record.reading), "faults": len(record.reading.faults)},
            "wrong": self.wrong,
            "verdicts": [asdict(v) for v in self.verdicts] if self.after else None,
        }

    def minutes(self) -> str:
        """The samples as a table."""
        return table(SAMPLE_HEAD, [sample_cells(sample) for sample in self.samples])

    def summary(self) -> str:
        """What happened, the times of each window, and the verdict."""
        record, reading = self.record, self.record.reading
        of_windows = windows(record.first_chunks, self.samples, self.plan.seconds)
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(record.turns.items()))
        idle = [sample for sample in (self.before, self.after) if sample is not None]
        return "\n\n".join(
            (
                f"Turns: {kinds}; {record.refused} refused and sent again. {record.chats} chats."
                f" Readers: {reading.events:,} events, {reading.snapshots:,} snapshots,"
                f" {reading.resumed:,} reconnections, {reading.too_slow} closed as too slow,"
                f" {reading.refused} refused.",
                "Before the first and after the last user:",
                table(SAMPLE_HEAD, [sample_cells(sample) for sample in idle]),
                "First chunk, the assistant and the bare client:",
                table(WINDOW_HEAD, [window_cells(window) for window in of_windows]),
                "\n".join(_line(verdict) for verdict in self.verdicts),
            )
        )


def _line(verdict: Verdict) -> str:
    return f"- {'ok' if verdict.ok else 'NO'}: {verdict.text}"


async def soak(plan: Plan, folder: Path, each: Callable[[Soak], None]) -> Soak:
    """Runs `plan` with the chats in `folder`; calls `each` after each sample."""
    running = Soak(plan)
    async with contextlib.AsyncExitStack() as stack:
        provider = await stack.enter_async_context(process("soak_provider.py"))
        arguments = (str(folder), provider["url"])
        server = await stack.enter_async_context(process("soak_server.py", *arguments))
        client = await stack.enter_async_context(
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
            )
        )
        # The first request waits until everything is imported, which is no part of the soak.
        async with client.get(f"{server['url']}/chats") as response:
            response.raise_for_status()
        running.before = await sample(client, server["figures"], running, 0.0)
        began = time.perf_counter()
        place = Place(server["url"], provider["url"], began, plan.pace, plan.messages, plan.people)
        people = [Person(place, n, running.record, client) for n in range(plan.people)]
        living = [asyncio.create_task(person.live(plan.seconds)) for person in people]
        following = [
            asyncio.create_task(follow(place, number, people, running.record))
            for number in range(plan.readers)
        ]
        for number in range(1, SAMPLES + 1):
            await asyncio.sleep(number * plan.seconds / SAMPLES - place.now)
            running.samples.append(await sample(client, server["figures"], running, place.now))
            each(running)
        _, late = await asyncio.wait(living, timeout=LONGEST_TURN_SECONDS)
        for task in (*late, *following):
            task.cancel()
        for outcome in await asyncio.gather(*living, *following, return_exceptions=True):
            if isinstance(outcome, Exception):
                running.record.wrong.append(f"a person or reader failed: {outcome!r}")
        await asyncio.sleep(plan.calm)
        running.after = await sample(client, server["figures"], running, place.now)
    return running


async def follow(place: Place, number: int, people: Sequence[Person], record: Record) -> None:
    """A reader of the chats of one person: three of five are steady."""
    manner: Manner = ("steady", "reconnecting", "steady", "slow", "steady")[number % 5]
    reader = Reader(place.url, number, manner, place.pace, record.reading)
    person = people[number % len(people)]
    while True:
        await person.ready.wait()
        await reader.follow(person.chat)


async def sample(client: aiohttp.ClientSession, url: str, running: Soak, at: float) -> Sample:
    async with client.get(url) as response:
        told = await response.json()
    lengths = list(running.record.lengths.values())
    return Sample(
        at=at,
        turns=sum(running.record.turns.values()),
        chats=running.record.chats,
        longest=max(lengths, default=0),
        mean=sum(lengths) / len(lengths) if lengths else 0.0,
        **told,
    )


@contextlib.asynccontextmanager
async def process(program: str, *arguments: str) -> AsyncIterator[dict[str, str]]:
    """A program of this folder, which ends with the block; yields the line that it prints first."""
    started = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name(program)),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert started.stdin is not None and started.stdout is not None
    try:
        line = await asyncio.wait_for(started.stdout.readline(), START_SECONDS)
        told: dict[str, str] = json.loads(line)
        yield told
    finally:
        started.stdin.close()
        await started.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Use the assistant for an hour and measure it.")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--people", type=int, default=PEOPLE, help="each has a chat")
    parser.add_argument("--readers", type=int, default=READERS)
    parser.add_argument("--pace", type=float, default=PACE_SECONDS, help="mean seconds to a turn")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="then a new chat begins")
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench", metavar="FOLDER")
    given = parser.parse_args()
    plan = Plan(given.minutes * 60, given.people, given.readers, given.pace, given.messages)
    given.out.mkdir(parents=True, exist_ok=True)
    print(table(SAMPLE_HEAD, []), flush=True)

    def each(running: Soak) -> None:
        print(row(sample_cells(running.samples[-1])), flush=True)
        save(running, given.out)

    with tempfile.TemporaryDirectory() as folder:
        finished = asyncio.run(soak(plan, Path(folder), each))
    save(finished, given.out)
    print("\n" + finished.summary())
    for what in finished.wrong[:MOST_SHOWN]:
        print(f"  wrong: {what}")
    sys.exit(any(not verdict.ok for verdict in finished.verdicts))


def save(running: Soak, folder: Path) -> None:
    results = json.dumps(running.results(), indent=1)
    (folder / "soak.json").write_text(results, encoding="utf-8")
    (folder / "soak.md").write_text(
        f"{running.minutes()}\n\n{running.summary()}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
