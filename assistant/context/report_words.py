"""A report in words, for `/context`: what was sent, what was left out, and when the next summary
comes (R32)."""

from __future__ import annotations

from collections.abc import Iterator

from .report import PARTS, Report

LEAST_SHOWN = 0.0001
"""Dollars; a smaller amount is not shown as a number."""
NOTHING = "This chat has sent nothing to a model since ComfyUI was started."


def in_words(report: Report | None) -> str:
    """The report as Markdown; without a report, a sentence that says so."""
    return NOTHING if report is None else "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    total = report.total.tokens
    yield f"**The last request has about {total:,} of {report.window:,} tokens.**"
    yield ""
    for part in PARTS:
        size = report.parts.get(part.name)
        if size is not None and size.tokens:
            yield f"- {part.title}: {size.tokens:,} tokens ({size.chars:,} characters)"
    yield ""
    yield " ".join(_left_out(report)) or "Nothing was left out."
    if report.next_trigger:
        trigger = report.next_trigger
        yield ""
        yield (
            f"The next summary comes at {trigger['at']:,} {trigger['what']}; now it is "
            f"{trigger['now']:,} ({trigger['share']:.0%})."
        )
    if report.usage is not None and report.usage.input_tokens:
        share = report.usage.cached_share
        cached = f", {share:.0%} of it cached" if share is not None else ""
        yield f"The provider counted {report.usage.input_tokens:,} tokens{cached}."
    if report.cost is not None:
        request, chat = dollars(report.cost.request), dollars(report.cost.chat)
        yield f"That request cost about {request}, the chat so far {chat}."


def dollars(amount: float) -> str:
    """An amount in US dollars, such as "$1.20" or "$0.0042"."""
    if 0 < amount < LEAST_SHOWN:
        return f"less than ${LEAST_SHOWN}"
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def _left_out(report: Report) -> Iterator[str]:
    if report.summarised:
        yield f"A summary stands for {report.summarised:,} earlier messages."
    elif report.messages_trimmed:
        yield f"{report.messages_trimmed:,} earlier messages are not sent."
    if report.rounds_omitted:
        yield f"The results of {report.rounds_omitted} older steps are one line each."
    if report.results_clamped:
        yield f"{report.results_clamped} long results are shortened."
    if report.results_repeated:
        yield f"{report.results_repeated} results that came twice are sent once."
    if (
        report.messages_trimmed
        or report.rounds_omitted
        or report.results_clamped
        or report.results_repeated
    ):
        yield "All of it is kept: the model can look it up."
