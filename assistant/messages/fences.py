"""Fences: text from outside stands in a prompt between marks that it cannot contain (R52). Pure.

    fenced(text)         the text between two lines with its mark
    quoted(name)         a name on one line, between quotation marks
    indented(text)       an item of a list of texts
    plain_line(name)     a name on one line, for people and for lines of lists

A mark depends on its text alone, so the same text gives the same bytes in each request, and a
provider's cache of the prompt holds.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final

DIRECTION: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that turn the direction of the text around them."""
TAGS: Final = "\U000e0000-\U000e007f"
"""A second ASCII: models read words that are spelt with it, and people see nothing."""
INVISIBLE: Final = f"\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb{TAGS}"
"""Characters that nobody sees. The joiners U+200C and U+200D are not among them: scripts and emoji
need them."""
CONTROL: Final = "\x00-\x1f\x7f-\x9f"
LINE_ENDS: Final = "\u2028\u2029"

_TAGS = re.compile(f"[{TAGS}]")
_HIDDEN = re.compile(f"[{DIRECTION}{INVISIBLE}]")
_UNSEEN = re.compile(f"[{CONTROL}{DIRECTION}{INVISIBLE}\ud800-\udfff]")
_RAW = re.compile(f"[{CONTROL}{LINE_ENDS}{DIRECTION}{INVISIBLE}\ud800-\udfff]")


def mark_for(text: str) -> str:
    """A line that `text` does not contain, so that `text` cannot end its own enclosure; the same
    line for the same text."""
    number = 0
    while True:
        seed = f"{number}{text}".encode("utf-8", "surrogatepass")
        mark = f"==== {hashlib.blake2b(seed, digest_size=5).hexdigest()} ===="
        if mark not in text:
            return mark
        number += 1


def fenced(text: str) -> str:
    """The text between two lines with its mark. What stands before it has to name the mark
    (`mark_for`)."""
    mark = mark_for(text)
    return f"{mark}\n{text}\n{mark}"


def quoted(name: str) -> str:
    """A name as a JSON string on one line: it can hold neither the quotation mark that ends it nor
    a character that ends a line, turns text around or is not seen."""
    return escaped(json.dumps(name, ensure_ascii=False))


def escaped(text: str) -> str:
    """A JSON text without raw characters that end a line, turn text around or are not seen. It is
    the same JSON value, since these characters stand within strings only."""
    return _RAW.sub(_as_escape, text)


def plain_line(text: str) -> str:
    """The text on one line, without control characters and without characters that turn text around
    or are not seen."""
    return " ".join(_UNSEEN.sub("", " ".join(text.split())).split())


def indented(text: str) -> str:
    """The text, each line but the first begun with two spaces, so that no line of it looks like the
    first line of another text in a list."""
    return "\n  ".join(text.splitlines())


def without_tricks(text: str) -> str:
    """The text without characters that turn text around or are not seen."""
    return _HIDDEN.sub("", text)


def without_tags(text: str) -> str:
    """The text without words that are spelt in `TAGS`."""
    return _TAGS.sub("", text)


def hides(text: str) -> bool:
    """Whether the text has a character that turns text around or is not seen. A person who reads
    such a text may read something else than it says."""
    return _HIDDEN.search(text) is not None


def _as_escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"
