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
from collections.abc import Mapping, Sequence  # noqa: E402
from itertools import accumulate  # noqa: E402
from typing import Any  # noqa: E402

from plugin.assistant.chats.search.message_text import text_of_prompt  # noqa: E402
from plugin.assistant.search.text_index import TextIndex  # noqa: E402
from plugin.bench.logs import message_of, read_lines, read_log  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask the search over a chat's log.")
    parser.add_argument("--input", type=Path, required=True, metavar="LOG.json")
    parser.add_argument("--queries", type=Path, required=True, metavar="Q.jsonl")
    parser.add_argument("--k", type=int, default=10, help="hits for each query")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.jsonl")
    arguments = parser.parse_args()
    index = index_of(read_log(arguments.input))
    with arguments.out.open("w", encoding="utf-8") as out:
        for asked in read_lines(arguments.queries):
            hits = index.search(str(asked["query"]), arguments.k)
            found = [at for hit in hits for at in (hit.index, *hit.indexes)]
            line = {"id": asked["id"], "indexes": list(dict.fromkeys(found))}
            out.write(json.dumps(line) + "\n")


def index_of(log: Sequence[Mapping[str, Any]]) -> TextIndex:
    """The search index of the log's messages; a tool's results belong to the round of their call.
    System messages are in no chat's log, and are left out."""
    messages = [message_of(row) for row in log]
    begins = (message.role != "tool" for message in messages)
    texts = [text_of_prompt(m) if m.role != "system" else "" for m in messages]
    return TextIndex.of(texts, list(accumulate(map(int, begins))))


if __name__ == "__main__":
    main()
