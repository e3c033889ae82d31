"""Content that a request would have twice, sent once (R18).

The same skill, document, or view of a workflow comes again and again. The first copy in a request
is sent as it is; a later one becomes one line that says so and names its handle. It does so only
where the first copy shows at least as much of the content as the later copy would, in the same
request. Only what is sent decides: when a mask or a cut takes the first copy away, the same request
has the next copy in full again, so no line names a copy that is not sent; and where prompts are
cached nothing changes without such a commitment (R50).

The user's own words are never replaced, only the text of a skill that `/skill` put before them
(`PromptMessage.skill_chars`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage
from .clamp import clamp_text
from .digest import has_failed, result_value
from .handles import row_handle
from .log import Group

NOTE = "The same, word for word, as an earlier result above, so it is not sent twice"
BEGINNING = 40
"""Characters of the content that identify the earlier result."""
SKILL_AGAIN = "[Its instructions stand in an earlier message above, word for word the same; "
BY_TOOL = "{recall} {handle} gives them again.]"
BY_HANDLE = "handle {handle}.]"


class Repeats:
    """Finds repetitions of at least `least` characters; 0 finds none. Planning the same request
    again returns the same objects."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._made: dict[int, tuple[Group, tuple[int, ...], Group]] = {}
        self._lines: dict[int, str] = {}

    def once(
        self, before: Iterable[Group], shaped: Sequence[Group], whole: Sequence[Group]
    ) -> tuple[Group, ...]:
        """`shaped`, the forms in which the groups of `whole` are sent, with repetitions as lines.
        The groups `before` them are sent in full."""
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
        """Drops the cached data of groups that end before the row `before`."""
        self._made = {first: kept for first, kept in self._made.items() if kept[0].end > before}
        self._lines = {row: line for row, line in self._lines.items() if row >= before}

    def _repeated(self, sent: Group, whole: Group, shown: dict[str, int]) -> tuple[int, ...]:
        """The places of the group's messages whose content the request has already.

        `shown` maps contents to how many characters of each the request has so far; contents of
        this group are added to it.
        """
        if whole.role not in ("user", "assistant"):
            return ()
        found = []
        for place in range(1 if whole.is_round else 0, len(whole.messages)):
            message, shaped = whole.messages[place], sent.messages[place]
            content = _content(message)
            if len(content) < self._least or shaped.reduced == "digest":
                continue
            size, known = len(_content(shaped)), shown.get(content)
            if known is not None and known >= size and self._saves(whole, place, size):
                found.append(place)
            else:
                shown[content] = max(known or 0, size)
        return tuple(found)

    def _saves(self, whole: Group, place: int, size: int) -> bool:
        """Whether the message may be replaced by a line that is at most half as long."""
        message, line = whole.messages[place], self._line(whole, place)
        return bool(line) and 2 * (len(line) - len(message.text) + len(_content(message))) <= size

    def _line(self, whole: Group, place: int) -> str:
        """The line that may replace a message of the group; "" for a failed result and for a
        message that is in no row."""
        row = whole.rows[place]
        if row is None:
            return ""
        if row not in self._lines:
            message = whole.messages[place]
            failed = message.role == "tool" and has_failed(message, result_value(message.text))
            self._lines[row] = "" if failed else _line(whole, place)
        return self._lines[row]

    def _lined(self, sent: Group, whole: Group, places: tuple[int, ...]) -> Group:
        if not places:
            return sent
        kept = self._made.get(whole.first)
        if kept is None or kept[0] is not sent or kept[1] != places:
            messages = tuple(
                _reduced(message, self._line(whole, place)) if place in places else message
                for place, message in enumerate(sent.messages)
            )
            kept = (sent, places, sent.with_messages(messages))
            self._made[whole.first] = kept
        return kept[2]


def _reduced(message: PromptMessage, line: str) -> PromptMessage:
    own_words = len(message.text) - message.skill_chars
    chars = len(line) - own_words if message.skill_chars else 0
    return replace(message, content=line, skill_chars=chars, reduced="repeat")


def _content(message: PromptMessage) -> str:
    """The part of a message that may be a repetition: a result, or an activated skill."""
    content = message.content
    if not isinstance(content, str):
        return ""
    if message.role == "tool":
        return content
    return content[: message.skill_chars]


def _line(whole: Group, place: int) -> str:
    """Text that replaces a repeated message; of a skill message, the user's own words stay."""
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
    recall = whole.facts.recall
    by = BY_TOOL if recall else BY_HANDLE
    again = SKILL_AGAIN + by.format(recall=recall, handle=handle)
    return f"{head}\n\n{again}{message.text[len(content) :]}"
