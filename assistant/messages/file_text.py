"""The text of a file that a person wrote or attached. Pure."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import Final

UNDECODED: Final = "\N{REPLACEMENT CHARACTER}"
_IN_A_WORD: Final = re.compile(f"[A-Za-z]{UNDECODED}|{UNDECODED}[A-Za-z]")


def file_text(content: bytes) -> str:
    """The content as UTF-8, or as UTF-16 where it begins with that byte order mark, as PowerShell's
    `>` and Notepad's "Unicode" write it. Without the mark; what cannot be decoded is U+FFFD.

    Words with bytes that are no UTF-8, in a text with no other character beyond ASCII, are read as
    Windows-1252: editors on Windows write so in western languages ("ANSI")."""
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    text = content.decode("utf-8-sig", "replace")
    is_text = _IN_A_WORD.search(text) is not None and "\0" not in text
    if is_text and not_decoded(content, text) and text.replace(UNDECODED, "").isascii():
        return content.decode("cp1252", "replace")
    return text


def not_decoded(content: bytes, text: str) -> bool:
    """Whether `text` has marks where the content could not be decoded; False where the content
    itself has such marks."""
    return UNDECODED in text and UNDECODED.encode() not in content
