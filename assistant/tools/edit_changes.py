"""What edits changed, for the summary of a chat: the changes of one operation by the addresses that
its nodes have, and those that the answers of `undoEdits` and `openWorkflow` tell.

Where nodes lie is no change, nor are groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..messages.changes import (
    Change,
    NodeAdded,
    NodeChanged,
    NodeRemoved,
    ValueSet,
    WorkflowNamed,
)
from ..messages.fences import quoted
from ..messages.prompt import ToolCall
from ..workflow.edits.operations import (
    Add,
    Connect,
    Disconnect,
    End,
    Insert,
    Operation,
    Remove,
    Replace,
    SetMode,
    SetTitle,
    SetValues,
    Unwrap,
    Wrap,
)

NOTHING = "nothing"
"""What feeds an input whose link was cut."""


def changes_of(operation: Operation, ids: Mapping[str, Any]) -> Iterator[Change]:
    """The changes that an operation made. `ids` has the address of each name that the batch gave a
    node."""

    def address(name: str) -> str:
        return str(ids.get(name, name))

    def end(said: End) -> tuple[str, str]:
        node, _, slot = str(said).partition(".")
        return address(node), slot

    def link(target: End, source: End | None) -> Change:
        node, slot = end(target)
        return linked(node, slot, ".".join(filter(None, end(source))) if source else NOTHING)

    if isinstance(operation, (Add, Insert)):
        node = address(operation.id)
        yield NodeAdded(node, operation.type)
        yield from (ValueSet(node, name, value) for name, value in operation.values.items())
        for name, source in operation.inputs.items():
            yield link(End("", node, name), source)
        if isinstance(operation, Insert):
            yield linked(*end(operation.into), node)
    elif isinstance(operation, Remove):
        yield NodeRemoved(address(operation.node))
    elif isinstance(operation, (SetValues, Replace)):
        node = address(operation.node)
        if isinstance(operation, Replace):
            yield NodeChanged(node, "type", f"type={operation.type}")
        yield from (ValueSet(node, name, value) for name, value in operation.values.items())
    elif isinstance(operation, Connect):
        yield link(operation.target, operation.source)
    elif isinstance(operation, Disconnect):
        yield link(operation.target, None)
    elif isinstance(operation, SetMode):
        yield NodeChanged(address(operation.node), "mode", f"mode={operation.mode}")
    elif isinstance(operation, SetTitle):
        yield NodeChanged(address(operation.node), "title", f"title={quoted(operation.title)}")
    elif isinstance(operation, Wrap):
        for node in operation.nodes:
            text = f"now inside the subgraph {quoted(operation.title)}"
            yield NodeChanged(address(node), "inside", text)
    elif isinstance(operation, Unwrap):
        yield NodeRemoved(address(operation.node))


def linked(node: str, slot: str, source: str) -> Change:
    return NodeChanged(node, f"link {slot}", f"{slot or 'input'}<-{source}")


def taken_back(call: ToolCall, value: Any) -> Iterator[Change]:
    """The changes that taking back made, as its answer has them."""
    if not isinstance(value, Mapping):
        return
    for node, type_ in _mapping(value.get("added")).items():
        yield NodeAdded(str(node), str(type_))
    for node in value.get("removed") or ():
        yield NodeRemoved(str(node))
    for node, values in _mapping(value.get("values")).items():
        for name, new in _mapping(values).items():
            yield ValueSet(str(node), str(name), new)
    for node, links in _mapping(value.get("links")).items():
        for name, source in _mapping(links).items():
            yield linked(str(node), str(name), str(source or NOTHING))
    for node, mode in _mapping(value.get("modes")).items():
        yield NodeChanged(str(node), "mode", f"mode={mode}")


def opened(call: ToolCall, value: Any) -> Iterator[Change]:
    """Which workflow was opened: what is edited then is in it."""
    name = _mapping(value).get("name")
    if isinstance(name, str) and name:
        yield WorkflowNamed(name)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
