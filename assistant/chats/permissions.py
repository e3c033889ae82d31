"""Which calls of a chat's models must ask a person first: the chat's approval mode. Plain values.

`ask`: edits and acts ask. `edits`: acts ask. `budget`: as `edits`, but the calls that a budget
covers go through until its runs or its minutes are used; the minutes are those since the budget
was set. Mode, budget and allowed tools are permissions of one chat: no import, branch, share or
restored trajectory has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, get_args

from .log.record import stored_time, time_text

ApprovalMode = Literal["ask", "edits", "budget"]
APPROVAL_MODES: Final[tuple[ApprovalMode, ...]] = get_args(ApprovalMode)
DEFAULT_MODE: Final[ApprovalMode] = "edits"
MOST_RUNS: Final = 10_000
MOST_MINUTES: Final = 10_080
"""A week."""


@dataclass(frozen=True, slots=True)
class RunBudget:
    """`runs` of workflows, and `minutes` from the moment that the budget was set."""

    runs: int
    minutes: float


@dataclass(frozen=True, slots=True)
class Permissions:
    """A chat's approval mode; None is the default, `edits`. `budget`, `since` (a UTC time) and the
    number of runs that are `used` are there in the mode `budget` only."""

    mode: ApprovalMode | None = None
    budget: RunBudget | None = None
    since: datetime | None = None
    used: int = 0

    def with_used(self, runs: int, now: datetime) -> Permissions | None:
        """The permissions after `runs` more runs; None where the budget does not cover them."""
        if self.mode != "budget" or self.budget is None or self.since is None:
            return None
        if now >= self.since + timedelta(minutes=self.budget.minutes):
            return None
        used = self.used + runs
        return None if used > self.budget.runs else replace(self, used=used)

    def to_json(self) -> dict[str, Any]:
        """As the database has them; empty for the permissions of a new chat."""
        if self.mode is None:
            return {}
        body: dict[str, Any] = {"mode": self.mode}
        if self.budget is not None and self.since is not None:
            body |= {"runs": self.budget.runs, "minutes": self.budget.minutes}
            body |= {"since": time_text(self.since), "used": self.used}
        return body

    def params_json(self) -> dict[str, Any]:
        """As clients have them among the chat's parameters; empty where no mode was chosen."""
        if self.mode is None:
            return {}
        body: dict[str, Any] = {"approval": self.mode}
        if self.budget is not None:
            body["budget"] = {"runs": self.budget.runs, "minutes": self.budget.minutes}
        return body

    @property
    def ends(self) -> datetime | None:
        """When the minutes of the budget are over."""
        if self.budget is None or self.since is None:
            return None
        return self.since + timedelta(minutes=self.budget.minutes)

    @property
    def runs_left(self) -> int:
        return 0 if self.budget is None else max(0, self.budget.runs - self.used)


NEW: Final = Permissions()
"""Those of a new chat."""


def permissions_from(found: Mapping[str, Any]) -> Permissions:
    """Reads `Permissions.to_json`. What cannot be read gives the strictest mode."""
    mode = found.get("mode")
    if mode == "edits":
        return Permissions("edits")
    runs, minutes, used = (found.get(name) for name in ("runs", "minutes", "used"))
    since = stored_time(found.get("since"))
    whole = type(runs) is int and type(used) is int and type(minutes) in (int, float)
    if mode == "budget" and whole and since is not None:
        return Permissions("budget", RunBudget(int(runs), float(minutes)), since, int(used))  # type: ignore[arg-type]
    return Permissions("ask")
