"""Chats: an append-only log, the paths through it, and what a request means against it."""

from .chat import HEAD, Chat, ChatState, ChatSummary, Parent, WorkflowName
from .identity import chat_id
from .reconcile import Append, Branch, Import, Intention, Regenerate, Resume, reconcile, replace
from .store import ChatStore
from .titles import title_for

__all__ = [
    "HEAD",
    "Append",
    "Branch",
    "Chat",
    "ChatState",
    "ChatStore",
    "ChatSummary",
    "Import",
    "Intention",
    "Parent",
    "Regenerate",
    "Resume",
    "WorkflowName",
    "chat_id",
    "reconcile",
    "replace",
    "title_for",
]
