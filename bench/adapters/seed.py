"""The seed's literal rule: results older than the last 2 rounds replaced, the last 24 messages,
one orphan dropped. It knows no token limit."""

from harness import Row, serve

KEPT_ROUNDS = 2
KEPT_MESSAGES = 24
OMITTED = '{"_omitted": true, "note": "Earlier tool result omitted to save context"}'


def trim(history: list[Row], limit: int) -> list[Row]:
    rounds = [n for n, message in enumerate(history) if message.get("tool_calls")]
    kept_from = rounds[-KEPT_ROUNDS] if len(rounds) >= KEPT_ROUNDS else 0
    replaced = [
        {**message, "content": OMITTED} if message["role"] == "tool" and n < kept_from else message
        for n, message in enumerate(history)
    ]
    system = [message for message in replaced if message["role"] == "system"]
    rest = [message for message in replaced if message["role"] != "system"][-KEPT_MESSAGES:]
    if rest and rest[0]["role"] == "tool":
        rest = rest[1:]
    return system + rest


serve(trim)
