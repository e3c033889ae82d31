"""Chats: an append-only log, the paths through it, and what a request means for it."""

from .chat import (
    HEAD,
    BranchPoint,
    Chat,
    ChatParams,
    ChatState,
    ChatSummary,
    Parent,
    Versions,
    WorkflowName,
)
from .failover.failover import Saving
from .graphs import ChatGraphs
from .identity import chat_id
from .log.branches import Branches
from .log.graph_rows import KeptGraph
from .queue import ChatQueue, Queued
from .reconcile import Append, Branch, Import, Intention, Regenerate, Resume, edited, reconcile
from .store import ChatStore
from .titles import title_for
from .turn_start import Begun, TurnStart

__all__ = [
    "HEAD",
    "Append",
    "Begun",
    "Branch",
    "BranchPoint",
    "Branches",
    "Chat",
    "ChatGraphs",
    "ChatParams",
    "ChatQueue",
    "ChatState",
    "ChatStore",
    "ChatSummary",
    "Import",
    "Intention",
    "KeptGraph",
    "Parent",
    "Queued",
    "Regenerate",
    "Resume",
    "Saving",
    "TurnStart",
    "Versions",
    "WorkflowName",
    "chat_id",
    "edited",
    "reconcile",
    "title_for",
]
