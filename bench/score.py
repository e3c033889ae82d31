"""Scores the output of `replay.py`:

    python bench/score.py --input LOG.json --replay OUT.jsonl [--handles H.jsonl] [--window N]
        [--facts FACTS.jsonl] [--edits EDITS.json] [--recalled RECALL.jsonl] [--out SCORE.json]

Prints a JSON object: validity (a check of its own), sizes, the stable prefix, times, prices, and,
where the truth about the log is given, the shares of facts and edits that are shown, recallable or
lost.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Mapping, Sequence  # noqa: E402
from statistics import fmean  # noqa: E402
from typing import Any  # noqa: E402

from plugin.bench.logs import read_lines, read_log  # noqa: E402
from plugin.bench.measures import (  # noqa: E402
    CHARS_PER_TOKEN,
    PRICE_MODELS,
    Messages,
    exact_tokens,
    percentile,
    request_tokens,
    steps,
    text_of,
)
from plugin.bench.truth import Tally, Truth  # noqa: E402
from plugin.bench.validity import faults  # noqa: E402

NAMED = 20
"""Number of lost or missed facts whose ids are printed."""
TRUTH_POINTS = 60
"""Number of points at which facts and edits are looked up; the last point is always among them."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Score a replay.")
    parser.add_argument("--input", type=Path, required=True, metavar="LOG.json")
    parser.add_argument("--replay", type=Path, required=True, metavar="OUT.jsonl")
    parser.add_argument("--window", type=int, metavar="N", help="tokens")
    for name in ("handles", "facts", "edits", "recalled", "out"):
        parser.add_argument(f"--{name}", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    log = read_log(arguments.input)
    lines = read_lines(arguments.replay)
    score = score_requests([lines], arguments.window)
    if arguments.facts:
        facts = read_lines(arguments.facts)
        edits = json.loads(arguments.edits.read_text("utf-8")) if arguments.edits else None
        handles = read_lines(arguments.handles) if arguments.handles else []
        contents = {row["handle"]: row["content"] for row in handles}
        score |= score_truth(lines, Truth(log, facts, edits, contents))
        if arguments.recalled:
            score["by_query"] = score_search(log, facts, read_lines(arguments.recalled))
    text = json.dumps(score, indent=1)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n", encoding="utf-8")


def score_requests(
    blocks: Sequence[Sequence[Mapping[str, Any]]], window: int | None
) -> dict[str, Any]:
    """The figures that need no truth about the log. Each block is a run of consecutive points.

    `prefix_of_previous` and `prefix_of_current` are means over consecutive requests of the common
    beginning, divided by the length of the former or the latter; prices are means over the same
    requests.
    """
    lines = [line for block in blocks for line in block]
    sent = [line for line in lines if line["messages"]]
    found = [faults(line["messages"]) for line in sent]
    kinds = Counter(fault.split(": ")[-1] for each in found for fault in each)
    walked = [
        step
        for block in blocks
        for step in steps([line["messages"] for line in block if line["messages"]])
    ]
    sizes = [request_tokens(line["messages"]) for line in sent]
    exact = [exact_tokens(line["messages"]) for line in sent]
    read = [_read_tokens(line["messages"]) for line in sent]
    known = [count for count in exact if count is not None]
    times = [line["ms"] for line in lines if "ms" in line]
    score = {
        "points": len(lines),
        "refused": sum(bool(line.get("error")) for line in lines),
        "invalid": sum(bool(each) for each in found),
        "faults": dict(kinds),
        "tokens_json": round(fmean(sizes), 1),
        "tokens_read": round(fmean(read), 1),
        "tokens_exact": round(fmean(known), 1) if known else None,
        "prefix_of_previous": round(fmean(step.of_previous for step in walked), 4),
        "prefix_of_current": round(fmean(step.of_current for step in walked), 4),
        "ms_p50": percentile(times, 0.5),
        "ms_p95": percentile(times, 0.95),
        "priced": {
            model.name: round(fmean(step.price(model) for step in walked), 1)
            for model in PRICE_MODELS
        },
    }
    if window:
        score["over_window"] = {
            "json": sum(size > window for size in sizes),
            "read": sum(count > window for count in read),
            "exact": sum(count > window for count in known) if known else None,
        }
    return score


def _read_tokens(messages: Messages) -> float:
    """Characters / 4 of what the model reads."""
    return sum(len(text_of(message)) for message in messages) / CHARS_PER_TOKEN


def score_truth(lines: Sequence[Mapping[str, Any]], truth: Truth) -> dict[str, Any]:
    """Counts where facts and net edits are, at evenly spread points; `at_end` is the last point
    alone."""
    stride = max(1, len(lines) // TRUTH_POINTS)
    chosen = [line for line in reversed(lines) if line["messages"]][::stride]
    over_all, where_lost, edits = Tally(), Counter[str](), Tally()
    for line in chosen:
        for fact, place in truth.place_of_facts(line).items():
            over_all.add(place)
            if place == "lost":
                where_lost[fact] += 1
        told = truth.place_of_edits(line)
        for place, count in told.counts.items():
            for _ in range(count):
                edits.add(place)
    end = Tally()
    for place in truth.place_of_facts(chosen[0]).values():
        end.add(place)
    return {
        "facts": over_all.shares(),
        "facts_at_end": end.shares(),
        "facts_lost": sorted(where_lost)[:NAMED],
        "edits": edits.shares(),
        "edits_at_end": truth.place_of_edits(chosen[0]).shares(),
        "summary_chars_at_end": len(truth.summary_of(chosen[0]["messages"])),
    }


def score_search(
    log: Messages, facts: Sequence[Mapping[str, Any]], recalled: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Counts the facts whose value stands in a message that the fact's query returned."""
    found = {row["id"]: row["indexes"] for row in recalled}
    tally, missed = Tally(), []
    for fact in facts:
        hit = any(fact["value"] in text_of(log[index]) for index in found.get(fact["id"], ()))
        tally.add("found" if hit else "missed")
        if not hit:
            missed.append(fact["id"])
    return {**tally.shares(), "missed_ids": missed[:NAMED]}


if __name__ == "__main__":
    main()
