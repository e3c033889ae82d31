"""Links of a draft: made and taken away, with what follows from that for the nodes.

A group of inputs that grows gets a free input behind the last linked one, and closes the gap where
a link is taken away. An output whose type follows the inputs gets their type. An input of a
subgraph that feeds a widget gives the subgraph's instances that widget.
"""

from __future__ import annotations

from ..dynamic_inputs import grow_behind
from ..inputs import ANY, MATCH_TYPE, split_types
from ..instances import promote
from ..live import LiveScope
from ..live_nodes import LiveInput, LiveLink, LiveNode, LiveOutput
from ..parts import PRIMITIVE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT
from ..primitives import make_primitive
from ..widgets import Widget
from .draft import Draft, Unsettled


def link(
    draft: Draft, scope: LiveScope, source: tuple[str, int], node: LiveNode, one: LiveInput
) -> None:
    """Have an input fed by an output: a node's id (or `SUBGRAPH_INPUT`) and the output's place."""
    _touch(draft, scope, source, node)
    if one.link is not None:
        _cut(draft, scope, node, one)
    kind = source_type(scope, source)
    type_ = kind if one.type in (ANY, "") or kind == ANY else one.type
    id_ = draft.new_ids.link()
    place = next(i for i, other in enumerate(node.inputs) if other is one)
    if not draft.is_prompt:
        draft.links(scope).add(id_, source, (node.id, place), type_)
    one.link = LiveLink(str(id_), source[0], source[1], type_)
    name, _, _ = one.name.rpartition(".")
    group = [other for other in node.inputs if other.name.startswith(f"{name}.")]
    if name in node.autogrow and group and _row(node, group[-1]) == _row(node, one):
        grow_behind(node, one)
    _after(draft, scope, source, node)


def unlink(draft: Draft, scope: LiveScope, node: LiveNode, one: LiveInput) -> None:
    """Take the link of an input away."""
    if one.link is None:
        return
    source = (one.link.source, one.link.source_slot)
    _cut(draft, scope, node, one)
    _close_gap(node, one)
    _after(draft, scope, source, node)


def _touch(
    draft: Draft, scope: LiveScope, source: tuple[str, int], node: LiveNode | None = None
) -> None:
    """Both ends of a link are touched, before it is."""
    for one in (scope.nodes.get(source[0]), node):
        if one is not None:
            draft.touch(scope, one)


def _cut(draft: Draft, scope: LiveScope, node: LiveNode, one: LiveInput) -> None:
    assert one.link is not None
    before = one.link
    _touch(draft, scope, (before.source, before.source_slot), node)
    one.link = None
    if before.id and not draft.is_prompt and before.id in draft.links(scope).by_id:
        draft.links(scope).remove(before.id)
    elif not before.id:
        raise Unsettled(scope.scope.key)
    draft.note_links(scope, node)
    _note_source(draft, scope, (before.source, before.source_slot))


def _after(draft: Draft, scope: LiveScope, source: tuple[str, int], node: LiveNode) -> None:
    draft.note_links(scope, node)
    _note_source(draft, scope, source)
    scope.forget_targets()
    match_types(draft, scope, node)
    made = scope.nodes.get(source[0])
    if made is not None and made.type == PRIMITIVE and made.definition is None:
        follow_primitive(draft, scope, made)


def _note_source(draft: Draft, scope: LiveScope, source: tuple[str, int]) -> None:
    if source[0] == SUBGRAPH_INPUT and scope.scope.key:
        draft.note_boundary(scope)
        scope.forget_targets()
        refresh_promoted(draft, scope, source[1])
        return
    node = scope.nodes.get(source[0])
    if node is not None:
        draft.note_links(scope, node)


def refresh_promoted(draft: Draft, scope: LiveScope, slot: int) -> None:
    """Give the instances of a subgraph the widget that an input of it feeds now, or none."""
    if any(one.node.properties.get("proxyWidgets") for one in scope.instances):
        raise Unsettled(scope.scope.key)
    for instance in scope.instances:
        one = instance.inputs[slot]
        before = one.promoted
        one.promoted, one.widget = None, None
        promote(instance, slot)
        after: Widget | None = one.promoted
        if before is not None and after is not None and before.type == after.type:
            after.value = before.value
        if (before is None) != (after is None):
            draft.note_values(draft.home(instance), instance)
            draft.note_links(draft.home(instance), instance)


def link_out(draft: Draft, scope: LiveScope, source: tuple[str, int], slot: int) -> None:
    """Have an output of a subgraph give what an output of a node in it gives."""
    _touch(draft, scope, source)
    unlink_out(draft, scope, slot)
    id_ = draft.new_ids.link()
    type_ = source_type(scope, source)
    draft.links(scope).add(id_, source, (SUBGRAPH_OUTPUT, slot), type_)
    scope.output_links[slot] = LiveLink(str(id_), source[0], source[1], type_)
    _note_source(draft, scope, source)
    draft.note_boundary(scope)


def unlink_out(draft: Draft, scope: LiveScope, slot: int) -> None:
    before = scope.output_links.pop(slot, None)
    if before is not None:
        _touch(draft, scope, (before.source, before.source_slot))
        links = draft.links(scope)
        if before.id in links.by_id:
            links.remove(before.id)
        _note_source(draft, scope, (before.source, before.source_slot))
        draft.note_boundary(scope)


def source_type(scope: LiveScope, source: tuple[str, int]) -> str:
    """The type of what an output, or an input of the subgraph, gives."""
    id_, slot = source
    if id_ == SUBGRAPH_INPUT and scope.scope.key:
        return scope.inputs[slot].type if slot < len(scope.inputs) else ANY
    node = scope.nodes.get(id_)
    return node.outputs[slot].type if node is not None and slot < len(node.outputs) else ANY


def consumers(scope: LiveScope, id_: str, slot: int) -> list[tuple[LiveNode, LiveInput]]:
    """The inputs that an output feeds."""
    return [
        (node, one)
        for node in scope.nodes.values()
        for one in node.inputs
        if one.link is not None and (one.link.source, one.link.source_slot) == (id_, slot)
    ]


def outlets(scope: LiveScope, id_: str, slot: int) -> list[int]:
    """The outputs of the subgraph that an output feeds."""
    return [
        place
        for place, one in scope.output_links.items()
        if (one.source, one.source_slot) == (id_, slot)
    ]


def _row(node: LiveNode, one: LiveInput) -> int | None:
    name, _, last = one.name.rpartition(".")
    group = node.autogrow.get(name)
    return group.ordinal(last) if group is not None else None


def _close_gap(node: LiveNode, one: LiveInput) -> None:
    """The links behind a free row of a growing group move up, as in the front end."""
    name, _, _ = one.name.rpartition(".")
    group = node.autogrow.get(name)
    row = _row(node, one)
    if group is None or row is None or row + 1 < group.minimum:
        return
    stride = max(len(group.inputs), 1)
    members = [
        other
        for other in node.inputs
        if other.name.startswith(f"{name}.") and "." not in other.name[len(name) + 1 :]
    ]
    place = next(i for i, other in enumerate(node.inputs) if other is one)
    if stride + place >= len(node.inputs) or len(members) % stride:
        return
    for column in range(stride):
        for at in range(row * stride + column, len(members) - stride, stride):
            members[at].link = members[at + stride].link
            members[at + stride].link = None
    spare = members[group.minimum * stride :]
    last = len(spare) - stride
    while last >= 0 and all(other.link is None for other in spare[last : last + stride]):
        last -= stride
    for gone in spare[last + stride * 2 :]:
        node.inputs.remove(gone)
        node.rows.discard(gone.name)
        node.own_widgets[:] = [w for w in node.own_widgets if w.name != gone.widget]


def match_types(draft: Draft, scope: LiveScope, node: LiveNode) -> None:
    """Outputs whose type follows the inputs get the type of what feeds them."""
    if node.definition is None:
        return
    for place, output in enumerate(node.definition.outputs):
        if output.template is None or place >= len(node.outputs):
            continue
        types = group_types(scope, node, output.template)
        kind = _common(types)
        if kind is not None and kind != node.outputs[place].type:
            outputs = list(node.outputs)
            outputs[place] = LiveOutput(outputs[place].name, kind)
            node.outputs = outputs
            draft.note_links(scope, node)


def group_types(
    scope: LiveScope, node: LiveNode, template: str, without: LiveInput | None = None
) -> list[str]:
    """The types of what feeds the inputs of one template."""
    return [
        source_type(scope, (one.link.source, one.link.source_slot))
        for one in node.inputs
        if one.link is not None and one is not without and template_of(node, one) == template
    ]


def template_of(node: LiveNode, one: LiveInput) -> str | None:
    """The name that the inputs of one type share."""
    if node.definition is None:
        return None

    def value(name: str) -> object:
        widget = node.widget(name)
        return widget.value if widget is not None else None

    spec = node.definition.input(one.name, value)
    return spec.template if spec is not None and spec.type == MATCH_TYPE else None


def _common(types: list[str]) -> str | None:
    """The type that fits all, `*` without any; None where there is none."""
    left: list[str] | None = None
    for one in types:
        parts = list(split_types(one))
        if ANY in parts:
            continue
        left = parts if left is None else [kind for kind in left if kind in parts]
    if left is None:
        return ANY
    return ",".join(left) if left else None


def follow_primitive(draft: Draft, scope: LiveScope, node: LiveNode) -> None:
    """A PrimitiveNode has the widget of what it feeds first, and its output that type."""
    targets = scope.targets(node.id, 0)
    raw = draft.raw_node(node)
    outputs = raw.get("outputs")
    if not targets:
        node.own_widgets.clear()
        draft.note_values(scope, node)
        return
    if node.own_widgets:
        return
    one = targets[0][1]
    make_primitive(scope, node)
    node.outputs = [LiveOutput(one.type, one.type)]
    if isinstance(outputs, list) and outputs and isinstance(outputs[0], dict):
        outputs[0].update(name=one.type, type=one.type)
        if one.widget is not None:
            outputs[0]["widget"] = {"name": one.widget}
    draft.note_values(scope, node)
    draft.note_links(scope, node)
