"""Times of storing, finding and following chats, compared with other stores at the same work:

    python bench/chats.py [--sizes 10 1000 100000] [--out FOLDER] [--only ours jsonl agents events]

For a chat of each size: appending a message (durable when it returns), opening the first page,
listing and searching all chats; an append also as a multiple of a bare SQLite commit of the same
row at the same `synchronous` setting, taken in turns. Then events per second that reach 1 and 100
readers of a chat, and the RAM that a chat takes. FOLDER (`.cache/bench`) gets `chats.json` and
`chats.md`.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import asyncio  # noqa: E402
import json  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
from collections.abc import Mapping, Sequence  # noqa: E402
from itertools import islice  # noqa: E402
from typing import Any  # noqa: E402

from plugin.bench.chat_log import texts  # noqa: E402
from plugin.bench.chat_readers import events_per_second, memory_per_chat  # noqa: E402
from plugin.bench.chat_stores import APPENDS, PAGE, json_lines, ours  # noqa: E402
from plugin.bench.environments import (  # noqa: E402
    ADAPTERS,
    ROOT,
    Peer,
    PeerUnavailable,
    python_of,
    version_of,
)
from plugin.bench.measures import percentile  # noqa: E402

SIZES = (10, 1_000, 100_000)
READERS = (1, 100)
PEER_SECONDS = 600
AGENTS = Peer(
    "openai_agents_session", "openai-agents `SQLiteSession`", "openai-agents", ("openai-agents",)
)
PARTS = ("ours", "jsonl", "agents", "events")
COLUMNS = (
    ("append_ms", "append"),
    ("append_p95_ms", "p95"),
    ("append_per_commit", "per bare commit"),
    ("ten_at_once_ms", "10 at once, each"),
    ("open_ms", "first page"),
    ("list_ms", "list"),
    ("search_ms", "search"),
    ("start_ms", "first list after a start"),
    ("file_mb", "MB"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast chats are kept, found and followed.")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="messages")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench", metavar="FOLDER")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for size in arguments.sizes:
        for name in arguments.only:
            if name != "events":
                rows.append({"messages": size, **measure(name, size, arguments.out)})
                print(json.dumps(rows[-1]), flush=True)
    results: dict[str, Any] = {"stores": rows}
    if "events" in arguments.only:
        results["events"] = [
            {"readers": readers, **asyncio.run(events_per_second(readers))} for readers in READERS
        ]
        results["memory"] = asyncio.run(memory_per_chat())
    text = markdown(results)
    (arguments.out / "chats.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    (arguments.out / "chats.md").write_text(text, encoding="utf-8")
    print(text)


def measure(name: str, size: int, folder: Path) -> dict[str, Any]:
    """The figures of the store `name` for a chat of `size` messages."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        if name == "ours":
            return {"name": "ours", **asyncio.run(ours(Path(own), size))}
        if name == "jsonl":
            return {"name": "JSON Lines, synced", **json_lines(Path(own), size)}
        try:
            return {"name": AGENTS.title, "version": version_of(AGENTS), **_agents(Path(own), size)}
        except PeerUnavailable as reason:
            return {"name": AGENTS.title, "unavailable": str(reason)}


def _agents(folder: Path, size: int) -> dict[str, Any]:
    """Raises PeerUnavailable."""
    given, found = folder / "texts.jsonl", folder / "agents.json"
    with given.open("w", encoding="utf-8") as file:
        for role, text in islice(texts(), size + APPENDS):
            file.write(json.dumps({"role": role, "content": text}, ensure_ascii=False) + "\n")
    program = ADAPTERS / f"{AGENTS.adapter}.py"
    command = [python_of(AGENTS), program, given, size, APPENDS, PAGE, found]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=PEER_SECONDS
    )
    if done.returncode:
        raise PeerUnavailable((done.stderr.strip().split("\n") or [""])[-1][:200])
    times = json.loads(found.read_text(encoding="utf-8"))
    return {
        "append_ms": round(percentile(times["append"], 0.5), 3),
        "append_p95_ms": round(percentile(times["append"], 0.95), 3),
        "open_ms": round(percentile(times["open"], 0.5), 3),
    }


def markdown(results: Mapping[str, Any]) -> str:
    """The figures as tables; times are medians in milliseconds of the clock."""
    lines = ["Milliseconds, medians; -: it has no such thing.", ""]
    head = ["messages", "store", *(title for _, title in COLUMNS)]
    lines += _table(
        head,
        [
            [f"{row['messages']:,}", row["name"], *(str(row.get(key, "-")) for key, _ in COLUMNS)]
            for row in results["stores"]
        ],
    )
    if "events" in results:
        lines += ["", *_table(list(results["events"][0]), [*map(_cells, results["events"])])]
        lines += ["", *_table(list(results["memory"]), [_cells(results["memory"])])]
    return "\n".join(lines) + "\n"


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [f"{value:,}" for value in row.values()]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


if __name__ == "__main__":
    main()
