"""Keys out of texts that people, logs or files may see.

A server's own words may repeat the key that it refused, whole or masked in the middle, so every
text that comes from a server passes here before it becomes part of an error.
"""

from __future__ import annotations

import re

REPLACEMENT = "[key]"
LONGEST_DETAIL = 600  # characters of a server's own wording that are worth showing
# Shorter "keys" are words such as "none" or "ollama" that people enter where no key is needed.
SHORTEST_SECRET = 8
_KEY_SHAPES = re.compile(
    r"(?i)\bbearer\s+\S+"
    r"|\b(?:sk|pk|rk|gsk|xai|nvapi|hf|AIza)[-_][\w*.-]{6,}"
    r"|[\w-]*\*{3,}[\w-]*"
)


def without_keys(text: str, *keys: str) -> str:
    """`text` with `keys`, and whatever else looks like a key, replaced; at most 600 characters."""
    for key in keys:
        if len(key) >= SHORTEST_SECRET:
            text = text.replace(key, REPLACEMENT)
    text = _KEY_SHAPES.sub(REPLACEMENT, text)
    return text if len(text) <= LONGEST_DETAIL else text[:LONGEST_DETAIL].rstrip() + " ..."
