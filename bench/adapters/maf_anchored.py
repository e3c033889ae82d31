"""maf-compaction's `AnchoredCompactionStrategy` with its defaults, on agent-framework messages."""

import asyncio
import warnings

from agent_framework import CharacterEstimatorTokenizer, Content, Message
from agent_framework._compaction import included_messages
from harness import Row, serve

warnings.simplefilter("ignore")

from maf_compaction import AnchoredCompactionStrategy  # noqa: E402  it warns when imported


def into(history: list[Row]) -> list[Message]:
    return [Message(role=row["role"], contents=_contents(row)) for row in history]


def _contents(row: Row) -> list[Content]:
    if row["role"] == "tool":
        return [Content.from_function_result(row["tool_call_id"], result=row["content"])]
    contents = [Content.from_text(row["content"])] if row.get("content") else []
    for call in row.get("tool_calls") or ():
        body = call["function"]
        contents.append(
            Content.from_function_call(call["id"], body["name"], arguments=body["arguments"])
        )
    return contents


def trim(history: list[Message], limit: int) -> list[Message]:
    strategy = AnchoredCompactionStrategy(
        max_input_tokens=limit, tokenizer=CharacterEstimatorTokenizer()
    )
    asyncio.run(strategy(history))
    return included_messages(history)


def back(messages: list[Message]) -> list[Row]:
    rows: list[Row] = []
    for message in messages:
        row: Row = {"role": str(message.role), "content": message.text or None}
        for content in message.contents:
            if content.type == "function_result":
                row |= {"tool_call_id": content.call_id, "content": str(content.result)}
            elif content.type == "function_call":
                function = {"name": content.name, "arguments": content.arguments}
                call = {"id": content.call_id, "type": "function", "function": function}
                row.setdefault("tool_calls", []).append(call)
        rows.append(row)
    return rows


serve(trim, into, back)
