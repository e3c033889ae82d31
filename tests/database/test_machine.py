"""The identity of the machine that leases name."""

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin.assistant.database import machine
from plugin.assistant.database.machine import machine_id


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    machine_id.cache_clear()
    yield
    machine_id.cache_clear()


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A Linux system without an id yet, and no container; the file for its id."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(machine, "LINUX_FILES", (tmp_path / "machine-id",))
    monkeypatch.setattr(machine, "PROCESS_IDS", tmp_path / "none")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "machine-id"


def test_it_is_the_systems_own_and_not_its_text(
    linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linux.write_text("0123456789abcdef\n", encoding="ascii")
    found = machine_id()
    machine_id.cache_clear()
    monkeypatch.setattr(platform, "node", lambda: "another-name")
    assert machine_id() == found
    assert "0123456789abcdef" not in found
    assert not (linux.parent / "state").exists()


def test_a_system_without_an_id_gets_a_random_one_that_stays(linux: Path) -> None:
    linux.write_text("", encoding="ascii")  # as in images of containers
    found = machine_id()
    machine_id.cache_clear()
    assert machine_id() == found
    (stored,) = (linux.parent / "state").rglob("machine-id")
    stored.unlink()
    machine_id.cache_clear()
    assert machine_id() != found


def test_without_a_place_to_store_it_the_host_name_is_left(
    linux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (linux.parent / "state").write_text("no folder", encoding="ascii")
    assert machine_id() == platform.node()


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_two_containers_of_one_image_are_two_machines(
    linux: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    linux.write_text("0123456789abcdef", encoding="ascii")
    (tmp_path / "pid").symlink_to("pid:[4026532999]")
    monkeypatch.setattr(machine, "PROCESS_IDS", tmp_path / "pid")
    found = set()
    for name in ("one", "two", "one"):
        monkeypatch.setattr(platform, "node", lambda name=name: name)
        machine_id.cache_clear()
        found.add(machine_id())
    assert len(found) == 2


def test_this_machine_has_one() -> None:
    assert machine_id() == machine_id()
    assert len(machine_id()) >= 1
