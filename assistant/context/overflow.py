"""What happens to a message that no window takes.

The law: a message is sent whole or refused, never cut in silence. What a person typed is tried
where the window is only assumed, since the model may have a larger one. The text of a file is not:
a file of some megabytes is larger than every window, and would be paid for before it fails.
"""

from __future__ import annotations

from ..errors import ContextOverflow
from ..messages.prompt import PromptMessage
from .report import Report
from .report_parts import SYSTEM, TOOL_SCHEMAS, USER_CONTEXT
from .tokens import message_tokens
from .window import Budget

OF_MESSAGE = ("choose-model", "open-settings")
OF_CHAT = ("new-chat", "choose-model")
"""The next steps for a message that is too long alone, and for one that a new chat would take."""


def refuse_too_long(asked: PromptMessage, report: Report, budget: Budget) -> None:
    """Raises ContextOverflow for the request of `report` that answers `asked` and exceeds the
    window, unless it may be tried. The sentence names what is too long, since a person can shorten
    only a message or a chat."""
    window = budget.window
    alone = message_tokens(asked, budget.count)
    room = int(budget.prompt / budget.factor)
    is_alone = alone > room
    if window.known:
        same = sum(report.parts[part.name].tokens for part in (SYSTEM, USER_CONTEXT, TOOL_SCHEMAS))
        if not is_alone and alone < same and same + alone > room:
            raise ContextOverflow(
                f"The assistant's rules and tools alone need about {same:,} tokens and the model's "
                f"window has {window.tokens:,}: choose a model with a larger window, or raise this "
                "one's.",
                actions=OF_MESSAGE,
            )
        raise ContextOverflow(
            f"Your message needs about {report.total.tokens:,} tokens and the model's window has "
            f"{window.tokens:,}: shorten it, or choose a model with a larger window.",
            actions=OF_MESSAGE if is_alone else OF_CHAT,
        )
    if is_alone and asked.own_words is not None:
        raise ContextOverflow(
            f"Your message with its files needs about {alone:,} tokens. How large the model's "
            f"window is, is not known, and {window.tokens:,} are assumed: attach less, or set the "
            "model's context window in the settings.",
            actions=OF_MESSAGE,
        )
