"""The soak notices what it is there for: growth, slowness, and answers that are lost or wrong.

`python bench/soak.py` runs for an hour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from plugin.bench.soak import Plan, Soak, soak
from plugin.bench.soak_figures import Sample, verdicts, windows
from plugin.bench.soak_people import FirstChunk, Said, faults_of
from plugin.bench.soak_provider import Task, task_of
from plugin.bench.soak_readers import Chat, Reader, Reading

HOUR = 3600.0
QUIET = Sample(
    at=0,
    rss=100_000_000,
    descriptors=40,
    threads=10,
    most_threads=13,
    tasks=60,
    turns=10,
    chats=20,
    longest=100,
    mean=50,
    tasks_by_name={},
)
TASK = Task("1-1", rounds=1, words=2)
SAID = Said("u1-1", TASK, "tools", "a1", TASK.answer, True)


def hour(**late: Any) -> list[Sample]:
    """Samples of an hour; those of the last ten minutes have the values `late`."""
    return [
        replace(QUIET, at=minute * 60.0, **(late if minute > 50 else {})) for minute in range(1, 61)
    ]


def chunks(first: float, last: float, bare_last: float = 10) -> list[FirstChunk]:
    """First chunks of 100 turns in the first and in the last ten minutes, of so many milliseconds;
    the bare client's have 10 ms in the first ones."""
    at_end = HOUR - 60
    return [
        FirstChunk(at, ms, bare)
        for at, ms, bare in (
            (60, first, False),
            (60, 10, True),
            (at_end, last, False),
            (at_end, bare_last, True),
        )
        for _ in range(100)
    ]


def judged(samples: list[Sample], first_chunks: list[FirstChunk]) -> dict[str, bool]:
    """Whether each line of the verdict is ok, by the first word of the line."""
    found = verdicts(samples, windows(first_chunks, samples, HOUR), HOUR)
    return {line.text.split()[0]: line.ok for line in found}


def test_a_flat_hour_passes() -> None:
    judgement = judged(hour(), chunks(20, 22))
    assert set(judgement) == {"memory", "descriptors:", "threads:", "tasks:", "first"}
    assert all(judgement.values())


def test_a_pool_that_fills_up_late_passes() -> None:
    assert judged(hour(threads=13), chunks(20, 20))["threads:"]


@pytest.mark.parametrize(
    ("late", "line"),
    [
        ({"rss": 120_000_000}, "memory"),
        ({"descriptors": 60}, "descriptors:"),
        ({"threads": 14}, "threads:"),
        ({"tasks": 90}, "tasks:"),
    ],
)
def test_growth_of_each_measure_fails_its_line(late: dict[str, int], line: str) -> None:
    judgement = judged(hour(**late), chunks(20, 20))
    assert [name for name, ok in judgement.items() if not ok] == [line]


def test_a_first_chunk_that_became_slower_fails_unless_the_bare_client_did_too() -> None:
    assert not judged(hour(), chunks(20, 30))["first"]
    assert judged(hour(), chunks(20, 40, bare_last=20))["first"]
    assert judged(hour(), chunks(20, 20, bare_last=5))["first"]


def test_a_soak_without_turns_or_samples_fails() -> None:
    assert not any(line.ok for line in Soak(Plan(HOUR)).verdicts if "short" in line.text)
    assert any("short" in line.text for line in Soak(Plan(HOUR)).verdicts)


def stored(identity: str, text: str, **metadata: Any) -> dict[str, Any]:
    return {"id": identity, "parts": [{"type": "text", "text": text}], "metadata": metadata}


def test_a_chat_that_holds_what_was_said_has_no_faults() -> None:
    messages = [stored("u1-1", "?"), stored("a1", TASK.answer)]
    chat = Chat("c")
    chat.heard["a1"].add(TASK.answer)
    assert faults_of(messages, [SAID], chat) == []


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([stored("u1-1", "?")], "lost"),
        ([stored("u1-1", "?"), *[stored("a1", TASK.answer)] * 2], "stored 2 times"),
        ([stored("u1-1", "?"), stored("a1", TASK.answer[:-1])], "the model said"),
        ([stored("u1-1", "?"), stored("a1", TASK.answer, cut="aborted")], "the model said"),
        ([stored("a1", TASK.answer), stored("u1-1", "?")], "out of order"),
    ],
)
def test_a_lost_repeated_or_changed_answer_is_a_fault(
    messages: list[dict[str, Any]], fault: str
) -> None:
    assert any(fault in found for found in faults_of(messages, [SAID], Chat("c")))


def test_readers_that_heard_something_else_are_a_fault() -> None:
    chat = Chat("c")
    chat.heard["a1"] |= {TASK.answer, "half"}
    messages = [stored("u1-1", "?"), stored("a1", TASK.answer)]
    assert any("readers" in fault for fault in faults_of(messages, [SAID], chat))


@pytest.mark.parametrize("seq", [5, 7])
def test_a_reader_reports_an_event_that_is_lost_or_comes_twice(seq: int) -> None:
    reading = Reading()
    reader = Reader("", 0, "steady", 1.0, reading)
    snapshot = {"type": "snapshot", "seq": 5, "epoch": "e", "stream": None}
    reader._take(snapshot, Chat("c"))
    reader._take({"type": "thread_updated", "seq": seq, "epoch": "e"}, Chat("c"))
    assert len(reading.faults) == 1


def test_the_model_does_what_the_last_marked_message_says() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"{Task('0-1').mark} before"},
        {"role": "assistant", "content": "..."},
        {"role": "user", "content": f"{TASK.mark} why?"},
        {"role": "assistant", "tool_calls": []},
        {"role": "tool", "content": "{}"},
    ]
    assert task_of(messages) == (TASK, 1)
    assert task_of([{"role": "user", "content": "Summarise this"}]) == (None, 0)


@pytest.mark.slow
async def test_a_short_soak_loses_nothing(tmp_path: Path) -> None:
    rows = 0

    def each(running: Soak) -> None:
        nonlocal rows
        rows += 1
        running.results()

    plan = Plan(seconds=8, people=4, readers=10, pace=0.2, messages=8, calm=0)
    finished = await soak(plan, tmp_path, each)
    record = finished.record
    assert finished.wrong == []
    assert record.checked == sum(record.turns.values()) > 0
    assert record.reading.events > 0 and record.reading.resumed > 0
    assert rows == 60 and finished.after is not None
    assert finished.results()["verdicts"]
