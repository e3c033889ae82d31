"""Runs a peer's trimming in the peer's own environment, without any of ours.

    python bench/adapters/<peer>.py LOG.json BLOCKS.json LIMIT SECONDS OUT.jsonl

BLOCKS is a list of lists of indexes, each a run of consecutive points. LOG may also be a list of
whole conversations; then an index is the number of one, and its point is after its end. OUT gets a
line `{"at", "messages", "ms"}` for each point, or `error` instead of messages. Only the peer's own
trimming is timed, not the conversion to and from its message types. A peer that needs more than
SECONDS in all is asked at fewer points of each block, two at least.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]

FEWEST_POINTS = 2
"""Two consecutive requests are needed to compare their beginnings."""


def _same(messages: Any) -> Any:
    return messages


def serve(
    trim: Callable[[Any, int], Any],
    into: Callable[[list[Row]], Any] = _same,
    back: Callable[[Any], list[Row]] = _same,
) -> None:
    """Ask `trim(history, limit)` for the request at each point; `into` and `back` convert."""
    log = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    blocks = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    limit, seconds = int(sys.argv[3]), float(sys.argv[4])
    with Path(sys.argv[5]).open("w", encoding="utf-8") as out:
        for block in blocks:
            until = time.monotonic() + seconds / len(blocks)
            for number, at in enumerate(block):
                if number >= FEWEST_POINTS and time.monotonic() > until:
                    break
                line = _ask(trim, into, back, _history(log, at), limit)
                out.write(json.dumps({"at": at, **line}, ensure_ascii=False) + "\n")


def _history(log: list[Any], at: int) -> list[Row]:
    return log[at] if isinstance(log[0], list) else log[:at]


def _ask(trim: Any, into: Any, back: Any, history: list[Row], limit: int) -> Row:
    history = into(copy.deepcopy(history))
    started = time.perf_counter()
    try:
        result = trim(history, limit)
    except Exception as problem:  # an exception of a peer is reported as the peer's result
        return {"messages": [], "error": f"{type(problem).__name__}: {problem}"[:300]}
    spent = time.perf_counter() - started
    return {"messages": back(result), "ms": round(spent * 1_000, 3)}
