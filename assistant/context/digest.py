"""A tool call and its result in one line, when the result itself is no longer sent (R14).

The line says which tool it was, how it ended, the ids and names in the result, and the error word
for word; so the model knows what happened and can call the tool again. No model is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage, ToolCall
from .clamp import clamp_text

OMITTED_NOTE = "Earlier tool result omitted to save context"
LONGEST_ERROR = 400
"""Characters; ComfyUI's own messages are shorter, tracebacks longer."""
LONGEST_VALUE = 80
MOST_FACTS = 6
FACTS = ("id", "slug", "name", "title", "type", "status", "path", "count", "prompt_id", "workflow")
"""Fields of a result that identify what it was about."""


def digest(call: ToolCall, result: PromptMessage) -> str:
    """The line as a JSON object; `_omitted` marks it for the model and for tests."""
    value = _parsed(result.text)
    line: dict[str, Any] = {
        "_omitted": True,
        "note": OMITTED_NOTE,
        "tool": call.name,
        "outcome": "failed" if result.failed else "ok",
    }
    if result.failed:
        error = value.get("error") if isinstance(value, Mapping) else None
        words = error if isinstance(error, str) and error else result.text
        line["error"] = clamp_text(words, LONGEST_ERROR)
    elif facts := _facts(value):
        line["about"] = facts
    return json_text(line)


def is_digest(message: PromptMessage) -> bool:
    """True for a result that is already one line, so that it is not shortened again."""
    return message.text.startswith('{"_omitted":true')


def _facts(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    facts: dict[str, Any] = {}
    for name in FACTS:
        found = value.get(name)
        if isinstance(found, (str, int, float)) and len(facts) < MOST_FACTS:
            facts[name] = clamp_text(found, LONGEST_VALUE) if isinstance(found, str) else found
    return facts


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
