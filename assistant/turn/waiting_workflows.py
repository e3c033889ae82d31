"""The workflows of turns that wait: for their place in the queue, or for a decision.

They are in memory only: after a restart a turn goes on with the newest graph of its chat that was
kept (`chat_workflows`).
"""

from __future__ import annotations

from ..workflow.snapshot import Snapshot

MOST_WORKFLOWS = 40
"""Of all chats. Beyond it the oldest workflow of a queued message is dropped, then that of a
suspended turn. A large workflow has megabytes."""

Key = tuple[str, str | None]
"""A chat, and its queued message; None stands for the chat's suspended turn."""


class WaitingWorkflows:
    """For one event loop."""

    def __init__(self) -> None:
        self._workflows: dict[Key, Snapshot] = {}

    def __len__(self) -> int:
        return len(self._workflows)

    def keep(self, chat_id: str, message_id: str | None, workflow: Snapshot) -> None:
        """Keeps the workflow of a queued message or, without an id, of the suspended turn."""
        self._workflows.pop((chat_id, message_id), None)
        self._workflows[chat_id, message_id] = workflow
        if len(self._workflows) > MOST_WORKFLOWS:
            oldest = next(iter(self._workflows))
            queued = (key for key in self._workflows if key[1] is not None)
            del self._workflows[next(queued, oldest)]

    def get(self, chat_id: str, message_id: str | None = None) -> Snapshot:
        """The workflow of a queued message or, without an id, of the suspended turn; an empty one
        where none is kept."""
        return self._workflows.get((chat_id, message_id), Snapshot())

    def take(self, chat_id: str, message_id: str | None = None) -> Snapshot:
        """Removes the workflow and returns it; an empty one where none is kept."""
        return self._workflows.pop((chat_id, message_id), Snapshot())

    def forget(self, chat_id: str) -> None:
        """Drops all workflows of a chat."""
        for key in [key for key in self._workflows if key[0] == chat_id]:
            del self._workflows[key]
