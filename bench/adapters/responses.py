"""Converts OpenAI chat messages to Responses items and back, for peers that accept only Responses
items."""

from harness import Row


def into_items(history: list[Row]) -> list[Row]:
    items: list[Row] = []
    for row in history:
        if row["role"] == "tool":
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": row["tool_call_id"],
                    "output": row["content"],
                }
            )
            continue
        if row.get("content"):
            items.append({"role": row["role"], "content": row["content"]})
        items += [
            {"type": "function_call", "call_id": call["id"], **call["function"]}
            for call in row.get("tool_calls") or ()
        ]
    return items


def from_items(items: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for item in items:
        kind = item.get("type")
        if kind == "function_call_output":
            content = item["output"]
            rows.append({"role": "tool", "tool_call_id": item["call_id"], "content": content})
        elif kind == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            if not rows or rows[-1]["role"] != "assistant":
                rows.append({"role": "assistant", "content": None})
            rows[-1].setdefault("tool_calls", []).append(call)
        else:
            rows.append({"role": item["role"], "content": item["content"]})
    return rows
