"""Asks the search over a chat's log:

    python bench/recall.py --input LOG.json --queries Q.jsonl --k 10 --out OUT.jsonl

For each line `{"id", "query"}` of Q one line `{"id", "indexes"}`: the log messages that
`history_search` returns for it, best first, neighbours included (at most three for each hit).
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402

from plugin.assistant.chats.search import build_index  # noqa: E402
from plugin.bench.logs import read_lines, read_log, searchable  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask the search over a chat's log.")
    parser.add_argument("--input", type=Path, required=True, metavar="LOG.json")
    parser.add_argument("--queries", type=Path, required=True, metavar="Q.jsonl")
    parser.add_argument("--k", type=int, default=10, help="hits for each query")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.jsonl")
    arguments = parser.parse_args()
    index = build_index([searchable(row) for row in read_log(arguments.input)])
    with arguments.out.open("w", encoding="utf-8") as out:
        for asked in read_lines(arguments.queries):
            found: list[int] = []
            for hit in index.search(asked["query"], arguments.k):
                found += [at for at in (hit.index, *hit.neighbours) if at not in found]
            out.write(json.dumps({"id": asked["id"], "indexes": found}) + "\n")


if __name__ == "__main__":
    main()
