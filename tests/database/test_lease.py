"""Leases: when the process that holds a row counts as gone."""

from dataclasses import replace
from datetime import timedelta

from plugin.assistant.database.lease import (
    is_alive,
    is_same,
    other_owner,
    owner_of,
    this_process,
)

from .notes import NOW


def test_a_process_with_the_same_number_that_started_later_is_another() -> None:
    ours = this_process()
    assert is_alive(ours, NOW, NOW)
    before = replace(ours, started=ours.started - 3600)
    assert not is_same(before, ours)
    assert not is_alive(before, NOW, NOW)


def test_a_process_of_another_machine_is_there_as_long_as_it_writes() -> None:
    there = replace(this_process(), machine="elsewhere")
    assert is_alive(there, NOW - timedelta(minutes=1), NOW)
    assert not is_alive(there, NOW - timedelta(hours=1), NOW)


def test_a_mark_that_cannot_be_read_is_nobodys() -> None:
    ours = this_process("127.0.0.1:8188")
    assert owner_of(ours.to_text()) == ours
    assert [owner_of(text) for text in (None, "", "{", "[]", '{"pid": 1}')] == [None] * 5


def test_a_row_is_free_for_its_owner_and_after_a_dead_one() -> None:
    ours = this_process()
    there = replace(ours, machine="elsewhere")
    gone = replace(ours, started=ours.started - 3600)
    assert other_owner(there.to_text(), NOW, ours, NOW) == there
    assert [other_owner(row, NOW, ours, NOW) for row in (None, ours.to_text(), gone.to_text())] == [
        None
    ] * 3
