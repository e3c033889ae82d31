"""The graphs that the workflows of a chat had (`log.graph_rows`).

graphs = ChatGraphs(store)
await graphs.keep("c1", kept, graph)               durable when this returns
await graphs.list("c1")                            the graph that came last first
await graphs.read("c1", "1a2b3c4d")                its JSON
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
            return graph_rows.came_again(transaction, chat_id, kept)

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

    async def read(self, chat_id: str, revision: str) -> bytes:
        """The JSON of a graph. Raises NotFound where the chat does not have the revision (any
        more)."""

        def work(transaction: Transaction) -> bytes | None:
            chat_rows.require(transaction, chat_id)
            return graph_rows.read(transaction, chat_id, revision)

        content = await self._store.read(chat_id, work)
        if content is None:
            raise NotFound(f"This chat has no revision {revision!r}.")
        return content

    async def newest(self, chat_id: str) -> tuple[KeptGraph, bytes] | None:
        """The graph that came last, and its JSON; None where the chat has none."""

        def work(transaction: Transaction) -> tuple[KeptGraph, bytes] | None:
            chat_rows.require(transaction, chat_id)
            for kept in graph_rows.listed(transaction, chat_id, LOOKED_AT):
                content = graph_rows.read(transaction, chat_id, kept.revision)
                if content is not None:
                    return kept, content
            return None

        return await self._store.read(chat_id, work)
