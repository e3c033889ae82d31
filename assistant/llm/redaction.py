"""Removes keys from texts that people, logs or files may show.

A server's error text may repeat the key that it refused, whole or partly masked, so every text from
a server passes `without_keys` before it becomes part of an error.
"""

from __future__ import annotations

import re

REPLACEMENT = "[key]"
LONGEST_DETAIL = 600  # characters of a server's error text that are shown
# Shorter "keys" are words such as "none" or "ollama" that people enter where no key is needed.
SHORTEST_SECRET = 8
_KEY_SHAPES = re.compile(
    r"(?i)\bbearer\s+\S+"
    r"|\b(?:sk|pk|rk|gsk|xai|nvapi|hf|AIza)[-_][\w*.-]{6,}"
    # The word before the stars is looked for at its beginning only: from each of its letters, the
    # time would grow with the square of its length.
    r"|(?:(?<![\w-])[\w-]+)?\*{3,}[\w-]*"
)


def without_keys(text: str, *keys: str) -> str:
    """`text`, at most 600 characters, with `keys` and other text in the shape of a key replaced."""
    for key in keys:
        if len(key) >= SHORTEST_SECRET:
            text = text.replace(key, REPLACEMENT)
    text = _KEY_SHAPES.sub(REPLACEMENT, text)
    return text if len(text) <= LONGEST_DETAIL else text[:LONGEST_DETAIL].rstrip() + " ..."
