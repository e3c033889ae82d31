"""langchain-core `trim_messages`: the last messages that fit, the system message kept.

With the option `human` as its documentation advises: beginning at a human message.
"""

import sys

from harness import serve
from langchain_core.messages.utils import (
    convert_to_messages,
    convert_to_openai_messages,
    count_tokens_approximately,
    trim_messages,
)

OPTIONS = {"start_on": "human", "end_on": ("human", "tool")} if "human" in sys.argv else {}


def trim(history: list, limit: int) -> list:
    return trim_messages(
        history,
        max_tokens=limit,
        token_counter=count_tokens_approximately,
        strategy="last",
        include_system=True,
        **OPTIONS,
    )


serve(trim, convert_to_messages, convert_to_openai_messages)
