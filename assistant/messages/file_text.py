"""The text of a file that a person wrote or attached. Pure."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE


def file_text(content: bytes) -> str:
    """The content as UTF-8, or as UTF-16 where it begins with that byte order mark, as PowerShell's
    `>` and Notepad's "Unicode" write it. Without the mark; what cannot be decoded is U+FFFD."""
    utf_16 = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    return content.decode("utf-16" if utf_16 else "utf-8-sig", "replace")
