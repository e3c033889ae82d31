"""Marks: lines that enclose text from outside as data in a prompt (R52)."""

from __future__ import annotations

import hashlib


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
