"""A chat as one file for somebody who is asked for help. Pure.

The law: the file is built from a list of what may be in it, and nothing else reaches it. In it are
the words of people and of the assistant, the names and outcomes of steps, the code of an error that
ended an answer, and the workflow where the user wants that. So there are no arguments and results
of tools, no reasoning, attachments, pictures, sources, events, skills' texts, settings or times,
and no slash commands with their answers, which tell of other chats and of what is kept about the
user. From what stays, `PrivateText` takes keys, paths and names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...errors import InvalidRequest
from ...messages.fences import plain_line
from ...messages.json_text import json_text, mended
from ...messages.origin import is_event
from ...messages.parts import FilePart, Message, TextPart, ToolPart
from ...messages.private_text import KEY, PrivateText
from .shared_text import Section, to_shared
from .trajectory import Trajectory

OUTCOMES: Final[Mapping[str, str]] = {
    "output-available": "done",
    "output-error": "failed",
    "output-denied": "declined",
}
NOT_DONE: Final = "not done"
LONGEST_STEP: Final = 120
"""Characters of a step's name, which a file may hold that was imported."""
_CODE: Final = re.compile(r"[a-z_]{1,40}")
_GRAPH: Final = frozenset(
    (
        "id name revision version last_node_id last_link_id nodes links floatingLinks reroutes "
        "groups definitions subgraphs config state inputNode outputNode inputs outputs widgets"
    ).split()
)
"""Fields of a workflow, and of a subgraph in it. `extra` may hold anything: it is not among
them."""
_NODE: Final = frozenset(
    (
        "id type title pos size flags order mode inputs outputs properties widgets_values color "
        "bgcolor shape"
    ).split()
)
_PROPERTIES: Final = frozenset(
    ("Node name for S&R", "cnr_id", "aux_id", "ver", "models", "proxyWidgets")
)
_SECRET_NAME: Final = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
_TOKEN: Final = re.compile(r"\S{8,}")
DEEPEST: Final = 60
"""Levels of objects and lists in a workflow."""


@dataclass(frozen=True, slots=True)
class Shared:
    """The title and the text of the file."""

    title: str
    content: str


def share(
    trajectory: Trajectory, private: PrivateText, workflow: Mapping[str, Any] | None = None
) -> Shared:
    """The current path as a file, with this workflow where one is given. Raises InvalidRequest for
    a chat in which nothing was said, and for a workflow that is none."""
    messages = [(message.role, list(_blocks(message))) for message in _said(trajectory.path)]
    graph = None if workflow is None else _graph(workflow)
    for text in (trajectory.title, *(block for _, blocks in messages for block in blocks)):
        private.learn(text)
    for text in _texts(graph):
        private.learn(text)
    sections = []
    for role, blocks in messages:
        text = private.without("\n\n".join(blocks))
        if role != "system" and text.strip():
            sections.append(Section(role, mended(text)))
    if not sections:
        raise InvalidRequest("expected a chat in which something was said", where="id")
    if graph is not None:
        sections.append(Section("workflow", mended(json_text(_clean(graph, private)))))
    title = mended(plain_line(private.without(trajectory.title)))
    return Shared(title, to_shared(title, sections))


def _said(path: Iterable[Message]) -> Iterator[Message]:
    """The messages without events, slash commands and answers to these."""
    for message in path:
        is_command = message.data("command") is not None or "command" in message.metadata
        if not is_event(message) and not is_command:
            yield message


def _blocks(message: Message) -> Iterator[str]:
    """What may be seen of a message."""
    for part in message.parts:
        if isinstance(part, TextPart) and part.text.strip():
            yield part.text.strip()
        elif isinstance(part, ToolPart):
            name = plain_line(part.title or part.tool_name)[:LONGEST_STEP].replace("*", "")
            yield f"- *Step: {name}: {OUTCOMES.get(part.state, NOT_DONE)}*"
        elif isinstance(part, FilePart):
            kind = "picture" if part.media_type.lower().startswith("image/") else "file"
            yield f"*A {kind} was left out here.*"
    error = message.metadata.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and _CODE.fullmatch(code):
        yield f"*The answer ended with an error: {code}*"


def _graph(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """The workflow with the fields that draw it and run it."""
    if not isinstance(workflow.get("nodes"), list):
        raise InvalidRequest("expected a workflow with a list of nodes", where="workflow")
    return _fields(workflow)


def _fields(graph: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in graph.items() if name in _GRAPH}
    if isinstance(nodes := kept.get("nodes"), list):
        kept["nodes"] = [_node(node) for node in nodes if isinstance(node, Mapping)]
    definitions = kept.pop("definitions", None)
    if isinstance(definitions, Mapping) and isinstance(definitions.get("subgraphs"), list):
        inner = [_fields(one) for one in definitions["subgraphs"] if isinstance(one, Mapping)]
        kept["definitions"] = {"subgraphs": inner}
    return kept


def _node(node: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in node.items() if name in _NODE}
    if isinstance(properties := kept.get("properties"), Mapping):
        kept["properties"] = {k: v for k, v in properties.items() if k in _PROPERTIES}
    values = kept.get("widgets_values")
    if isinstance(values, Mapping):
        kept["widgets_values"] = {
            name: KEY if _SECRET_NAME.search(str(name)) and _is_token(value) else value
            for name, value in values.items()
        }
    elif isinstance(values, list) and any(map(_SECRET_NAME.search, _widgets(kept))):
        # The list does not say which value belongs to which widget.
        kept["widgets_values"] = [KEY if _is_token(value) else value for value in values]
    return kept


def _widgets(node: Mapping[str, Any]) -> Iterator[str]:
    """The names of the node's widgets, as far as its inputs say them."""
    inputs = node.get("inputs")
    for one in inputs if isinstance(inputs, list) else ():
        widget = one.get("widget") if isinstance(one, Mapping) else None
        name = widget.get("name") if isinstance(widget, Mapping) else None
        if isinstance(name, str):
            yield name


def _is_token(value: Any) -> bool:
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """All texts of JSON. Raises InvalidRequest for one that is too deep."""
    if depth > DEEPEST:
        raise InvalidRequest(f"expected at most {DEEPEST} levels", where="workflow")
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from _texts(item, depth + 1)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item, depth + 1)


def _clean(value: Any, private: PrivateText) -> Any:
    if isinstance(value, str):
        return private.without(value)
    if isinstance(value, Mapping):
        return {private.without(str(name)): _clean(item, private) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item, private) for item in value]
    return value
