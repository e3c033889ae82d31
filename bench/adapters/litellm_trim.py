"""litellm `trim_messages` with the limit as it is. litellm fails on a content of null, so null
becomes an empty text."""

import offline_encodings  # noqa: F401  must come before the peer
from harness import Row, serve
from litellm.utils import trim_messages


def trim(history: list[Row], limit: int) -> list[Row]:
    return trim_messages(history, max_tokens=limit, trim_ratio=1.0)


def filled(history: list[Row]) -> list[Row]:
    return [{**row, "content": row.get("content") or ""} for row in history]


serve(trim, filled)
