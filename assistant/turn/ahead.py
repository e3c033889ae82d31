"""A turn's first request, prepared while the store takes the turn's messages.

Both spend most of their time waiting for other threads, so together they take little more than the
longer one. The model is asked when the store has the messages, and what could not be prepared is
told by the turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from ..chats import ChatParams
from ..chats.search.history_search import HistorySearch
from ..workflow.snapshot import Snapshot
from .chat_workflows import Brought, ChatWorkflows
from .conversation import Conversation
from .history import ConversationHistory
from .opening import Opening
from .preparation import First, prepare_first
from .remembered import known_to
from .turn_notes import NoteSources
from .turn_services import Services


def brought_by(opening: Opening, workflow: Snapshot, *, new: bool) -> Brought:
    """What a turn begins with for its workflow; `new`: it makes its chat."""
    asked = opening.history[-1].id if opening.history else None
    client_id = opening.answer.metadata.get("client_id")
    return Brought(workflow, asked, client_id, opening.from_queue, opening.answer.id, new)


class Ahead:
    """For one event loop, and the chats of one ComfyUI user."""

    def __init__(
        self, services: Services, workflows: ChatWorkflows, search: HistorySearch | None
    ) -> None:
        self._services = services
        self._workflows = workflows
        self._search = search

    def begin(
        self,
        opening: Opening,
        chat_id: str,
        params: ChatParams,
        conversation: Awaitable[Conversation],
        brought: Brought,
    ) -> asyncio.Task[First] | None:
        """None for a turn that asks no model, goes on after a suspension, or waits for its place:
        what is true by then may differ. None, too, where several messages are added: the earlier
        ones can be found once they are stored.

        The task changes the conversation: where the turn does not begin, the caller cancels it, and
        forgets the conversation."""
        asks = opening.reply is None and opening.slash is None and not opening.answer.parts
        if not asks or len(opening.added) > 1 or not self._services.places.is_free:
            return None
        work = self._first(opening, chat_id, params, conversation, brought)
        task = asyncio.get_running_loop().create_task(work)
        # A turn that is stopped before it runs asks for nothing.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def _first(
        self,
        opening: Opening,
        chat_id: str,
        params: ChatParams,
        conversation: Awaitable[Conversation],
        brought: Brought,
    ) -> First:
        services = self._services
        # Rules and memories are kept for the preparation, which asks for them again.
        known, workflow, *_ = await asyncio.gather(
            conversation,
            self._workflows.foreseen(chat_id, brought),
            services.prompts.statements(),
            known_to(services),
        )
        history = ConversationHistory(known, self._search, chat_id)
        notes = NoteSources(history, opening.answer.id, opening.events)
        return await prepare_first(
            services, opening.history, known, params, notes, opening.answer, workflow, chat_id
        )
