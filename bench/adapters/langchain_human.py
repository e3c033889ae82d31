"""langchain-core `trim_messages` as its documentation advises: beginning at a human message."""

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
        start_on="human",
        end_on=("human", "tool"),
    )


serve(trim, convert_to_messages, convert_to_openai_messages)
