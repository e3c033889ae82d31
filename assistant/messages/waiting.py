"""What a suspended answer waits for, as the answer itself says it. Pure.

The law: a chat waits for one thing at a time, the first call of its last answer that is not
settled. For each thing that it waits for, the server puts a `data-waiting` part into the answer,
whose id is that of the question (`approval.id`) or, for the other two, of the call. It stays there,
so that a restart changes nothing and people can read later what was asked:

    {"tool_call_id", "for": "decision", "approval_id", "text", "remember",
     "change"?: {"diff", "problems"?, "instances"?}}
    {"tool_call_id", "for": "answer", "question", "options", "multiple", "allow_other"}
    {"tool_call_id", "for": "panel"}

Only this server makes such parts (`outside.SERVERS_DATA`): the words of a question are its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..errors import InvalidRequest
from .parts import DataPart, Message, ToolPart

WAITING: Final = "waiting"
"""The name of the data parts."""
ANSWERED_BY: Final = "answered_by"
"""In the part of a question: the id of the message that answered it. That message is in no log."""
LONGEST_ANSWER: Final = 200_000
"""Characters; longer than what people type."""

WaitsFor = Literal["decision", "answer", "panel"]
"""A person's decision about a call, a person's answer to a question, or a panel's result."""


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the model to the user. Without `options` any text answers it; with them a text
    does only where `allow_other` is True. `multiple`: more than one option may be chosen."""

    question: str
    options: tuple[Option, ...] = ()
    multiple: bool = False
    allow_other: bool = True

    def to_json(self) -> dict[str, Any]:
        options = [
            {"label": one.label, **({"description": one.description} if one.description else {})}
            for one in self.options
        ]
        return {
            "question": self.question,
            "options": options,
            "multiple": self.multiple,
            "allow_other": self.allow_other or not options,
        }


def decision_on(
    call_id: str,
    approval_id: str,
    text: str,
    remember: bool,
    change: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The data of a call that waits for a decision: what the call will do, in one sentence, and
    whether it may be allowed for the whole chat. `change` is what an edit would make of the
    workflow, with the fields that the answer of the edit would have."""
    return {
        "tool_call_id": call_id,
        "for": "decision",
        "approval_id": approval_id,
        "text": text,
        "remember": remember,
        **({"change": dict(change)} if change is not None else {}),
    }


def answer_to(call_id: str, question: Question) -> dict[str, Any]:
    """The data of a question that waits for its answer."""
    return {"tool_call_id": call_id, "for": "answer", **question.to_json()}


def result_of(call_id: str) -> dict[str, Any]:
    """The data of a call that waits for a panel's result."""
    return {"tool_call_id": call_id, "for": "panel"}


def decision_data(message: Message, part: ToolPart) -> Mapping[str, Any]:
    """The data of the decision that this call waits for or has; empty where the message has none,
    as for a question of an imported chat."""
    return _data(message, part.approval.id) if part.approval is not None else {}


def handed_data(message: Message, part: ToolPart) -> Mapping[str, Any]:
    """The data of the answer or the result that this call waits for or has; empty where it was
    neither asked nor handed to a panel."""
    return _data(message, part.tool_call_id)


def _data(message: Message, part_id: str) -> Mapping[str, Any]:
    for one in reversed(message.parts):
        if isinstance(one, DataPart) and (one.name, one.id) == (WAITING, part_id):
            return one.data if isinstance(one.data, Mapping) else {}
    return {}


def waits_for(message: Message, part: ToolPart) -> WaitsFor | None:
    """What this call of the message waits for, if it is the first that is not settled; None where
    the server itself goes on with the call."""
    if part.state == "approval-requested":
        return "decision"
    allowed = part.approval is not None and part.approval.approved is True
    if part.state != "input-available" and not (part.state == "approval-responded" and allowed):
        return None
    kind = handed_data(message, part).get("for")
    if kind in ("answer", "panel"):
        return "answer" if kind == "answer" else "panel"
    return None if part.provider_executed else "panel"


def waiting(message: Message) -> tuple[ToolPart, WaitsFor] | None:
    """The call that the message waits for, and what it needs; None where it waits for nothing."""
    for part in message.tool_parts:
        if not part.settled and part.state != "input-streaming":
            kind = waits_for(message, part)
            return None if kind is None else (part, kind)
    return None


def checked_answer(data: Mapping[str, Any], output: Any, *, typed: bool = False) -> dict[str, Any]:
    """The answer to the question with these data, as the model reads it: `choices` and `text`, as
    far as they were given. An answer that was `typed` as a message may be any text.

    Raises InvalidRequest for labels that were not offered, for more of them than the question
    allows, for a text where it allows none, and for nothing at all."""
    if not isinstance(output, Mapping) or set(output) - {"choices", "text"}:
        raise InvalidRequest("expected choices, text, or both", where="output")
    choices, text = output.get("choices"), output.get("text")
    if choices is not None and not _are_texts(choices):
        raise InvalidRequest("expected a list of labels", where="output.choices")
    if text is not None and not (isinstance(text, str) and len(text) <= LONGEST_ANSWER):
        raise InvalidRequest(f"expected at most {LONGEST_ANSWER} characters", where="output.text")
    chosen = list(dict.fromkeys(choices or ()))
    said = (text or "").strip()
    offered = [option["label"] for option in data.get("options", ())]
    for label in chosen:
        if label not in offered:
            shown = ", ".join(map(repr, offered)) or "none"
            raise InvalidRequest(
                f"{label[:80]!r} was not offered; the labels are {shown}", where="output.choices"
            )
    if len(chosen) > 1 and not data.get("multiple"):
        raise InvalidRequest("expected one label", where="output.choices")
    if said and not (typed or data.get("allow_other", True)):
        raise InvalidRequest("expected labels that were offered, no text", where="output.text")
    if not chosen and not said:
        raise InvalidRequest("expected a label or a text, got neither", where="output")
    return {**({"choices": chosen} if chosen else {}), **({"text": said} if said else {})}


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
