"""The graphs that the workflows of a chat had (`log.graph_rows`).

graphs = ChatGraphs(store)
await graphs.keep("c1", kept, graph)               durable when this returns
await graphs.list("c1")                            the graph that came last first
await graphs.read("c1", "1a2b3c4d")                one of them
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ..database import Transaction
from ..errors import NotFound
from . import chat_rows
from .chat import MOST_PER_PAGE
from .log import graph_rows
from .log.graph_rows import KeptGraph
from .transactions import ChatTransactions

Graph = Mapping[str, Any]
"""ComfyUI's own JSON of a workflow."""
LOOKED_AT = 5
"""Of the newest graphs, where the newest itself is damaged."""


class ChatGraphs:
    """For one event loop. Every method may raise StoreError, and NotFound for a chat that does not
    exist."""

    def __init__(self, store: ChatTransactions) -> None:
        self._store = store

    async def keep(self, chat_id: str, kept: KeptGraph, graph: Mapping[str, Any]) -> None:
        """Keep the graph, or note that it came again."""

        def again(transaction: Transaction) -> bool:
            chat_rows.require(transaction, chat_id)
            return kept.edited is None and graph_rows.came_again(transaction, chat_id, kept)

        # Most messages bring the graph of the message before: it is not compressed again.
        if not await self._store.write(chat_id, again):
            content = await asyncio.to_thread(graph_rows.packed, graph)
            await self._store.change_row(
                chat_id, lambda c: graph_rows.keep(c, chat_id, kept, content)
            )

    async def list(
        self, chat_id: str, limit: int = 50, before: str | None = None
    ) -> tuple[KeptGraph, ...]:
        """Up to `limit` graphs; `before` is the last revision of the page before. Raises NotFound
        for an unknown `before`."""
        bounded = max(1, min(limit, MOST_PER_PAGE))

        def work(transaction: Transaction) -> tuple[KeptGraph, ...]:
            chat_rows.require(transaction, chat_id)
            return graph_rows.listed(transaction, chat_id, bounded, before)

        return await self._store.read(chat_id, work)

    async def read(self, chat_id: str, revision: str, workflow_id: str | None = None) -> Graph:
        """A graph, of any workflow or of one. Raises NotFound where the chat does not
        have the revision (any more)."""

        def work(transaction: Transaction) -> Graph | None:
            chat_rows.require(transaction, chat_id)
            return graph_rows.read(transaction, chat_id, revision, workflow_id)

        graph = await self._store.read(chat_id, work)
        if graph is None:
            raise NotFound(f"This chat has no revision {revision!r}.")
        return graph

    async def at(self, chat_id: str, message_id: str | None) -> KeptGraph | None:
        """The graph that a workflow had at a message of the current path (None: at its end), as its
        messages up to there brought it, or their edits made it. None where that is not known.
        Raises NotFound for a message that is not on the path."""

        def work(transaction: Transaction) -> KeptGraph | None:
            head = chat_rows.require(transaction, chat_id).head_row
            return graph_rows.at_message(transaction, chat_id, head, message_id)

        return await self._store.read(chat_id, work)

    async def is_newest(self, chat_id: str, kept: KeptGraph) -> bool:
        """Whether the graph is the newest of its workflow."""

        def work(transaction: Transaction) -> bool:
            newest = graph_rows.newest_of(transaction, chat_id, kept.workflow_id)
            return newest is not None and newest.revision == kept.revision

        return await self._store.read(chat_id, work)

    async def newest_of(self, chat_id: str, workflow_id: str) -> tuple[KeptGraph, Graph] | None:
        """The graph of a workflow that came last; None where none is kept."""

        def work(transaction: Transaction) -> tuple[KeptGraph, Graph] | None:
            kept = graph_rows.newest_of(transaction, chat_id, workflow_id)
            if kept is None:
                return None
            graph = graph_rows.read(transaction, chat_id, kept.revision, workflow_id)
            return None if graph is None else (kept, graph)

        return await self._store.read(chat_id, work)

    async def note_message(self, chat_id: str, message_id: str, kept: KeptGraph) -> None:
        """Note that the workflow had this graph at the message."""
        await self._store.change_row(
            chat_id,
            lambda t: graph_rows.note_message(
                t, chat_id, message_id, kept.workflow_id, kept.revision
            ),
        )

    async def newest(self, chat_id: str) -> tuple[KeptGraph, Graph] | None:
        """The graph that came last; None where the chat has none."""

        def work(transaction: Transaction) -> tuple[KeptGraph, Graph] | None:
            chat_rows.require(transaction, chat_id)
            for kept in graph_rows.listed(transaction, chat_id, LOOKED_AT):
                graph = graph_rows.read(transaction, chat_id, kept.revision)
                if graph is not None:
                    return kept, graph
            return None

        return await self._store.read(chat_id, work)
