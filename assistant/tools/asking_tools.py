"""Tools between the model and the user: a question to the user, and the plan of a task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from ..errors import ToolError
from ..messages.changes import Change, PlanMade, PlanStep
from ..messages.prompt import ToolCall
from ..messages.waiting import Option, Question
from .parameters import Parameters
from .tool import SMALL_WINDOW, Tool, ToolContext

ASK_USER: Final = "askUser"
UPDATE_PLAN: Final = "updatePlan"

MOST_OPTIONS: Final = 8
LONGEST_LABEL: Final = 200
LONGEST_QUESTION: Final = 2_000
"""Characters of a question, and of the description of an option."""
MOST_STEPS: Final = 50
LONGEST_STEP: Final = 500
"""Characters."""
STATES: Final = ("open", "doing", "done", "dropped")
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "pending": "open",
    "todo": "open",
    "in_progress": "doing",
    "completed": "done",
    "cancelled": "dropped",
}
"""Names that models know from other lists of this kind."""
_QUESTION: Final = (
    'expected {"question": text, "options"?: [{"label": text, "description"?: text}, ...], '
    '"multiple"?: true, "allow_other"?: false} with at most 8 options of different labels'
)
_PLAN: Final = (
    'expected {"steps": [{"text": text, "state": "open" | "doing" | "done" | "dropped"}, ...]} '
    "with at most 50 steps"
)

_TEXT: Final = {"type": "string"}
_FLAG: Final = {"type": "boolean"}
_OPTION: Final = {
    "type": "object",
    "properties": {"label": _TEXT, "description": _TEXT},
    "required": ["label"],
}
_STEP: Final = {
    "type": "object",
    "properties": {"text": _TEXT, "state": {"type": "string", "enum": list(STATES)}},
    "required": ["text", "state"],
}


def question_from(value: Any) -> Question:
    """The question in a call's arguments. Options that are plain texts become labels. Raises
    ToolError with the right form."""
    found = dict(value) if isinstance(value, Mapping) else {}
    text, multiple, other = (
        found.pop("question", None),
        found.pop("multiple", None),
        found.pop("allow_other", None),
    )
    options = _options(found.pop("options", None))
    flags = all(one is None or isinstance(one, bool) for one in (multiple, other))
    if not (isinstance(text, str) and 0 < len(text.strip()) <= LONGEST_QUESTION and flags):
        raise ToolError(_QUESTION)
    if found or options is None or len(options) > MOST_OPTIONS:
        raise ToolError(_QUESTION)
    return Question(text.strip(), options, bool(multiple), other is not False)


def _options(value: Any) -> tuple[Option, ...] | None:
    """The options; the same label again is left out. None for what is no list of options."""
    value = _unpacked(value)
    if value is None:
        return ()
    if not isinstance(value, list):
        return None
    found: dict[str, Option] = {}
    for one in value:
        option = _option({"label": one} if isinstance(one, str) else one)
        if option is None:
            return None
        found.setdefault(option.label, option)
    return tuple(found.values())


def _option(value: Any) -> Option | None:
    if not isinstance(value, Mapping) or set(value) - {"label", "description"}:
        return None
    label, description = value.get("label"), value.get("description") or ""
    if not (isinstance(label, str) and 0 < len(label.strip()) <= LONGEST_LABEL):
        return None
    if not (isinstance(description, str) and len(description) <= LONGEST_QUESTION):
        return None
    return Option(label.strip(), description.strip())


def plan_from(value: Any) -> tuple[PlanStep, ...]:
    """The plan in a call's arguments. Steps that are plain texts are open. Raises ToolError with
    the right form."""
    steps = _unpacked(value.get("steps")) if isinstance(value, Mapping) else None
    if not isinstance(steps, list) or len(steps) > MOST_STEPS or set(value) != {"steps"}:
        raise ToolError(_PLAN)
    return tuple(map(_step, steps))


def _step(value: Any) -> PlanStep:
    value = {"text": value, "state": "open"} if isinstance(value, str) else value
    if not isinstance(value, Mapping) or set(value) != {"text", "state"}:
        raise ToolError(_PLAN)
    text, state = value["text"], value["state"]
    state = _OTHER_NAMES.get(state, state) if isinstance(state, str) else None
    if not (isinstance(text, str) and 0 < len(text.strip()) <= LONGEST_STEP and state in STATES):
        raise ToolError(_PLAN)
    return PlanStep(text.strip(), str(state))


def _unpacked(value: Any) -> Any:
    """A list that a model wrote as JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


async def _update_plan(steps: tuple[PlanStep, ...], _: ToolContext) -> Any:
    return {"steps": [{"text": step.text, "state": step.state} for step in steps]}


def _planned(_: ToolCall, value: Any) -> tuple[Change, ...]:
    try:
        return (PlanMade(plan_from(value)),)
    except ToolError:
        return ()


def _plan_view(_: ToolCall, text: str) -> tuple[str, int]:
    """A newer plan takes the place of every older one."""
    return "plan", 1


def _plan_line(_: ToolCall, value: Any) -> str | None:
    try:
        steps = plan_from(value)
    except ToolError:
        return None
    done = sum(step.state == "done" for step in steps)
    return f"a plan of {len(steps)} steps, {done} done"


ASKING_TOOLS = (
    Tool(
        name=ASK_USER,
        title="Asked you",
        description=(
            "Asks the user one question and waits for the answer. Only when the answer changes "
            "what you do and you cannot look it up. Offer up to 8 options where you can."
        ),
        kind="reads",
        parameters=Parameters(
            {
                "type": "object",
                "properties": {
                    "question": _TEXT,
                    "options": {"type": "array", "items": _OPTION},
                    "multiple": _FLAG,
                    "allow_other": _FLAG,
                },
                "required": ["question"],
            },
            question_from,
        ),
        place="user",
        parallel=True,
        window=SMALL_WINDOW,
        group="lookup",
    ),
    Tool(
        name=UPDATE_PLAN,
        title="Updated the plan",
        description=(
            "Keeps the list of steps of a task, which the user sees. Send the whole list each "
            "time: one step is doing, finished steps are done."
        ),
        kind="reads",
        parameters=Parameters(
            {
                "type": "object",
                "properties": {"steps": {"type": "array", "items": _STEP}},
                "required": ["steps"],
            },
            plan_from,
        ),
        run=_update_plan,
        parallel=True,
        group="tasks",
        changes=_planned,
        shows=_plan_view,
        digest=_plan_line,
    ),
)
