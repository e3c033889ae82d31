"""Whether a command runs, waits in the queue, or is refused in each state of a chat (R36). Pure.

In a busy chat user messages wait. A chat that waits for a decision takes decisions only, a chat
that waits for a panel takes results only, a chat that waits for an answer takes the answer, which
may come as a user message. Aborts are always taken, and so are commands that touch no
message: drafts, parameters, the queue, the open workflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from ..chats import ChatState
from .states import BUSY, STATES, WAITS_FOR_ANSWER

Verdict = Literal["run", "queue", "refuse"]

_R: Final = "run"
_Q: Final = "queue"
_X: Final = "refuse"
# The columns are `states.STATES`: idle, generating, executing_tools, paused, waiting_client,
# waiting_user_input, completed, error. Where no call waits, decisions and results run and then
# raise Conflict (`nothing_waits`).
_TABLE: Final[Mapping[str, tuple[Verdict, ...]]] = {
    "user_message": (_R, _Q, _Q, _Q, _Q, _R, _R, _R),
    "retry_from_index": (_R, _X, _X, _X, _X, _X, _R, _R),
    "regenerate": (_R, _X, _X, _X, _X, _X, _R, _R),
    "update_message": (_R, _X, _X, _X, _X, _X, _R, _R),
    "remove_message": (_R, _X, _X, _X, _X, _X, _R, _R),
    "truncate_messages": (_R, _X, _X, _X, _X, _X, _R, _R),
    "switch_version": (_R, _X, _X, _X, _X, _X, _R, _R),
    "branch_from_chat": (_R, _X, _X, _X, _X, _X, _R, _R),
    "restore_from_trajectory": (_R, _X, _X, _X, _X, _X, _R, _R),
    "compact": (_R, _X, _X, _X, _X, _X, _R, _R),
    "approve_tools": (_R, _X, _X, _R, _X, _X, _R, _R),
    "reject_tools": (_R, _X, _X, _R, _X, _X, _R, _R),
    "tool_result": (_R, _X, _X, _X, _R, _R, _R, _R),
    "undo_edits": (_R, _X, _X, _X, _X, _X, _R, _R),
    "redo_edits": (_R, _X, _X, _X, _X, _X, _R, _R),
    "restore_workflow": (_R, _X, _X, _X, _X, _X, _R, _R),
    "take_over": (_X, _X, _X, _X, _R, _X, _X, _X),
    "abort": (_R, _R, _R, _R, _R, _R, _R, _R),
    "set_params": (_R, _R, _R, _R, _R, _R, _R, _R),
    "set_draft": (_R, _R, _R, _R, _R, _R, _R, _R),
    "clear_draft": (_R, _R, _R, _R, _R, _R, _R, _R),
    "cancel_queued": (_R, _R, _R, _R, _R, _R, _R, _R),
    "resume_queue": (_R, _R, _R, _R, _R, _R, _R, _R),
    "set_workflow": (_R, _R, _R, _R, _R, _R, _R, _R),
}

GATES: Final[Mapping[tuple[str, ChatState], Verdict]] = MappingProxyType(
    {
        (kind, state): verdict
        for kind, verdicts in _TABLE.items()
        for state, verdict in zip(STATES, verdicts, strict=True)
    }
)


def refusal(state: ChatState) -> tuple[str, str, str]:
    """Code, reason and sentence for a command that the state refuses."""
    if state in BUSY:
        return "turn_running", "busy", "This chat is being answered; wait for it or stop it."
    if state == "paused":
        return "turn_waits", "paused", "The last answer waits for your decision; decide or stop it."
    if state == "waiting_client":
        sentence = "The last answer waits for a panel's result; wait for it or stop it."
        return "turn_waits", "waiting_client", sentence
    if state == WAITS_FOR_ANSWER:
        sentence = "The last answer waits for your answer to its question; answer or stop it."
        return "turn_waits", "waiting_user_input", sentence
    return "refused_in_state", "nothing_waits", "Nothing waits for that in this chat."
