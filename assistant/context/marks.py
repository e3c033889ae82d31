"""Lines between which text of others stands as data, in what a model reads."""

from __future__ import annotations

import hashlib


def mark_for(text: str) -> str:
    """A line that `text` does not have, so that nothing in it can end it; the same for the same
    text (R52)."""
    number = 0
    while True:
        seed = f"{number}{text}".encode("utf-8", "surrogatepass")
        mark = f"==== {hashlib.blake2b(seed, digest_size=5).hexdigest()} ===="
        if mark not in text:
            return mark
        number += 1
