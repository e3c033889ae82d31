"""A tool call and its result in one line, when the result itself is no longer sent (R14).

The line says which tool it was, how it ended, the ids and names in the result, the error word for
word, and the handle by which the whole can be had; so the model knows what happened and need not
call the tool again. No model is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
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
_FAILED_TEXT = re.compile(r"\s*(error|exception|traceback|failed)\b", re.IGNORECASE)

About = Callable[[ToolCall, Any, str], Any]
"""(call, parsed result or None, text) -> what the line says of it."""


def digest(call: ToolCall, result: PromptMessage, handle: str = "") -> str:
    """The line as a JSON object; `_omitted` marks it for the model and for tests."""
    value = parsed(result.text)
    failed = has_failed(result, value)
    line: dict[str, Any] = {
        "_omitted": True,
        "note": OMITTED_NOTE,
        "tool": call.name,
        "outcome": "failed" if failed else "ok",
    }
    if handle:
        line["handle"] = handle
    if failed:
        line["error"] = clamp_text(error_text(result, value), LONGEST_ERROR)
    elif about := _ABOUT.get(call.name, _generic)(call, value, result.text):
        line["about"] = about
    return json_text(line)


def is_digest(message: PromptMessage) -> bool:
    """True for a result that is already one line, so that it is not shortened again."""
    return message.text.startswith('{"_omitted":true')


def has_failed(result: PromptMessage, value: Any = None) -> bool:
    """Whether a result reports a failure: it is marked, or says so itself."""
    if result.failed:
        return True
    if isinstance(value, Mapping):
        refused = value.get("ok") is False or value.get("success") is False
        return refused or bool(value.get("error"))
    return value is None and _FAILED_TEXT.match(result.text) is not None


def error_text(result: PromptMessage, value: Any = None) -> str:
    """The error of a failed result in its own words."""
    error = value.get("error") if isinstance(value, Mapping) else None
    if isinstance(error, Mapping):
        error = error.get("message") or json_text(error)
    return error if isinstance(error, str) and error else result.text


def _generic(call: ToolCall, value: Any, text: str) -> Any:
    if not isinstance(value, Mapping):
        return clamp_text(text.strip().partition("\n")[0], LONGEST_VALUE)
    facts: dict[str, Any] = {}
    for name in FACTS:
        found = value.get(name)
        if isinstance(found, (str, int, float)) and len(facts) < MOST_FACTS:
            facts[name] = clamp_text(found, LONGEST_VALUE) if isinstance(found, str) else found
    return facts


def _listed(call: ToolCall, value: Any, text: str) -> Any:
    """For lists of skills: how many, and their slugs."""
    skills = value.get("skills") if isinstance(value, Mapping) else None
    if not isinstance(skills, list):
        return _generic(call, value, text)
    slugs = [str(skill.get("slug")) for skill in skills if isinstance(skill, Mapping)]
    return clamp_text(", ".join(slugs) or "none", 2 * LONGEST_VALUE)


_ABOUT: Mapping[str, About] = {"listUserSkills": _listed, "listSystemSkills": _listed}
"""What is particular to a tool; the generic line serves for the others."""


def parsed(text: str) -> Any:
    """The JSON object or list that a text is; None for any other."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
