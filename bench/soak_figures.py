"""The figures of `soak.py`: samples of the server, times of first chunks, and the verdict.

A soak is divided into `WINDOWS` windows: ten minutes each, if it lasts an hour. The server is
compared between the second window, when caches are filled and chats have all lengths, and the last
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .measures import percentile
from .soak_people import FirstChunk

WINDOWS = 6
SAMPLES = 60
"""Samples of a soak; one a minute, if it lasts an hour."""
MEASURES = ("rss", "descriptors", "threads", "tasks")
MOST_GROWTH: Mapping[str, tuple[float, float]] = {
    "rss": (1.1, 0),
    "descriptors": (1.05, 3),
    "tasks": (1.05, 3),
}
"""How much a measure may grow and count as flat: a factor of its median, and so many more. Which
readers are away at the moment of a sample moves descriptors and tasks by some. Threads may be as
many as the pools have places: a pool of fixed size starts a thread whenever work finds all of its
threads busy, so it fills up late on a machine that has little else to do."""
MOST_SLOWER = 1.2
"""The factor by which p95 of the first chunk may rise from the first window to the last."""
MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Sample:
    """The server after `at` seconds; `most_threads` are its threads when all pools are full,
    `longest` is the length in messages of the longest chat in use, `mean` that of all."""

    at: float
    rss: int
    descriptors: int
    threads: int
    most_threads: int
    tasks: int
    turns: int
    chats: int
    longest: int
    mean: float
    tasks_by_name: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Window:
    """Milliseconds to the first chunk in a window, of the assistant and of the bare client."""

    start: float
    end: float
    turns: int
    p50: float
    p95: float
    bare_p50: float
    bare_p95: float
    longest: int
    mean: float

    @property
    def ratio_p50(self) -> float:
        return self.p50 / self.bare_p50 if self.bare_p50 else 0.0

    @property
    def ratio_p95(self) -> float:
        return self.p95 / self.bare_p95 if self.bare_p95 else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """One line of the verdict."""

    ok: bool
    text: str


def windows(
    first_chunks: Sequence[FirstChunk], samples: Sequence[Sample], seconds: float
) -> list[Window]:
    """The windows of a soak of `seconds`, those that have begun."""
    length = seconds / WINDOWS
    found = []
    for number in range(WINDOWS):
        start, end = number * length, (number + 1) * length
        ours = [f.ms for f in first_chunks if not f.bare and start <= f.at < end]
        bare = [f.ms for f in first_chunks if f.bare and start <= f.at < end]
        within = [sample for sample in samples if start < sample.at <= end]
        if not ours:
            continue
        found.append(
            Window(
                start,
                end,
                len(ours),
                percentile(ours, 0.5),
                percentile(ours, 0.95),
                percentile(bare, 0.5),
                percentile(bare, 0.95),
                max((sample.longest for sample in within), default=0),
                percentile([sample.mean for sample in within], 0.5),
            )
        )
    return found


def verdicts(
    samples: Sequence[Sample], of_windows: Sequence[Window], seconds: float
) -> list[Verdict]:
    """Whether the server stayed flat, and the first chunk as fast as at the beginning."""
    length = seconds / WINDOWS
    early = [sample for sample in samples if length < sample.at <= 2 * length]
    late = [sample for sample in samples if sample.at > seconds - length]
    if not early or not late or len(of_windows) < 2:
        return [Verdict(False, "too short: not enough samples or turns to compare")]
    spans = f"minutes {_minutes(length)}-{_minutes(2 * length)}", f"the last {_minutes(length)}"
    return [
        *(_flat(measure, early, late, spans) for measure in MEASURES),
        _speed(of_windows[0], of_windows[-1]),
    ]


def _flat(
    measure: str, early: Sequence[Sample], late: Sequence[Sample], spans: tuple[str, str]
) -> Verdict:
    unit = MEGABYTE if measure == "rss" else 1
    before, after = (
        percentile([getattr(sample, measure) for sample in some], 0.5) / unit
        for some in (early, late)
    )
    if measure == "threads":
        most: float = max(sample.most_threads for sample in late)
    else:
        factor, more = MOST_GROWTH[measure]
        most = before * factor + more
    name = "memory (RSS, MB)" if measure == "rss" else measure
    text = f"{name}: {before:,.0f} in {spans[0]}, {after:,.0f} in {spans[1]} (at most {most:,.0f})"
    return Verdict(after <= most, text)


def _speed(first: Window, last: Window) -> Verdict:
    """Passes by the time itself, or by its ratio over the bare client's: other work on the machine
    makes both slower, and a machine that becomes idle makes the ratio worse."""
    raw, ratio = last.p95 / first.p95, last.ratio_p95 / first.ratio_p95 if first.ratio_p95 else 0.0
    text = (
        f"first chunk, p95: {first.p95:.0f} ms in the first window, {last.p95:.0f} ms in the last,"
        f" x {raw:.2f}; over the bare client's {first.bare_p95:.0f} and {last.bare_p95:.0f} ms:"
        f" {first.ratio_p95:.2f} and {last.ratio_p95:.2f}, x {ratio:.2f} (one of them at most"
        f" {MOST_SLOWER})"
    )
    return Verdict(min(raw, ratio) <= MOST_SLOWER, text)


def sample_cells(sample: Sample) -> list[str]:
    return [
        f"{sample.at / 60:.1f}",
        f"{sample.rss / MEGABYTE:.0f}",
        *(str(getattr(sample, name)) for name in MEASURES[1:]),
        f"{sample.turns:,}",
        str(sample.chats),
        f"{sample.mean:.0f}",
        str(sample.longest),
    ]


SAMPLE_HEAD = (
    "minute",
    "RSS, MB",
    "descriptors",
    "threads",
    "tasks",
    "turns",
    "chats",
    "messages per chat",
    "longest",
)
WINDOW_HEAD = (
    "minutes",
    "turns",
    "p50, ms",
    "p95, ms",
    "bare p50",
    "bare p95",
    "ratio p50",
    "ratio p95",
    "messages per chat",
    "longest",
)


def window_cells(window: Window) -> list[str]:
    return [
        f"{_minutes(window.start)}-{_minutes(window.end)}",
        str(window.turns),
        *(f"{ms:.1f}" for ms in (window.p50, window.p95, window.bare_p50, window.bare_p95)),
        f"{window.ratio_p50:.2f}",
        f"{window.ratio_p95:.2f}",
        f"{window.mean:.0f}",
        str(window.longest),
    ]


def row(cells: Sequence[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return "\n".join(row(cells) for cells in (head, ["---"] * len(head), *rows))


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.3g}"
