"""What a run of `sense.py` measures, and one line of its table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugin.bench.lived import Wanted


@dataclass(frozen=True, slots=True)
class Options:
    """What a run measures. `lived`: the conversations of LoCoMo and REALTALK are lived, not
    imported. `peers` are the names of those that are asked, None for all."""

    locomo: Path | None
    realtalk: Path | None
    sample: int | None
    lived: bool
    modes: tuple[str, ...]
    peers: tuple[str, ...] | None
    seed: int
    changed: Mapping[str, str]
    folder: Path

    def wanted(self, mode: str, window: int) -> Wanted:
        return Wanted(mode, window, self.changed)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. `who` is `ours` or a peer; `mode` is LLM_PROMPT_CACHE. `met` says
    whether ours meets the goal; None where the goal does not hold."""

    row: str
    what: str
    who: str
    mode: str
    values: Mapping[str, Any]
    goal: str = ""
    met: bool | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}
