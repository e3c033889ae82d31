"""What a request cost, for its report and the log."""

from __future__ import annotations

from ..context.report import Report
from ..context.report import Usage as ReportUsage
from ..llm.events import Usage


def report_usage(usage: Usage | None) -> ReportUsage | None:
    """The provider's count as a report has it."""
    if usage is None:
        return None
    return ReportUsage(usage.input_tokens, usage.output_tokens, usage.cached_tokens)


def log_line(provider: str, report: Report) -> str:
    """One line for each request: sizes, limits and the provider's own count, without any text."""
    usage = report.usage or ReportUsage()
    parts = " ".join(f"{name}={report.parts[name].tokens}" for name in report.parts)
    limits = ",".join(report.limits_applied) or "none"
    return ascii(
        f"request {report.request} to {provider}: {parts} total={report.total.tokens} of "
        f"{report.window} tokens, {report.messages_sent} messages, limits {limits}, used "
        f"in={usage.input_tokens} out={usage.output_tokens} cached={usage.cached_tokens}"
    )[1:-1]
