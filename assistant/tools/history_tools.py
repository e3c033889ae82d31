"""Tools that search the chat's log and give back what a request leaves out (R49)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ..errors import AssistantError, ToolError
from .parameters import Arguments
from .ports import ChatHistory
from .tool import EVERY_WINDOW, SMALL_WINDOW, Tool, ToolContext

HISTORY_SEARCH = "history_search"
RECALL_RESULT = "recall_result"
MOST_HITS = 20
USUAL_HITS = 5


class HistoryQuery(Arguments):
    query: str = Field(description="Words to look for: names, values, file names, topics.")
    k: int = Field(default=USUAL_HITS, ge=1, le=MOST_HITS, description="Most passages.")


class Part(Arguments):
    handle: str = Field(description="r12 or r3-40.")
    path: str | None = Field(default=None, description="Path into a JSON result: nodes.3.inputs.")
    start: int = Field(default=0, ge=0, description="First character, to read on.")


async def _search(arguments: HistoryQuery, context: ToolContext) -> Any:
    if not arguments.query.strip():
        raise ToolError("The query is empty. Give the words to look for.")
    passages = await _history(context).search(arguments.query, arguments.k)
    return {
        "passages": [
            {"handle": passage.handle, "role": passage.role, "text": passage.text}
            for passage in passages
        ]
    }


async def _recall(arguments: Part, context: ToolContext) -> Any:
    history = _history(context)
    try:
        text = history.recall(arguments.handle, arguments.path)
    except AssistantError as error:
        raise ToolError(error.message) from error
    end = arguments.start + history.page_chars
    page: dict[str, Any] = {"handle": arguments.handle, "text": text[arguments.start : end]}
    if arguments.start or end < len(text):
        page["characters"] = f"{arguments.start} to {min(end, len(text))} of {len(text)}"
    if end < len(text):
        page["read_on_with_start"] = end
    return page


def _history(context: ToolContext) -> ChatHistory:
    if context.history is None:
        raise ToolError("This chat keeps no history to look into.")
    return context.history


HISTORY_TOOLS = (
    Tool(
        name=HISTORY_SEARCH,
        title="Looked through this chat",
        description=(
            "Finds passages anywhere in this chat, also in what is summarised or left out now. "
            "Use it before you say that you do not know what was said or done earlier."
        ),
        kind="reads",
        run=_search,
        parallel=True,
        window=SMALL_WINDOW,
        group="lookup",
    ),
    Tool(
        name=RECALL_RESULT,
        title="Looked something up again",
        description="The result or the messages behind a handle, word for word.",
        kind="reads",
        run=_recall,
        kept=True,
        parallel=True,
        window=EVERY_WINDOW,
        group="lookup",
    ),
)
