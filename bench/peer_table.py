"""The results of `peers.py` as Markdown tables, one for each log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

HEAD = (
    "",
    "invalid",
    "tokens",
    "over",
    "stable prefix",
    "p50 ms",
    "facts visible",
    "by handle",
    "lost",
    *(f"priced: {name}" for name in ("none", "auto .1", "auto .5", "explicit")),
)


def markdown(results: Sequence[Mapping[str, Any]], window: int) -> str:
    """One table for each log. Tokens are exact where they could be counted, else characters / 4;
    `over` is the share of requests over the window; the stable prefix is a share of the previous
    request, and in brackets a share of the request itself; priced tokens are means for a
    request."""
    return "\n".join(_table(result, window) for result in results)


def _table(result: Mapping[str, Any], window: int) -> str:
    lines = [
        f"### {result['log']}: {result['messages']:,} messages, window {window:,}",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|" + "---|" * len(HEAD),
    ]
    for row in result["rows"]:
        cells = (
            _cells(row) if "unavailable" not in row else [f"not to be had: {row['unavailable']}"]
        )
        lines.append(f"| {row['title']} | " + " | ".join(cells) + " |")
    lines += ["", _rules(result["rules_cost"])]
    if result["by_query"]:
        found = _share(result["by_query"].get("found", 0))
        lines += ["", f"Facts found by a question in the first ten hits: {found}."]
    return "\n".join(lines) + "\n"


def _rules(cost: Mapping[str, Mapping[str, float]]) -> str:
    """The figures of `rules_cost` as a sentence."""
    shares = ", ".join(f"{name}: {_share(one['share'])}" for name, one in cost.items())
    return f"Priced tokens with all rules in view, as a share of the fixed rule's: {shares}."


def _cells(row: Mapping[str, Any]) -> list[str]:
    facts = row.get("facts", {})
    shown = facts.get("visible", 0) + facts.get("summary", 0)
    asked = row["points"] - row["refused"]
    exact = row["tokens_exact"] is not None
    over = row["over_window"]["exact" if exact else "read"]
    return [
        _share(row["invalid"] / asked),
        f"{row['tokens_exact'] if exact else row['tokens_read']:,.0f}",
        _share(over / asked),
        f"{row['prefix_of_previous']:.2f} ({row['prefix_of_current']:.2f})",
        f"{row['ms_p50']:.1f}",
        *(
            (_share(v) for v in (shown, facts.get("handle", 0), facts.get("lost", 0)))
            if facts
            else "---"
        ),
        *(f"{price:,.0f}" for price in row["priced"].values()),
    ]


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"
