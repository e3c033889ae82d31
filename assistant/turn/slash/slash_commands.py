"""The list of slash commands, the same for panel, HTTP and terminal, and their syntax (R41).

All but `/skill` are answered by `replies`, without the chat's model. A command and its answer stay
in the chat for the user, and are never sent to a model (R19)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ...messages.parts import Message

Place = Literal["server", "client"]

_COMMAND = re.compile(r"\s*/(?P<name>[a-z]+)(?:[ \t]+(?P<argument>[^\n]*))?\s*\Z")


@dataclass(frozen=True, slots=True)
class Slash:
    """A command as the user typed it."""

    name: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command as clients list it. `argument` is `<words>` where the command needs an argument,
    `[words]` where it may have one, else None. A command with the place `client` changes the
    client's screen: the server's answer says how."""

    name: str
    line: str
    argument: str | None = None
    aliases: tuple[str, ...] = ()
    place: Place = "server"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "aliases": list(self.aliases)}


COMMANDS = (
    SlashCommand("new", "begin a new chat", place="client"),
    SlashCommand("chats", "your last chats"),
    SlashCommand("open", "open the chat that has these words", "<words>", place="client"),
    SlashCommand("rename", "give this chat another title", "<title>"),
    SlashCommand("delete", "delete this chat; for a minute it can be brought back", place="client"),
    SlashCommand(
        "cleanup",
        "show the chats that did not change for 90 days; with `confirm`, delete them",
        "[days] [confirm]",
    ),
    SlashCommand("export", "this chat as a file"),
    SlashCommand("history", "what was said in this chat lately"),
    SlashCommand("search", "find words in all chats", "<words>"),
    SlashCommand("context", "what the model was sent, what was left out, and why"),
    SlashCommand("tokens", "what this chat has used so far"),
    SlashCommand(
        "compact",
        "summarise the older messages now; with a topic, keep more of that",
        "[topic]",
        ("summarize", "summarise"),
    ),
    SlashCommand("skill", "use one of your skills or a model guide", "<name>"),
    SlashCommand("skills", "your skills and the model guides"),
    SlashCommand("memory", "what the assistant keeps about you: rules, goals, preferences"),
    SlashCommand("model", "which model answers here, or another one for this chat", "[name]"),
    SlashCommand("settings", "providers, keys and preferences", place="client"),
    SlashCommand("help", "this list"),
)
SKILL = "skill"
"""The command that changes what the model reads and has no answer of its own."""
_BY_NAME = {name: one for one in COMMANDS for name in (one.name, *one.aliases)}
KEYS = (
    "In the panel `/` lists all of them: arrow keys choose, Tab completes, Esc closes. Enter "
    "sends, Shift + Enter begins a new line. In an empty text box the up arrow recalls what you "
    "asked before. Esc stops an answer. Alt + A opens and closes the panel."
)


def slash_in(text: str) -> Slash | None:
    """The slash command in a message; None for other text. Words after a command without an
    argument make it other text: `/history of art` is a question."""
    found = _COMMAND.match(text)
    command = _BY_NAME.get(found["name"]) if found is not None else None
    if found is None or command is None or command.name == SKILL:
        return None
    argument = (found["argument"] or "").strip()
    return Slash(command.name, argument) if command.argument or not argument else None


def answers_marked(messages: Iterable[Message]) -> tuple[Message, ...]:
    """A client's messages, in which each answer to a slash command is marked as such: the mark that
    a client sends does not count."""
    marked: list[Message] = []
    for message in messages:
        asked = marked[-1] if marked and marked[-1].role == "user" else None
        slash = slash_in(asked.text) if asked and message.role == "assistant" else None
        if slash is not None:
            message = replace(message, metadata={**message.metadata, "command": slash.name})
        marked.append(message)
    return tuple(marked)


def help_text() -> str:
    """All commands, one line each."""
    lines = []
    for one in COMMANDS:
        taken = f" {one.argument}" if one.argument else ""
        others = "".join(f" or `/{name}`" for name in one.aliases[:1])
        lines.append(f"- `/{one.name}{taken}`{others}: {one.line}")
    return "\n".join([*lines, "", KEYS])


def tokens_text(messages: Iterable[Message]) -> str:
    """The tokens that the answers of a chat used, as their providers counted them."""
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
