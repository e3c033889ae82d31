"""Content that a request would have twice, sent once (R18).

The same skill, document, or view of a workflow comes again and again. The first copy in a request
is sent as it is; a later one becomes one line that says so and names its handle. It does so only
where the first copy shows at least as much of the content as the later one would, in the same
request. That depends on what is sent alone: when a mask or a cut takes the first copy away, the
same request has the next one in full again, so nothing ever points to what is not there; and where
prompts are cached nothing changes without such a commitment (R50).

What the user says is never replaced, but for the instructions of a skill that `/skill` put there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage
from .clamp import clamp_text
from .digest import has_failed, is_digest, parsed
from .handles import row_handle
from .log import Group

NOTE = "The same, word for word, as an earlier result above, so it is not sent twice"
BEGINNING = 40
"""Characters of the content that tell which earlier result is meant."""
SKILL = '[The user activated the skill "'
SKILL_ENDS = "\n\n[The user's message]\n\n"
"""How `prompts/skill_activation.j2` begins, and what stands before the user's own request."""
SKILL_AGAIN = "[Its instructions stand in an earlier message above, word for word the same; "


class Repeats:
    """Finds repetitions of at least `least` characters; 0 finds none. The same request gives the
    same objects again."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._made: dict[int, tuple[Group, tuple[int, ...], Group]] = {}
        self._lines: dict[int, str] = {}

    def once(
        self, before: Iterable[Group], shaped: Sequence[Group], whole: Sequence[Group]
    ) -> tuple[Group, ...]:
        """`shaped`, which is what `whole` is sent as, with repetitions as lines; the groups
        `before` them are sent in full."""
        if not self._least:
            return tuple(shaped)
        shown: dict[str, int] = {}
        for group in before:
            self._repeated(group, group, shown)
        return tuple(
            self._lined(sent, group, self._repeated(sent, group, shown))
            for sent, group in zip(shaped, whole, strict=True)
        )

    def forget(self, before: int) -> None:
        """Drops what was kept of groups that end before the row `before`."""
        self._made = {first: kept for first, kept in self._made.items() if kept[0].end > before}
        self._lines = {row: line for row, line in self._lines.items() if row >= before}

    def _repeated(self, sent: Group, whole: Group, shown: dict[str, int]) -> tuple[int, ...]:
        """The places of the group's messages that were shown before; notes what it shows itself.

        `shown` maps contents to how many characters of each the request has so far.
        """
        if whole.role not in ("user", "assistant"):
            return ()
        found = []
        for place in range(1 if whole.is_round else 0, len(whole.messages)):
            message, shaped = whole.messages[place], sent.messages[place]
            content = _content(message)
            if len(content) < self._least or is_digest(shaped):
                continue
            size, known = len(_content(shaped)), shown.get(content)
            if known is not None and known >= size and self._saves(whole, place, size):
                found.append(place)
            else:
                shown[content] = max(known or 0, size)
        return tuple(found)

    def _saves(self, whole: Group, place: int, size: int) -> bool:
        """Whether a line may stand there, and is at most half as long as what it stands for."""
        message, line = whole.messages[place], self._line(whole, place)
        return bool(line) and 2 * (len(line) - len(message.text) + len(_content(message))) <= size

    def _line(self, whole: Group, place: int) -> str:
        """What may stand for a message of the group; "" for an error, and for what is in no row."""
        row = whole.rows[place]
        if row is None:
            return ""
        if row not in self._lines:
            message = whole.messages[place]
            failed = message.role == "tool" and has_failed(message, parsed(message.text))
            self._lines[row] = "" if failed else _line(whole, place)
        return self._lines[row]

    def _lined(self, sent: Group, whole: Group, places: tuple[int, ...]) -> Group:
        if not places:
            return sent
        kept = self._made.get(whole.first)
        if kept is None or kept[0] is not sent or kept[1] != places:
            messages = tuple(
                replace(message, content=self._line(whole, place)) if place in places else message
                for place, message in enumerate(sent.messages)
            )
            kept = (sent, places, sent.with_messages(messages))
            self._made[whole.first] = kept
        return kept[2]


def is_repeat(message: PromptMessage) -> bool:
    """True for a message that says that its content was sent before."""
    if message.role == "tool":
        return message.text.startswith('{"_repeated":true')
    return message.text.startswith(SKILL) and SKILL_AGAIN in message.text


def _content(message: PromptMessage) -> str:
    """What may be repeated of a message: a result, or the instructions of an activated skill."""
    content = message.content
    if not isinstance(content, str):
        return ""
    if message.role == "tool":
        return content
    if message.role == "user" and content.startswith(SKILL):
        return (content.rpartition(SKILL_ENDS)[0] or content).rstrip()
    return ""


def _line(whole: Group, place: int) -> str:
    """What stands for a repetition: for the user's part of a skill's message, itself."""
    message, handle = whole.messages[place], row_handle(whole.rows[place] or 0)
    if message.role == "tool":
        return json_text(
            {
                "_repeated": True,
                "note": NOTE,
                "tool": whole.call_of(message).name,
                "handle": handle,
                "begins": clamp_text(message.text, BEGINNING),
            }
        )
    content = _content(message)
    head = content.partition("\n")[0]
    again = f"{head}\n\n{SKILL_AGAIN}recall_result {handle} gives them again.]"
    return again + message.text[len(content) :]
