"""Removes keys from texts that people, logs or files may show.

A server's error text may repeat the key that it refused: whole, partly masked, percent-encoded, in
base64 or hexadecimal. So every text from a server passes `without_keys` before it becomes part of
an error.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

REPLACEMENT = "[key]"
LONGEST_DETAIL = 600  # characters of a server's error text that are shown
LONGEST_READ = 8_000  # characters of a text that are looked through
# Shorter "keys" are words such as "none" or "ollama" that people enter where no key is needed.
SHORTEST_SECRET = 8
_KEY_SHAPES = re.compile(
    r"(?i)\bbearer\s+\S+"
    r"|\b(?:sk|pk|rk|gsk|xai|nvapi|hf|AIza)[-_][\w*.-]{6,}"
    # The word before the stars is looked for at its beginning only: from each of its letters, the
    # time would grow with the square of its length.
    r"|(?:(?<![\w-])[\w-]+)?\*{3,}[\w-]*"
)
_LAST_WORD = re.compile(r"(?<!\S)\S+\Z")


def without_keys(text: str, *keys: str, longest: int = LONGEST_DETAIL) -> str:
    """`text`, at most `longest` characters, with `keys` and other text in the shape of a key
    replaced."""
    whole = len(text) <= LONGEST_READ
    # The last word of a text that was cut may be the beginning of a key.
    text = text if whole else _LAST_WORD.sub("", text[:LONGEST_READ])
    for key in keys:
        if len(key) >= SHORTEST_SECRET:
            for pattern in _forms(key):
                text = pattern.sub(REPLACEMENT, text)
    text = _KEY_SHAPES.sub(REPLACEMENT, text)
    if len(text) > longest:
        return text[:longest].rstrip() + " ..."
    return text if whole else f"{text.rstrip()} ..."


def _forms(key: str) -> Iterator[re.Pattern[str]]:
    """Patterns of the key as it is or with characters encoded as in URLs, JSON and HTML, of the key
    in base64 at each of its three alignments, and in hexadecimal."""
    yield re.compile("".join(map(_character, key)))
    raw = key.encode("utf-8", "replace")
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode("ascii").rstrip("=")
        # Without the characters that also hold bits of what stands before or behind the key.
        first = (0, 2, 3)[before]
        last = len(encoded) - (1 if (before + len(raw)) % 3 else 0)
        inner = "".join(_character_of_base64(each) for each in encoded[first:last])
        yield re.compile(rf"[\w+/=-]{{0,200}}{inner}[\w+/=%-]{{0,200}}")
    yield re.compile(raw.hex(), re.IGNORECASE)


def _character(character: str) -> str:
    number = ord(character)
    forms = (
        re.escape(character),
        rf"%(?:25)*{number:02x}",  # also encoded more than once
        rf"\\+u{number:04x}",
        rf"\\+x{number:02x}",
        rf"&\#0*{number};",
        rf"&\#x0*{number:x};",
    )
    return "(?:" + forms[0] + "|(?i:" + "|".join(forms[1:]) + "))"


def _character_of_base64(character: str) -> str:
    """Also as in URLs, where `-` and `_` stand for `+` and `/`, or all is percent-encoded."""
    other = {"+": "-", "/": "_"}.get(character)
    return f"(?:{_character(character)}|{other})" if other else re.escape(character)
