"""The engine beside its peers, on the same logs in one run:

    python bench/peers.py [--window 8000] [--log LOG.json ...] [--only NAME ...] [--out FOLDER]

Each peer comes from PyPI into an environment of its own (`.cache/peers`) and is asked for its
request at up to 150 points of each log: runs of consecutive points, spread over its length. Logs
are seeded sessions with planted facts and the true list of edits, and any LOG.json that is given.
FOLDER (`.cache/bench`) gets `peers.json` and `peers.md`.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterator, Mapping, Sequence  # noqa: E402
from dataclasses import dataclass, replace  # noqa: E402
from typing import Any  # noqa: E402

from plugin.assistant.config import Settings  # noqa: E402
from plugin.assistant.context.chat_context import ChatContext  # noqa: E402
from plugin.assistant.context.window import Budget  # noqa: E402
from plugin.bench.environments import (  # noqa: E402
    ROOT,
    Peer,
    PeerUnavailable,
    ask,
    version_of,
)
from plugin.bench.fixed_rule import request  # noqa: E402
from plugin.bench.logs import read_log  # noqa: E402
from plugin.bench.measures import Messages  # noqa: E402
from plugin.bench.peer_table import markdown  # noqa: E402
from plugin.bench.recall import index_of  # noqa: E402
from plugin.bench.replay import MILLISECONDS, points  # noqa: E402
from plugin.bench.rules_cost import rules_cost  # noqa: E402
from plugin.bench.score import score_requests, score_search, score_truth  # noqa: E402
from plugin.bench.session import Shape, write_session  # noqa: E402
from plugin.bench.tool_facts import bench_facts  # noqa: E402
from plugin.bench.truth import Truth  # noqa: E402

BLOCKS, BLOCK_POINTS = 5, 30
"""150 points of each log."""
FIRST_SHARE, LAST_SHARE = 0.04, 0.95
"""Places in the log, as shares of its length, where the first block begins and the last block
ends."""
PEER_SECONDS = 60.0
HITS = 10
SESSIONS = {
    "mixed": (1, Shape()),
    "views": (6, Shape(full_share=0.02, look_weight=60)),
    "giants": (4, Shape(full_share=0.5, giant_share=0.3)),
}
"""Name, seed and shape of each generated log: mixed tools; every round looks at the workflow;
results that alone nearly fill the window."""
PEERS = (
    Peer("litellm_trim", "litellm `trim_messages`", "litellm", ("litellm", "tiktoken")),
    Peer("supyagent_manager", "supyagent `ContextManager`", "supyagent", ("supyagent==0.5.12",)),
    Peer("langchain_trim", "langchain-core `trim_messages`", "langchain", ("langchain-core",)),
    Peer(
        "langchain_trim",
        'langchain-core with `start_on="human"`',
        "langchain",
        ("langchain-core",),
        options=("human",),
    ),
    Peer(
        "llama_index_buffer",
        "llama-index `ChatMemoryBuffer`",
        "llama-index",
        ("llama-index-core", "tiktoken"),
    ),
    Peer("haystack_sliding", "haystack `SlidingWindowCompactor`", "haystack", ("haystack-ai",)),
    Peer("haystack_pruning", "haystack `ToolResultPruningCompactor`", "haystack", ("haystack-ai",)),
    Peer("maf_anchored", "maf-compaction anchored", "maf", ("maf-compaction",), python=12),
    Peer("headroom_compress", "headroom `compress`", "headroom", ("headroom-ai",)),
    Peer(
        "openai_agents_trimmer",
        "openai-agents `ToolOutputTrimmer`",
        "openai-agents",
        ("openai-agents",),
    ),
)


@dataclass(frozen=True, slots=True)
class Input:
    """A log and its path; a generated log also has its facts, queries and edits."""

    name: str
    path: Path
    log: Messages
    facts: Sequence[Mapping[str, Any]] = ()
    queries: Sequence[Mapping[str, str]] = ()
    edits: Mapping[str, Any] | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description="The engine beside its peers.")
    parser.add_argument("--window", type=int, default=8_000, help="tokens")
    parser.add_argument("--log", type=Path, action="append", default=[], metavar="LOG.json")
    parser.add_argument("--only", action="append", metavar="NAME", help="such as litellm_trim")
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench", metavar="FOLDER")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = []
    for one in inputs(arguments.log, arguments.out):
        rows = [*_ours(one, arguments.window), _reference(one, arguments.window)]
        for peer in PEERS:
            if arguments.only is None or peer.name in arguments.only:
                rows.append(_peer(peer, one, arguments.window, arguments.out))
        result = {"log": one.name, "messages": len(one.log), "rows": rows}
        result["rules_cost"] = rules_cost(one.log, arguments.window)
        result["by_query"] = _searched(one)
        results.append(result)
        text = markdown(results, arguments.window)
        (arguments.out / "peers.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
        (arguments.out / "peers.md").write_text(text, encoding="utf-8")
    print(text)


def inputs(given: Sequence[Path], folder: Path) -> Iterator[Input]:
    """The generated logs, then the given logs."""
    for name, (seed, shape) in SESSIONS.items():
        session = write_session(seed, shape)
        path = folder / f"{name}.json"
        path.write_text(json.dumps(session.messages, ensure_ascii=False), encoding="utf-8")
        yield Input(name, path, session.messages, session.facts, session.queries, session.edits)
    for path in given:
        yield Input(path.stem, path, read_log(path))


def blocks_of(log: Messages) -> list[list[int]]:
    """Runs of consecutive points before an assistant message, spread over the log."""
    every = [at for at, row in enumerate(log) if at and row["role"] == "assistant"]
    if len(every) <= BLOCKS * BLOCK_POINTS:
        return [every]
    first, last = int(len(every) * FIRST_SHARE), int(len(every) * LAST_SHARE) - BLOCK_POINTS
    starts = [first + (last - first) * n // (BLOCKS - 1) for n in range(BLOCKS)]
    return [every[start : start + BLOCK_POINTS] for start in starts]


def _ours(one: Input, window: int) -> Iterator[dict[str, Any]]:
    for cache in ("none", "auto"):
        settings = replace(Settings(), prompt_cache=cache)
        chat = ChatContext(settings, Budget.of_messages(window), facts=bench_facts())
        lines = list(points(chat, one.log))
        handles = {elided["handle"] for line in lines for elided in line["left_out"]}
        contents = {handle: chat.recall(handle) for handle in sorted(handles)}
        row = {"name": f"ours_{cache}", "title": f"**ours, `{cache}`**"}
        yield {**row, "version": "-", **_scored(one, lines, window, contents)}


def _reference(one: Input, window: int) -> dict[str, Any]:
    lines = []
    for block in blocks_of(one.log):
        for at in block:
            started = time.perf_counter()
            messages = request(one.log[:at])
            spent = (time.perf_counter() - started) * MILLISECONDS
            lines.append({"at": at, "messages": messages, "ms": round(spent, 3)})
    row = {"name": "fixed_rule", "title": "the fixed rule (last 24, drop one orphan)"}
    return {**row, "version": "-", **_scored(one, lines, window, {})}


def _searched(one: Input) -> dict[str, Any] | None:
    """The share of the facts whose question finds them among the first ten hits."""
    if not one.queries:
        return None
    index = index_of(one.log)
    found = [
        {"id": asked["id"], "indexes": [at for hit in hits for at in (hit.index, *hit.indexes)]}
        for asked in one.queries
        for hits in [index.search(asked["query"], HITS)]
    ]
    return score_search(one.log, one.facts, found)


def _peer(peer: Peer, one: Input, window: int, folder: Path) -> dict[str, Any]:
    row = {"name": peer.name, "title": peer.title}
    try:
        version = version_of(peer)
        lines = ask(peer, one.path, blocks_of(one.log), window, PEER_SECONDS, folder)
    except PeerUnavailable as reason:
        return {**row, "unavailable": str(reason)}
    return {**row, "version": version, **_scored(one, lines, window, {})}


def _scored(
    one: Input, lines: Sequence[Mapping[str, Any]], window: int, contents: Mapping[str, str]
) -> dict[str, Any]:
    """The figures at the points of the blocks, the same for all peers; our own lines have all
    points."""
    at = {line["at"]: line for line in lines}
    asked = [[at[index] for index in block if index in at] for block in blocks_of(one.log)]
    errors = [line["error"] for line in at.values() if line.get("error")]
    if len(errors) == len(at):
        return {"unavailable": errors[0] if errors else "no answer"}
    score = score_requests(asked, window)
    if one.facts:
        truth = Truth(one.log, one.facts, one.edits, contents)
        score |= score_truth([line for block in asked for line in block], truth)
    return score


if __name__ == "__main__":
    main()
