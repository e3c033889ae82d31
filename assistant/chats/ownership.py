"""Which process gives an answer: two ComfyUI may have the same chats open.

Each answer in progress carries its process and when that one last said so. What a process left that
is not there any more was cut by a crash; what another one is giving is not to be touched here.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

import psutil

from ..errors import Conflict

SAME_START_SECONDS: Final = 30.0
"""Two starts of one process id that are nearer are one: a clock that is set moves them."""
SILENT_FOR: Final = timedelta(minutes=10)
"""Of a process on another machine nothing else can be known than when it last wrote."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. `started` is in seconds since 1970; `address` is where its ComfyUI answers, such
    as `127.0.0.1:8188`, where that is known."""

    pid: int
    started: float
    machine: str
    address: str | None = None

    def to_text(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def owner_of(text: str | None) -> Owner | None:
    """The process of a mark; None where there is none that can be read."""
    try:
        return Owner(**json.loads(text)) if text else None
    except (ValueError, TypeError):
        return None


def this_process(address: str | None = None) -> Owner:
    return Owner(os.getpid(), psutil.Process().create_time(), platform.node(), address)


def is_same(one: Owner, other: Owner) -> bool:
    near = abs(one.started - other.started) < SAME_START_SECONDS
    return (one.pid, one.machine) == (other.pid, other.machine) and near


def is_alive(owner: Owner, beat: datetime, now: datetime) -> bool:
    """Whether the process is still there; on another machine, whether it wrote lately."""
    if owner.machine != platform.node():
        return now - beat < SILENT_FOR
    try:
        started = psutil.Process(owner.pid).create_time()
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
    return abs(started - owner.started) < SAME_START_SECONDS


def runs_elsewhere(owner: Owner, chat_id: str) -> Conflict:
    """The refusal of what would change a chat that another process is answering."""
    where = f" at {owner.address}" if owner.address else ""
    return Conflict(
        f"This chat is being answered by another ComfyUI{where} (process {owner.pid} on"
        f" {owner.machine}); go on there, or wait until it is done.",
        code="runs_elsewhere",
        extra={"chat_id": chat_id, "pid": owner.pid, "address": owner.address},
    )
