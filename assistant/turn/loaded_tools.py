"""The groups of tools that earlier turns loaded, where prompts are cached.

Schemas stand at the beginning of a prompt, so a group that left with its turn would make the server
read the whole prompt anew. Where prompts are cached, a loaded group therefore stays for the rest of
the chat. The calls in the log say what was loaded, so a restart or a branch changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..context.tokens import schema_text, schema_tokens
from ..messages.parts import Message
from ..tools.tool import Tool
from ..tools.toolset import Listing, Toolset

WINDOW_SHARE: Final = 4
"""All schemas have at most a quarter of the window: else the groups used least recently go when a
turn begins."""


def schemas_of(tools: Iterable[Tool]) -> tuple[Mapping[str, Any], ...]:
    return tuple(tool.schema() for tool in tools)


def loaded_before(
    toolset: Toolset, listing: Listing, history: Sequence[Message]
) -> tuple[str, ...]:
    """The groups that the calls in `history` loaded and that stay, in the order of loading."""
    if all(tool.window <= listing.window for tool in toolset):
        return ()
    calls = [part for message in history for part in message.tool_parts]
    kept = list(toolset.loaded_by(calls, listing.window))
    least_recent_last = toolset.loaded_by(reversed(calls), listing.window)
    for name in reversed(least_recent_last):
        schemas = schemas_of(toolset.list(replace(listing, loaded=tuple(kept))))
        if schema_tokens(schema_text(schemas)) * WINDOW_SHARE <= listing.window:
            break
        kept.remove(name)
    return tuple(kept)
