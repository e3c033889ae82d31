"""What changed between two states of a workflow, in the words of the views (R31).

    from 1a2b3c4d to 5e6f7a8b:
    + 12 LoraLoaderModelOnly lora_name=detail.safetensors model<-4.MODEL
    - 7 EmptyLatentImage
    ~ 3 KSampler: steps=20 -> 30; model<-4.MODEL -> 12; now bypassed

Added nodes stand with their values, removed nodes with their type and title. Places, sizes, colours
and groups do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..messages.fences import quoted
from .facts import revision
from .full_view import MODES, counted, mode_word
from .node_words import NodeWords, ScopeWords, WorkflowWords
from .parts import RUN
from .view import node_line
from .words import clamped, id_word, word

LONGEST_ADDED = 300
"""Characters of a value of an added node, and of each side of a changed value."""
CONTEXT = 20
"""Characters before and after the changed part of a long text."""


@dataclass(frozen=True)
class ScopeDiff:
    """What changed in the workflow itself, or in one subgraph; `before` or `after` is None for a
    subgraph that is new or gone."""

    before: ScopeWords | None
    after: ScopeWords | None
    added: tuple[NodeWords, ...]
    removed: tuple[NodeWords, ...]
    changed: tuple[tuple[NodeWords, NodeWords], ...]
    outputs: Mapping[str, tuple[str | None, str | None]]

    @property
    def is_empty(self) -> bool:
        same = self.before is not None and self.after is not None
        named = same and self.before.name == self.after.name  # type: ignore[union-attr]
        return named and not (self.added or self.removed or self.changed or self.outputs)


@dataclass(frozen=True)
class WorkflowDiff:
    """The difference between two states; `scopes` has those in which something changed."""

    before: WorkflowWords
    after: WorkflowWords
    scopes: tuple[ScopeDiff, ...]

    @cached_property
    def revisions(self) -> tuple[str, str]:
        """Those of the states before and after."""
        return revision(self.before.graph), revision(self.after.graph)

    def text(self) -> str:
        """The difference as text for a model."""
        ends = self.revisions
        if not self.scopes:
            if ends[0] == ends[1]:
                return f"Nothing has changed since {ends[0]}."
            return f"From {ends[0]} to {ends[1]} nothing has changed that a view shows."
        lines = [f"from {ends[0]} to {ends[1]}:"]
        for scope in self.scopes:
            lines.extend(_scope_lines(scope))
        return "\n".join(lines)


def compare(before: WorkflowWords, after: WorkflowWords) -> WorkflowDiff:
    """What has to happen to `before` so that it becomes `after`."""
    keys = {**before.scopes, **after.scopes}
    scopes = (_compare(before.scopes.get(key), after.scopes.get(key)) for key in keys)
    return WorkflowDiff(before, after, tuple(scope for scope in scopes if not scope.is_empty))


def _compare(before: ScopeWords | None, after: ScopeWords | None) -> ScopeDiff:
    old = before.nodes if before is not None else {}
    new = after.nodes if after is not None else {}
    both = [(old[id_], node) for id_, node in new.items() if id_ in old]
    ends = (before.outputs if before else {}, after.outputs if after else {})
    return ScopeDiff(
        before,
        after,
        added=tuple(node for id_, node in new.items() if id_ not in old),
        removed=tuple(node for id_, node in old.items() if id_ not in new),
        changed=tuple(pair for pair in both if not same_node(*pair)),
        outputs={
            name: (ends[0].get(name), ends[1].get(name))
            for name in {**ends[0], **ends[1]}
            if ends[0].get(name) != ends[1].get(name)
        },
    )


def same_node(before: NodeWords, after: NodeWords) -> bool:
    """Whether two states of a node say the same; labels are only for the eye."""
    plain = (before.kind, before.title, before.mode) == (after.kind, after.title, after.mode)
    return plain and before.sources == after.sources and _same(before.values, after.values)


def _same(before: Any, after: Any) -> bool:
    """Equality of JSON values in which 1 is 1.0 but not `true`, and NaN is itself."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        same_keys = before.keys() == after.keys()
        return same_keys and all(_same(before[key], after[key]) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_same, before, after))
    if isinstance(before, bool) != isinstance(after, bool):
        return False
    return bool(before == after) or (before != before and after != after)


def _scope_lines(scope: ScopeDiff) -> Iterator[str]:
    known = scope.after or scope.before
    assert known is not None
    indent = "  " if known.key else ""
    if scope.after is None:
        yield f"- subgraph {quoted(known.name)}"
        return
    if known.key:
        new = f"+ subgraph {quoted(known.name)}: {counted(len(known.nodes), 'node')}"
        yield new if scope.before is None else _renamed(scope.before, known)
    for node in scope.removed:
        yield f"{indent}- {node.head}"
    for node in scope.added:
        yield f"{indent}+ {node_line(node, LONGEST_ADDED, defaults=True)}"
    for before, after in scope.changed:
        yield f"{indent}~ {_change(before, after)}"
    for name, (old, new_source) in scope.outputs.items():
        yield f"{indent}~ out {_source_change(name, old, new_source)}"


def _renamed(before: ScopeWords, after: ScopeWords) -> str:
    was = f", was {quoted(before.name)}" if before.name != after.name else ""
    return f"in subgraph {quoted(after.name)}{was}:"


def _change(before: NodeWords, after: NodeWords) -> str:
    changes = []
    if before.kind != after.kind:
        changes.append(f"was {before.kind}")
    if before.title != after.title:
        changes.append(f"title {_title(before)} -> {_title(after)}")
    if before.mode != after.mode:
        changes.append(f"now {_mode(after.mode)}, was {_mode(before.mode)}")
    for name in {**before.values, **after.values}:
        if name not in after.values:
            changes.append(f"no more {word(name)}")
        elif name not in before.values:
            changes.append(f"new {word(name)}={clamped(after.values[name], LONGEST_ADDED)}")
        elif not _same(before.values[name], after.values[name]):
            changes.append(_value_change(name, before.values[name], after.values[name]))
    for name in {**before.sources, **after.sources}:
        old, new = before.sources.get(name), after.sources.get(name)
        if old != new:
            changes.append(_source_change(word(name), old, new))
    return f"{id_word(after.id)} {after.kind}: {'; '.join(changes)}"


def _title(node: NodeWords) -> str:
    return quoted(node.title) if node.title is not None else "none"


def _mode(mode: int) -> str:
    return "run" if mode == RUN else MODES.get(mode, mode_word(mode))


def _source_change(name: str, old: str | None, new: str | None) -> str:
    if old is None:
        return f"{name}<-{new}, was not linked"
    if new is None:
        return f"{name} no more <-{old}"
    return f"{name}<-{old} -> {new}"


def _value_change(name: str, old: Any, new: Any) -> str:
    """Both values; of long texts the part that changed, with a few characters around it."""
    long = isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > LONGEST_ADDED
    if not long:
        return f"{word(name)}={clamped(old, LONGEST_ADDED)} -> {clamped(new, LONGEST_ADDED)}"
    start, end = _changed_part(old, new)
    first = max(start - CONTEXT, 0)
    parts = [text[first : len(text) - max(end - CONTEXT, 0)] for text in (old, new)]
    shown = " -> ".join(clamped(quoted_part(part), None) for part in parts)
    return f"{word(name)} from character {first}: {shown}"


def quoted_part(part: str) -> str:
    return part if len(part) <= LONGEST_ADDED else f"{part[:LONGEST_ADDED]}…"


def _changed_part(old: str, new: str) -> tuple[int, int]:
    """How many characters at the beginning and at the end of both texts are the same."""
    most = min(len(old), len(new))
    start = next((index for index in range(most) if old[index] != new[index]), most)
    most -= start
    end = next((index for index in range(most) if old[-1 - index] != new[-1 - index]), most)
    return start, end
