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
from .edits import ChatEdits, StoredEdit
from .failover.failover import Saving
from .graphs import ChatGraphs
from .identity import chat_id
from .log.branches import Branches
from .log.edit_rows import Edit
from .log.graph_rows import KeptGraph
from .log.read_path import NOT_READ
from .permissions import ApprovalMode, Permissions, RunBudget
from .queue import ChatQueue, Queued
from .reconcile import Append, Branch, Import, Intention, Regenerate, Resume, edited, reconcile
from .store import ChatStore
from .titles import title_for
from .turn_start import Begun, TurnStart

__all__ = [
    "HEAD",
    "NOT_READ",
    "Append",
    "ApprovalMode",
    "Begun",
    "Branch",
    "BranchPoint",
    "Branches",
    "Chat",
    "ChatEdits",
    "ChatGraphs",
    "ChatParams",
    "ChatQueue",
    "ChatState",
    "ChatStore",
    "ChatSummary",
    "Edit",
    "Import",
    "Intention",
    "KeptGraph",
    "Parent",
    "Permissions",
    "Queued",
    "Regenerate",
    "Resume",
    "RunBudget",
    "Saving",
    "StoredEdit",
    "TurnStart",
    "Versions",
    "WorkflowName",
    "chat_id",
    "edited",
    "reconcile",
    "title_for",
]
