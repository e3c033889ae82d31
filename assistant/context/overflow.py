"""What happens to a message that no window takes.

The law: a message is sent whole or refused, never cut in silence. What a person typed is tried where
the window is only assumed, since the model may have a larger one. The text of a file is not: a file
of some megabytes is larger than every window, and would be paid for before it fails.
"""

from __future__ import annotations

from ..errors import ContextOverflow
from ..messages.prompt import PromptMessage
from .tokens import message_tokens
from .window import Budget

OF_MESSAGE = ("choose-model", "open-settings")
OF_CHAT = ("new-chat", "choose-model")
"""The next steps for a message that is too long alone, and for one that a new chat would take."""


def refuse_too_long(asked: PromptMessage, tokens: int, budget: Budget) -> None:
    """Raises ContextOverflow for a request of `tokens` that answers `asked` and exceeds the window,
    unless it may be tried."""
    window = budget.window
    alone = message_tokens(asked, budget.count)
    is_alone = alone > int(budget.prompt / budget.factor)
    if window.known:
        raise ContextOverflow(
            f"Your message needs about {tokens:,} tokens and the model's window has "
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
