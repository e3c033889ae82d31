"""openai-agents' `SQLiteSession` at the work of the store's benchmark, in its own environment.

    python bench/adapters/openai_agents_session.py TEXTS.jsonl SIZE APPENDS PAGE OUT.json

TEXTS has a line `{"role", "content"}` for each message. OUT gets the milliseconds of each append
and of each read of the last PAGE messages.
"""

import asyncio
import json
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from agents import SQLiteSession

AT_ONCE = 1_000
READS = 30


def main() -> None:
    size, appends, page = (int(argument) for argument in sys.argv[2:5])
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        items = [json.loads(line) for line in islice(lines, size + appends)]
    times = asyncio.run(_times(items, size, page))
    Path(sys.argv[5]).write_text(json.dumps(times), encoding="utf-8")


async def _times(items, size: int, page: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        session = SQLiteSession("long", Path(folder) / "session.db")
        for start in range(0, size, AT_ONCE):
            await session.add_items(items[start : min(start + AT_ONCE, size)])
        appended = [await _timed(session.add_items([item])) for item in items[size:]]
        read = [await _timed(session.get_items(limit=page)) for _ in range(READS)]
        session.close()
    return {"append": appended, "open": read}


async def _timed(work) -> float:
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1_000


if __name__ == "__main__":
    main()
