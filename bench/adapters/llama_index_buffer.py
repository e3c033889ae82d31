"""llama-index' `ChatMemoryBuffer`, its tokens counted as characters / 4: its own tokenizer takes
minutes for one request of a long log, since it counts the whole log for each turn it drops."""

from harness import Row, serve
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer

KEPT = ("tool_calls", "tool_call_id")
CHARS_PER_TOKEN = 4


def into(history: list[Row]) -> list[ChatMessage]:
    return [
        ChatMessage(
            role=row["role"],
            content=row.get("content"),
            additional_kwargs={name: row[name] for name in KEPT if name in row},
        )
        for row in history
    ]


def tokens(text: str) -> range:
    return range(len(text) // CHARS_PER_TOKEN)


def trim(history: list[ChatMessage], limit: int) -> list[ChatMessage]:
    buffer = ChatMemoryBuffer.from_defaults(
        chat_history=history, token_limit=limit, tokenizer_fn=tokens
    )
    return buffer.get()


def back(messages: list[ChatMessage]) -> list[Row]:
    return [
        {"role": message.role.value, "content": message.content, **message.additional_kwargs}
        for message in messages
    ]


serve(trim, into, back)
