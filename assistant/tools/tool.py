"""One tool: what the model is told of it, what it may do, and where it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import ToolError
from ..workflow.view import Snapshot

Kind = Literal["reads", "edits", "acts"]
"""Reads change nothing; edits can be undone in one step; acts ask the user first."""
Place = Literal["server", "panel"]


class Arguments(BaseModel):
    """The arguments of a tool. A field that the schema does not have is an error the model sees."""

    model_config = ConfigDict(extra="forbid")


class NoArguments(Arguments):
    pass


class Skills(Protocol):
    """What the skill tools need; `user_context_loader` has it."""

    def list_user(self) -> Any: ...
    def get_user(self, slug: str) -> Any: ...
    def list_system(self) -> Any: ...
    def get_system(self, slug: str) -> Any: ...
    def create(self, name: str, description: str, instructions: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class Passage:
    """A place in the chat's log that a search found: its handle, who spoke, and an excerpt."""

    handle: str
    role: str
    text: str


class ChatHistory(Protocol):
    """The chat's whole log, for the tools that look into it; `turn` has it."""

    @property
    def page_chars(self) -> int: ...
    def recall(self, handle: str, path: str | None = None) -> str: ...
    async def search(self, query: str, k: int) -> Sequence[Passage]: ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may look at while it runs: the turn's workflow, the user's skills, and the log of
    the chat."""

    skills: Skills
    workflow: Snapshot = field(default_factory=Snapshot)
    memory: ChatHistory | None = None


Run = Callable[[Any, ToolContext], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Tool:
    """`title` is what people read while it runs ("Read the workflow"); `run` is None in the panel.

    A result is JSON or text. A tool raises ToolError for what the model can do something about.
    """

    name: str
    title: str
    description: str
    kind: Kind
    arguments: type[Arguments] = NoArguments
    place: Place = "server"
    run: Run | None = None

    @property
    def asks_first(self) -> bool:
        return self.kind == "acts"

    def parse(self, value: Any) -> Arguments:
        """The checked arguments; raises ToolError naming each wrong field."""
        try:
            return self.arguments.model_validate(value)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()
            )
            raise ToolError(f"The arguments of {self.name} are wrong. {wrong}") from None

    def schema(self) -> dict[str, Any]:
        """The tool as the provider's `tools` field has it, in a stable order (R10)."""
        parameters = _plain(self.arguments.model_json_schema())
        parameters.pop("description", None)
        parameters.setdefault("properties", {})
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": parameters,
            },
        }


def _plain(schema: Any) -> Any:
    """The schema without pydantic's titles, which cost tokens and say nothing."""
    if isinstance(schema, dict):
        return {
            name: _plain(value)
            for name, value in schema.items()
            if not (name == "title" and isinstance(value, str))
        }
    return [_plain(item) for item in schema] if isinstance(schema, list) else schema
