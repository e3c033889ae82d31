"""The results of `sense.py` as Markdown: one table of ours, and one of the peers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Results = Mapping[str, Any]


def markdown(results: Results) -> str:
    """The tables. Shares are written as they are, from 0 to 1; tokens are means and, in brackets,
    the most."""
    return "\n".join([*_ours(results), "", *_peers(results)]).rstrip() + "\n"


def _ours(results: Results) -> Iterator[str]:
    against = results.get("against")
    head = ["", "mode", "ours", *([f"at {against}"] if against else []), "goal", "met"]
    yield from _head(head)
    before = {_key(row): row for row in results.get("before", ())}
    for row in results["rows"]:
        if row["who"] != "ours":
            continue
        cells = [row["what"], f"`{row['mode']}`", _said(row["values"])]
        if against:
            old = before.get(_key(row))
            cells.append(_said(old["values"]) if old else "not measured")
        met = {True: "yes", False: "**no**", None: "-"}[row["met"]]
        yield _line([*cells, row["goal"] or "-", met])


def _peers(results: Results) -> Iterator[str]:
    rows = [row for row in results["rows"] if row["who"] != "ours"]
    if not rows:
        return
    yield from _head(["", "peer", "figures"])
    for row in rows:
        values = row["values"]
        reason = values.get("unavailable")
        said = f"not to be had: {reason}" if reason else _said(values)
        yield _line([row["what"], row["who"], said])


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["row"], row["what"], row["mode"], row["who"])


def _said(values: Mapping[str, Any]) -> str:
    if "any" not in values:
        return ", ".join(f"{name} {_number(value)}" for name, value in values.items())
    text = f"{values['any']:.2f} / {values['all']:.2f}"
    text += f", {values['tokens_mean']:,} tokens ({values['tokens_most']:,})"
    if values["over_window"]:
        text += f", {values['over_window']} of {values['questions']} over the window"
    return text


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)


def _head(cells: Sequence[str]) -> list[str]:
    return [_line(cells), "|" + "---|" * len(cells)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
