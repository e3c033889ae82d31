"""Slash commands that the server answers itself, without asking the chat's model (R41).

`/skill` is not one of them: it changes what the model reads (`command`). A command and its answer
stay in the chat for the user to see, and are never sent to a model (R19).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..messages.parts import Message

_COMMAND = re.compile(r"\s*/(?P<name>[a-z]+)(?:[ \t]+(?P<argument>[^\n]*))?\s*\Z")


@dataclass(frozen=True, slots=True)
class Slash:
    """A command as the user typed it."""

    name: str
    argument: str = ""


COMMANDS = {
    "context": "what the model was sent, what was left out, and why",
    "tokens": "what this chat has used so far",
    "compact": "summarise the older messages now; /compact <topic> keeps more of a topic",
    "help": "this list",
}
PANEL = (
    "In the panel also `/new`, `/skills`, `/model` and `/settings`. `/` lists all of them: arrow "
    "keys choose, Tab completes, Esc closes. Enter sends, Shift + Enter begins a new line."
)
"""What a user of the panel wants to know as well."""
SAME = {"summarize": "compact", "summarise": "compact"}


def slash_in(text: str) -> Slash | None:
    """The command that a message is; None for any other text."""
    found = _COMMAND.match(text)
    if found is None:
        return None
    name = SAME.get(found["name"], found["name"])
    return Slash(name, (found["argument"] or "").strip()) if name in COMMANDS else None


def help_text() -> str:
    """All commands, one line each."""
    lines = [f"- `/{name}`: {about}" for name, about in COMMANDS.items()]
    skill = "- `/skill <name>`: use one of your skills or a model guide"
    return "\n".join([skill, *lines, "", PANEL])


def tokens_text(messages: Iterable[Message]) -> str:
    """What the answers of a chat have used, as their providers counted."""
    names = {"input_tokens": "read", "cached_tokens": "of them cached", "output_tokens": "written"}
    totals = dict.fromkeys(names, 0)
    for message in messages:
        usage = message.metadata.get("usage")
        for name in names:
            value = usage.get(name) if isinstance(usage, dict) else None
            totals[name] += value if isinstance(value, int) else 0
    if not any(totals.values()):
        return "No tokens were counted in this chat yet."
    said = ", ".join(f"{totals[name]:,} {word}" for name, word in names.items())
    return f"This chat has used these tokens so far: {said}."
