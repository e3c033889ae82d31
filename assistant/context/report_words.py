"""A report in words, for `/context`: what was sent, what was left out, and how far each limit is
that asks for the next summary (R32). The panel says the same in the same words
(`web/strings.js`)."""

from __future__ import annotations

from collections.abc import Iterator

from .report import PARTS, Report

LEAST_SHOWN = 0.0001
"""Dollars; a smaller amount is not shown as a number."""
NEXT_SUMMARY = "The next summary comes when one of these limits is passed:"
NEXT_CUT = "Summaries are off. Older messages are left out when one of these limits is passed:"
DUE = "The next turn meets one of these limits."
NOT_DUE = "The next turn meets none of these limits."
NOTHING = "This chat has sent nothing to a model since ComfyUI was started."


def in_words(report: Report | None) -> str:
    """The report as Markdown; without a report, a sentence that says so."""
    return NOTHING if report is None else "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    total = report.total.tokens
    # The room of the answer is not the request's, here as in the panel's meter.
    room = max(1, report.window - report.reserve)
    yield f"**The last request has about {total:,} of {room:,} tokens.**"
    yield ""
    for part in PARTS:
        size = report.parts.get(part.name)
        if size is not None and size.tokens:
            yield f"- {part.title}: {size.tokens:,} tokens ({size.chars:,} characters)"
    yield ""
    yield " ".join(_left_out(report)) or "Nothing was left out."
    yield ""
    yield from _triggers(report)
    yield ""
    if report.usage is not None and report.usage.input_tokens:
        share = report.usage.cached_share
        cached = f", {share:.0%} of it cached" if share is not None else ""
        yield f"The provider counted {report.usage.input_tokens:,} tokens{cached}."
    if report.cost is not None:
        request, chat = dollars(report.cost.request), dollars(report.cost.chat)
        yield f"That request cost about {request}, the chat so far {chat}."


def _triggers(report: Report) -> Iterator[str]:
    """All limits that ask for a cut, and whether the next turn meets one."""
    if report.triggers:
        yield NEXT_SUMMARY if report.summarises else NEXT_CUT
        yield ""
    for trigger in report.triggers:
        share = f"{trigger.share * 100:.0f} %"
        progress = f"{trigger.now:,} of {trigger.at:,} {trigger.what} ({share})"
        yield f"- {progress}: {trigger.setting}"
    if report.triggers:
        yield ""
        yield DUE if report.due else NOT_DUE


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
