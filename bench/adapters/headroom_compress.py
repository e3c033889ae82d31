"""headroom's `compress` without its downloaded model. `compress` has no hard limit."""

import offline_encodings  # noqa: F401  must come before the peer
from harness import Row, serve
from headroom import compress


def trim(history: list[Row], limit: int) -> list[Row]:
    result = compress(history, model="gpt-4o", model_limit=limit, kompress_model="disabled")
    return result.messages


serve(trim)
