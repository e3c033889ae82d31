"""supyagent 0.5's `ContextManager`, without a model to write its summary."""

import offline_encodings  # noqa: F401  must come before the peer
from harness import Row, serve
from supyagent.core.context_manager import ContextManager

MODEL = "gpt-4o"


def trim(history: list[Row], limit: int) -> list[Row]:
    manager = ContextManager(MODEL, response_reserve=0)
    manager.context_limit = limit
    system = "".join(row["content"] for row in history if row["role"] == "system")
    rest = [row for row in history if row["role"] != "system"]
    return manager.build_messages_for_llm(system, rest)


serve(trim)
