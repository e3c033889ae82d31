"""A server that refuses what any provider would refuse, and always answers "ok" otherwise.

Its checks are written from the providers' side and share nothing with `context.validator`: OpenAI's
request schema, and the turn-taking that chat templates of local models insist on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from plugin.tests.providers import Script, ScriptedProvider, failure, text

TOP_LEVEL = {"model", "messages", "tools", "stream", "stream_options"}
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
FIELDS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "reasoning", "reasoning_content"}
    | {"reasoning_details"},
    "tool": {"role", "content", "tool_call_id"},
}


TURN_TAKING = "Conversation roles must alternate user/assistant/user/assistant/..."


class StrictServer(ScriptedProvider):
    """`refused` lists the faults of the requests so far. A request with no other fault than roles
    that do not alternate gets a real server's refusal, so that the client can ask again with
    alternating roles."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[str] = []

    def _next_script(self) -> Script:
        found = faults(self.requests[-1].body)
        if found and all(" after " in fault or "in a row" in fault for fault in found):
            return failure(400, TURN_TAKING)
        self.refused += found
        return text("ok")


def faults(body: Mapping[str, Any]) -> list[str]:
    """The faults of a request; empty for a request that every provider takes."""
    found = [f"unknown field {name}" for name in set(body) - TOP_LEVEL]
    json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
    messages = body["messages"]
    if not messages:
        found.append("no messages")
    for number, message in enumerate(messages):
        found += [f"message {number}: {fault}" for fault in _message_faults(message)]
    return found + _order_faults(messages)


def _message_faults(message: Mapping[str, Any]) -> list[str]:
    role = message.get("role")
    if role not in FIELDS:
        return [f"role {role!r}"]
    found = [f"unknown field {name}" for name in set(message) - FIELDS[role]]
    content, calls = message.get("content"), message.get("tool_calls")
    if calls is not None:
        found += _call_faults(calls)
    if isinstance(content, str):
        if not content and not calls and role != "tool":
            found.append("empty")
    elif isinstance(content, list):
        found += _part_faults(content, role)
    elif content is not None or not calls:
        found.append(f"content {content!r}")
    return found


def _part_faults(parts: list[Any], role: str) -> list[str]:
    found = [] if parts and role == "user" else [f"{len(parts)} parts in a {role} message"]
    for part in parts:
        if part["type"] == "text":
            found += [] if part["text"] else ["an empty text part"]
        elif part["type"] != "image_url" or not re.match("data:|https?:", part["image_url"]["url"]):
            found.append(f"part {part!r}")
    return found


def _call_faults(calls: list[Any]) -> list[str]:
    found = [] if calls else ["an empty list of calls"]
    for call in calls:
        function = call["function"]
        if call["type"] != "function" or not call["id"]:
            found.append(f"call {call!r}")
        if not NAME.fullmatch(function["name"]):
            found.append(f"name {function['name']!r}")
        if not isinstance(json.loads(function["arguments"]), dict):
            found.append(f"arguments {function['arguments']!r}")
    return found


def _order_faults(messages: list[Any]) -> list[str]:
    found: list[str] = []
    ids = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    if len(ids) != len(set(ids)):
        found.append("an id is used twice")
    before, owed = "", set[str]()
    for message in messages:
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in owed:
                found.append("a result that nobody asked for")
            owed.discard(message["tool_call_id"])
        elif owed:
            found.append(f"{role} before {len(owed)} results")
        allowed = {"": {"system", "user"}, "system": {"user"}, "user": {"assistant"}}
        if role not in allowed.get(before, {"user", "assistant", "tool"}):
            found.append(f"{role} after {before or 'nothing'}")
        if role == before == "assistant":
            found.append("two assistant messages in a row")
        owed |= {call["id"] for call in message.get("tool_calls") or ()}
        before = role
    if owed or before not in ("user", "tool"):
        found.append(f"nothing to answer after {before}")
    return found
