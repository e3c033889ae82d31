"""A tool call and its result in one line, when the result itself is no longer sent (R14).

The line names the tool, the outcome, the ids and names in the result, the error word for word, and
the handle that gives the whole result; so the model need not call the tool again. A tool may supply
the content of its line (`ToolFacts.digest`). No model is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage, ToolCall
from .clamp import clamp_text
from .tool_facts import NO_FACTS, ToolFacts

OMITTED_NOTE = "Earlier tool result omitted to save context"
LONGEST_ERROR = 400
"""Characters; ComfyUI's own error messages are shorter, tracebacks are longer."""
LONGEST_VALUE = 80
LONGEST_ABOUT = 160
"""Characters of a text that a tool supplies."""
MOST_FACTS = 6
FACTS = ("id", "slug", "name", "title", "type", "status", "path", "count", "prompt_id", "workflow")
"""Fields that identify the object of a result."""
_FAILED_TEXT = re.compile(r"\s*(error|exception|traceback|failed)\b", re.IGNORECASE)


def digest(
    call: ToolCall,
    result: PromptMessage,
    handle: str = "",
    facts: ToolFacts = NO_FACTS,
    note: str = OMITTED_NOTE,
) -> str:
    """The line as a JSON object; `_omitted` marks it for the model and for tests. `note` says why
    the result is not there."""
    value = result_value(result.text)
    failed = has_failed(result, value)
    line: dict[str, Any] = {
        "_omitted": True,
        "note": note,
        "tool": call.name,
        "outcome": "failed" if failed else "ok",
    }
    if handle:
        line["handle"] = handle
    if failed:
        line["error"] = clamp_text(error_text(result, value), LONGEST_ERROR)
    elif about := _about(call, value, result.text, facts):
        line["about"] = about
    return json_text(line)


def has_failed(result: PromptMessage, value: Any) -> bool:
    """Whether a result reports a failure: it is marked as failed, or its `value` says so."""
    if result.failed:
        return True
    if isinstance(value, Mapping):
        refused = value.get("ok") is False or value.get("success") is False
        return refused or bool(value.get("error"))
    return isinstance(value, str) and _FAILED_TEXT.match(value) is not None


def error_text(result: PromptMessage, value: Any) -> str:
    """The error of a failed result in its own words."""
    error = value.get("error") if isinstance(value, Mapping) else None
    if isinstance(error, Mapping):
        error = error.get("message") or json_text(error)
    return error if isinstance(error, str) and error else result.text


def result_value(text: str) -> Any:
    """The JSON object or list that a result is; any other text as it is."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _about(call: ToolCall, value: Any, text: str, facts: ToolFacts) -> Any:
    handed_in = facts.digest(call, value)
    if isinstance(handed_in, str):
        return clamp_text(handed_in, LONGEST_ABOUT)
    return _generic(value, text) if handed_in is None else handed_in


def _generic(value: Any, text: str) -> Any:
    if not isinstance(value, Mapping):
        return clamp_text(text.strip().partition("\n")[0], LONGEST_VALUE)
    facts: dict[str, Any] = {}
    for name in FACTS:
        found = value.get(name)
        if isinstance(found, (str, int, float)) and len(facts) < MOST_FACTS:
            facts[name] = clamp_text(found, LONGEST_VALUE) if isinstance(found, str) else found
    return facts
