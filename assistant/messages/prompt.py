"""A message of a prompt: the OpenAI chat format as frozen values.

`conversion` makes prompt messages of a chat's messages; `context` selects, shortens and repairs
them; `llm` sends `to_openai` of each. They are immutable, so that no stage changes another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .json_text import mended

PromptRole = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class TextContent:
    text: str


@dataclass(frozen=True, slots=True)
class ImageContent:
    """An image by URL, mostly a `data:` URL."""

    url: str


Content = str | tuple[TextContent | ImageContent, ...]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call; `arguments` is the JSON text of an object."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a request.

    `failed` marks a tool result that reports a failure, so that shortening keeps it visible (R14).
    `reasoning` holds the provider's own fields to send back inside an open tool loop (R19), such as
    `{"reasoning_content": ...}`. `source` is the id of the chat message that this came from.
    `skill_chars` is how many characters at the beginning of the text are an activated skill; the
    rest of it is the user's own. `own_words` is what the user typed, where the text has more than
    that; None where the whole text is the user's own. `reduced` says that the content stands for a
    longer content: a result or a skill in one line, an earlier message's content, a result within
    its limit, or one shortened so that the request fits. Of these, only `reasoning` is sent.
    """

    role: PromptRole
    content: Content = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning: Mapping[str, Any] | None = None
    failed: bool = False
    source: str | None = None
    skill_chars: int = 0
    own_words: str | None = None
    reduced: Literal["digest", "repeat", "trim", "fit"] | None = None

    @property
    def text(self) -> str:
        """The text of the content, images left out."""
        if isinstance(self.content, str):
            return self.content
        return "".join(part.text for part in self.content if isinstance(part, TextContent))

    @property
    def images(self) -> tuple[ImageContent, ...]:
        if isinstance(self.content, str):
            return ()
        return tuple(part for part in self.content if isinstance(part, ImageContent))

    @property
    def is_empty(self) -> bool:
        """True for a message without content and calls; a tool result never counts as empty."""
        content = self.tool_calls or self.text or self.images
        return self.role != "tool" and not content


def to_openai(message: PromptMessage) -> dict[str, Any]:
    """The message as a JSON object of the OpenAI chat API; text alone is a string."""
    body: dict[str, Any] = {"role": message.role}
    if message.tool_calls and not message.content:
        body["content"] = None
    elif isinstance(message.content, str):
        body["content"] = mended(message.content)
    else:
        body["content"] = [_content_to_openai(part) for part in message.content]
    if message.reasoning:
        body.update({name: _mended(value) for name, value in message.reasoning.items()})
    if message.tool_calls:
        body["tool_calls"] = [
            {
                "id": mended(call.id),
                "type": "function",
                "function": {"name": call.name, "arguments": mended(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        body["tool_call_id"] = mended(message.tool_call_id or "")
    return body


def _content_to_openai(part: TextContent | ImageContent) -> dict[str, Any]:
    if isinstance(part, TextContent):
        return {"type": "text", "text": mended(part.text)}
    return {"type": "image_url", "image_url": {"url": mended(part.url)}}


def _mended(value: Any) -> Any:
    """Opaque JSON of a provider, `mended` applied to its texts."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, Mapping):
        return {mended(name): _mended(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mended(item) for item in value]
    return value
