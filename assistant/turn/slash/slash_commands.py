"""The list of slash commands, the same for panel, HTTP and terminal, and their syntax (R41).

All but `/skill` are answered by `replies`, without the chat's model. A command and its answer stay
in the chat for the user, and are never sent to a model (R19)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ...messages.parts import Message
from .nearest import nearest

Place = Literal["server", "client"]

_COMMAND = re.compile(
    r"\s*/(?P<name>[A-Za-z0-9][\w-]{0,31})(?:[ \t]+(?P<argument>[^\n]*))?\s*\Z", re.ASCII
)
_FOLDERS: Final = frozenset(
    (
        "app basedir bin boot content data dev etc home lib media mnt models opt private proc root "
        "run runpod-volume sbin srv storage sys tmp users usr var volumes workspace"
    ).split()
)
"""Folders at the root of a disk, with which a sentence may begin."""
_MOST_WORDS: Final = 8
"""Words after an unknown name, beyond which the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Slash:
    """A command as the user typed it; its name is that of the list, or, where the list has none
    (`known` is False), what the user typed in small letters."""

    name: str
    argument: str = ""
    known: bool = True


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command as clients list it. `argument` is `<words>` where the command needs an argument,
    `[words]` where it may have one, else None. A command with the place `client` changes the
    client's screen: the server's answer says how. With `one_word`, several words after the name
    make the message other text."""

    name: str
    line: str
    argument: str | None = None
    aliases: tuple[str, ...] = ()
    place: Place = "server"
    one_word: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "line": self.line,
            "argument": self.argument,
            "aliases": list(self.aliases),
            "place": self.place,
        }

    def takes(self, argument: str) -> bool:
        if self.one_word:
            return len(argument.split()) <= 1
        return self.argument is not None or not argument


COMMANDS = (
    SlashCommand("new", "begin a new chat", place="client"),
    SlashCommand("chats", "your last chats, with their ids", aliases=("sessions",)),
    SlashCommand(
        "open",
        "open the chat with this id, or that has these words",
        "<id or words>",
        ("session",),
        place="client",
    ),
    SlashCommand("rename", "give this chat another title", "<title>"),
    SlashCommand(
        "delete",
        "delete this chat, or the one with this id; for a minute it can be brought back",
        "[id]",
        place="client",
        one_word=True,
    ),
    SlashCommand(
        "cleanup",
        "show the chats that did not change for 90 days; with `confirm`, delete them",
        "[days] [confirm]",
    ),
    SlashCommand(
        "export",
        "this chat as a file: `markdown`, `jsonl`, `trajectory`, or the name of the file",
        "[format]",
        place="client",
        one_word=True,
    ),
    SlashCommand(
        "history", "the last 10 messages of this chat, or as many", "[count]", one_word=True
    ),
    SlashCommand("search", "find words in all chats", "<words>"),
    SlashCommand("context", "what the model was sent, what was left out, and why"),
    SlashCommand(
        "tokens",
        "what this chat has used so far; `on` shows it under each answer, `off` hides it",
        "[on or off]",
        place="client",
        one_word=True,
    ),
    SlashCommand(
        "compact",
        "summarise the older messages now; with a topic, keep more of that",
        "[topic]",
        ("summarize", "summarise"),
    ),
    SlashCommand("skill", "use one of your skills or a model guide", "<name>"),
    SlashCommand("skills", "your skills and the model guides"),
    SlashCommand(
        "memory",
        "what the assistant keeps about you, or what of it has these words",
        "[words]",
    ),
    SlashCommand("remember", "keep this for all chats", "<text>"),
    SlashCommand(
        "forget", "forget what has these words, or `that`; for a minute `undo` works", "<words>"
    ),
    SlashCommand("model", "which model answers here, or another one for this chat", "[name]"),
    SlashCommand("settings", "providers, keys and preferences", place="client"),
    SlashCommand("help", "this list"),
)
SKILL = "skill"
"""The command that changes what the model reads and has no answer of its own."""
_BY_NAME = {name: one for one in COMMANDS for name in (one.name, *one.aliases)}
NAMES: Final = tuple(_BY_NAME)
"""The names of all commands, and their other names."""
KEYS = (
    "In the panel `/` lists all of them: arrow keys choose, Tab completes, Esc closes. Enter "
    "sends, Shift + Enter begins a new line. In an empty text box the up arrow recalls what you "
    "asked before. Esc stops an answer. Alt + A opens and closes the panel."
)


def slash_in(text: str) -> Slash | None:
    """The slash command in a message; None for other text. Words after a command that takes none
    make it other text: `/history of art` is a question."""
    found = _COMMAND.match(text)
    if found is None:
        return None
    name, argument = found["name"].lower(), (found["argument"] or "").strip()
    command = _BY_NAME.get(name)
    if command is None:
        unknown = _is_meant_as_command(name, argument)
        return Slash(name, argument, known=False) if unknown else None
    if command.name == SKILL:
        return None
    return Slash(command.name, argument) if command.takes(argument) else None


def _is_meant_as_command(name: str, argument: str) -> bool:
    """Whether a line that begins with a slash and an unknown name is a command rather than a
    sentence about a folder, or a question."""
    if nearest(name, NAMES) is not None:
        return True
    is_sentence = argument.endswith("?") or len(argument.split()) > _MOST_WORDS
    return not is_sentence and name not in _FOLDERS and not name.isdecimal()


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
    more = "`/tokens on` shows them under each answer."
    if not any(totals.values()):
        return f"No tokens were counted in this chat yet. {more}"
    said = ", ".join(f"{totals[name]:,} {word}" for name, word in names.items())
    return f"This chat has used these tokens so far: {said}. {more}"
