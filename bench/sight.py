"""Whether a text stands in a request: *in sight*.

A message of a chat is in sight when a run of at least nine tenths of its words, in order and
without a gap, stands in one message of the request. Words are runs of letters and digits, without
regard to case; each Chinese or Japanese character is a word. So a transcript with marks or line
breaks of its own counts, and a summary in other words, a snippet or a list of keywords does not.
The system message and the user message that asks are not looked at.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plugin.bench.measures import text_of

WHOLE_SHARE = 0.9
"""Share of a message's words that must stand in the request without a gap."""
_WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿]|[^\W_぀-ヿ㐀-鿿豈-﫿]+")
_GAP = " "


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


class Sight:
    """The messages of one request, in which texts are looked for."""

    def __init__(self, messages: Sequence[Mapping[str, Any]]) -> None:
        users = [at for at, message in enumerate(messages) if message["role"] == "user"]
        asked = users[-1] if users else -1
        self._shown = [
            _joined(words(text_of(message)))
            for at, message in enumerate(messages)
            if at != asked and message["role"] != "system"
        ]

    def has(self, text: str) -> bool:
        """Whether the message `text` is in sight; False for a text without a word."""
        wanted = words(text)
        if not wanted:
            return False
        size = math.ceil(WHOLE_SHARE * len(wanted))
        runs = (wanted[at : at + size] for at in range(len(wanted) - size + 1))
        return any(_joined(run) in shown for run in runs for shown in self._shown)

    def count(self, texts: Iterable[str]) -> int:
        return sum(self.has(text) for text in texts)


def _joined(found: Sequence[str]) -> str:
    return _GAP + _GAP.join(found) + _GAP
