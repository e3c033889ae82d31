"""Leases: when the process that holds a row counts as gone."""

import json
import platform
from dataclasses import replace
from datetime import timedelta

import pytest
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


def test_a_machine_that_got_another_name_is_the_same_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = replace(this_process(), started=1.0)
    monkeypatch.setattr(platform, "node", lambda: "macbook-7.local")
    assert not is_alive(before, NOW, NOW)
    assert other_owner(before.to_text(), NOW, this_process(), NOW) is None


def test_a_row_of_an_earlier_version_has_the_host_name_alone() -> None:
    ours = this_process()
    earlier = replace(ours, machine=platform.node(), started=1.0)
    assert not is_alive(earlier, NOW, NOW)
    assert is_same(replace(earlier, started=ours.started), ours)
    assert ours.host == earlier.host == platform.node()


@pytest.mark.parametrize("pid", ["7", -1, 2**40, None, True])
def test_a_mark_with_wrong_types_is_nobodys(pid: object) -> None:
    text = json.dumps({"pid": pid, "started": 1.0, "machine": "m", "address": None})
    assert owner_of(text) is None


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
