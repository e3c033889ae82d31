"""Compares the content of a request, and of its handles, with the facts and edits of the log.

Facts are the planted values; the ledger is the net effect of the edits made before the request
(`session.py` writes both). A summary is any user message of a request that is not in the log, so
this module does not depend on the words of the engine's summaries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plugin.bench.measures import Messages, text_of

LONGEST_EDIT = 2_000
"""Characters of a message that counts as naming an edit: a longer message, such as a whole
workflow, has any value."""
SHOWN_OF_LONG = 40
"""Characters of a long widget text that a summary must show at least."""


@dataclass
class Tally:
    """Counts facts or edits by the place where they were found."""

    counts: dict[str, int] = field(default_factory=dict)
    total: int = 0

    def add(self, place: str) -> None:
        self.total += 1
        self.counts[place] = self.counts.get(place, 0) + 1

    def shares(self) -> dict[str, float]:
        return {place: round(n / self.total, 4) for place, n in sorted(self.counts.items())}


class Truth:
    """A log with its facts and edits, and the content behind each handle."""

    def __init__(
        self,
        log: Messages,
        facts: Sequence[Mapping[str, Any]],
        edits: Mapping[str, Any] | None = None,
        handles: Mapping[str, str] | None = None,
    ) -> None:
        self.facts = facts
        self._steps = list((edits or {}).get("steps", ()))
        self._log = log
        self._texts = {text_of(message) for message in log}
        self._handles = dict(handles or {})
        self._values_behind = {
            handle: {fact["value"] for fact in facts if _holds(content, fact["value"])}
            for handle, content in self._handles.items()
        }

    def summary_of(self, messages: Messages) -> str:
        """The text of the user messages that are not in the log."""
        users = (text_of(m) for m in messages if m.get("role") == "user")
        return "\n".join(text for text in users if text not in self._texts)

    def place_of_facts(self, line: Mapping[str, Any]) -> dict[str, str]:
        """The place of each fact from before the point: id to `visible`, `summary`, `handle` or
        `lost`."""
        summary = self.summary_of(line["messages"])
        shown = "\n".join(map(text_of, line["messages"]))
        behind: set[str] = set()
        for elided in line.get("left_out", ()):
            behind |= self._values_behind.get(elided["handle"], set())
        places = {}
        for fact in self.facts:
            if fact["index"] < line["at"]:
                value = fact["value"]
                places[fact["id"]] = (
                    "summary"
                    if value in summary
                    else "visible"
                    if value in shown
                    else "handle"
                    if value in behind
                    else "lost"
                )
        return places

    def place_of_edits(self, line: Mapping[str, Any]) -> Tally:
        """The places of the net edits from before the point: `summary`, `visible` (in the rest of
        the request), `handle`, `stale` (only an older value is shown) or `lost`."""
        tally = Tally()
        summary = self.summary_of(line["messages"]).split("\n")
        texts = map(text_of, line["messages"])
        shown = [text for text in texts if len(text) <= LONGEST_EDIT]
        behind = {i: e["handle"] for e in line.get("left_out", ()) for i in e["indexes"]}
        for step in _net(step for step in self._steps if step["index"] < line["at"]):
            places = {behind[index] for index in self._round(step["index"]) if index in behind}
            recalled = [self._handles.get(handle, "") for handle in places]
            if _tells(summary, step):
                tally.add("summary")
            elif _tells(shown, step):
                tally.add("visible")
            elif _tells(summary, step, value="old"):
                tally.add("stale")
            else:
                tally.add("handle" if _tells(recalled, step) else "lost")
        return tally

    def _round(self, start: int) -> range:
        """The indexes of the calls at `start` and of their results."""
        end = start + 1
        while end < len(self._log) and self._log[end].get("role") == "tool":
            end += 1
        return range(start, end)


def _holds(content: str, value: str) -> bool:
    return value in content or json.dumps(value)[1:-1] in content


def _net(steps: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The last step of each widget, and the additions and removals that no later step reversed."""
    last: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for step in steps:
        node = str(step["node"])
        if step["op"] == "set":
            last[("set", node, step["widget"])] = step
        elif step["op"] == "add":
            last[("add", node)] = step
        else:
            was_added = last.pop(("add", node), None)
            for key in [key for key in last if key[0] == "set" and key[1] == node]:
                del last[key]
            if was_added is None:
                last[("remove", node)] = step
    return list(last.values())


def _tells(texts: Sequence[str], step: Mapping[str, Any], value: str = "new") -> bool:
    """True when one of the texts names the node, and the widget with its value, or the type."""
    node = re.compile(rf"(?<![\w.]){re.escape(str(step['node']))}(?![\d])")
    wanted = [step["type"]] if step["op"] == "add" else []
    if step["op"] == "set":
        wanted = [step["widget"], _shown(step[value])]
    return any(
        node.search(text) and all(_holds(text, str(part)) for part in wanted) for text in texts
    )


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value[:SHOWN_OF_LONG]
    return json.dumps(value)
