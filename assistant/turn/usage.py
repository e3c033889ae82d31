"""The use of tokens and money by a request, for its report and the log."""

from __future__ import annotations

from collections.abc import Iterable

from ..context.report import Cost, Report, RequestUsage
from ..llm.stream_events import Usage
from ..messages.parts import Message
from .measure import cost_in


def report_usage(usage: Usage | None) -> RequestUsage | None:
    """The provider's count of tokens as a report has it."""
    if usage is None:
        return None
    return RequestUsage(usage.input_tokens, usage.output_tokens, usage.cached_tokens)


def tokens_of(report: Report) -> int:
    """Tokens of a request and its answer: the provider's count, else the estimate."""
    usage = report.usage or RequestUsage()
    read = report.total.tokens if usage.input_tokens is None else usage.input_tokens
    return read + (usage.output_tokens or 0)


def chat_cost(
    request: float | None, answer: float | None, history: Iterable[Message], beside: float = 0.0
) -> Cost | None:
    """The cost of a request in US dollars, and of the chat: the answers in `history`, the current
    answer, which cost `answer` so far, and what was spent `beside` the answers. None where the
    request's price is not known."""
    if request is None:
        return None
    earlier = sum(cost_in(message.metadata) or 0.0 for message in history)
    return Cost(request, earlier + (answer or 0.0) + beside)


def log_line(provider: str, report: Report) -> str:
    """One line for the log: sizes, limits and the provider's count, without text of the chat."""
    usage = report.usage or RequestUsage()
    parts = " ".join(f"{name}={report.parts[name].tokens}" for name in report.parts)
    limits = ",".join(report.limits_applied) or "none"
    return ascii(
        f"request {report.request} to {provider}: {parts} total={report.total.tokens} of "
        f"{report.window} tokens, {report.messages_sent} messages, limits {limits}, used "
        f"in={usage.input_tokens} out={usage.output_tokens} cached={usage.cached_tokens}"
    )[1:-1]
