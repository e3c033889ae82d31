"""Leases: which process holds a row, where several processes have one database open.

A store keeps two columns in a row that one process works on: the owner as text and the time of its
last write, which renews the lease. A lease ends with its process. Of a process on another machine
only the time is known: that lease ends when it was not renewed for a while.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

import psutil

from .machine import machine_id as this_machine

SAME_START_SECONDS: Final = 30.0
"""Seconds. Two times of start of one process id that differ by less mean one start, since setting
the clock moves these times."""
MOST_PID: Final = 2**31 - 1
SILENT_FOR: Final = timedelta(minutes=10)
"""How long the lease of a process on another machine lasts without a write."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. `started` is in seconds since 1970; `address` is where its ComfyUI answers, such
    as `127.0.0.1:8188`, where that is known. `machine` is the host name, a `#` and the machine's
    id (`machine`); earlier versions wrote the host name alone."""

    pid: int
    started: float
    machine: str
    address: str | None = None

    @property
    def host(self) -> str:
        """The machine's name, for people."""
        return self.machine.partition("#")[0]

    @property
    def machine_id(self) -> str:
        name, _, identity = self.machine.partition("#")
        return identity or (this_machine() if name == platform.node() else name)

    def to_text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def owner_of(text: str | None) -> Owner | None:
    """The owner in a row; None where the row has none that can be read."""
    try:
        owner = Owner(**json.loads(text)) if text else None
    except (ValueError, TypeError, RecursionError):
        return None
    return owner if owner is None or _is_whole(owner) else None


def _is_whole(owner: Owner) -> bool:
    """Whether the values are of their types: psutil raises TypeError for others."""
    return (
        type(owner.pid) is int
        and 0 <= owner.pid <= MOST_PID
        and type(owner.started) in (int, float)
        and isinstance(owner.machine, str)
        and isinstance(owner.address, str | None)
    )


def this_process(address: str | None = None) -> Owner:
    machine = f"{platform.node()}#{this_machine()}"
    return Owner(os.getpid(), psutil.Process().create_time(), machine, address)


def other_owner(row_owner: str | None, renewed: datetime, me: Owner, now: datetime) -> Owner | None:
    """The process other than `me` that holds a lease now; None where `me` or no process holds the
    row."""
    owner = owner_of(row_owner)
    if owner is None or is_same(owner, me):
        return None
    return owner if is_alive(owner, renewed, now) else None


def is_same(one: Owner, other: Owner) -> bool:
    near = abs(one.started - other.started) < SAME_START_SECONDS
    return (one.pid, one.machine_id) == (other.pid, other.machine_id) and near


def is_alive(owner: Owner, renewed: datetime, now: datetime) -> bool:
    """Whether the process still runs; on another machine, whether it wrote lately."""
    if owner.machine_id != this_machine():
        return now - renewed < SILENT_FOR
    try:
        started = psutil.Process(owner.pid).create_time()
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
    return abs(started - owner.started) < SAME_START_SECONDS
