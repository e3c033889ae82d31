"""langchain-core `trim_messages`: the last messages that fit, the system message kept."""

from harness import serve
from langchain_core.messages.utils import (
    convert_to_messages,
    convert_to_openai_messages,
    count_tokens_approximately,
    trim_messages,
)


def trim(history: list, limit: int) -> list:
    return trim_messages(
        history,
        max_tokens=limit,
        token_counter=count_tokens_approximately,
        strategy="last",
        include_system=True,
    )


serve(trim, convert_to_messages, convert_to_openai_messages)
