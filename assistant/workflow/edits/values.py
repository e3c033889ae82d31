"""Values of widgets: read as they are meant, checked, and set where they count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..dynamic_inputs import set_widget
from ..inputs import DYNAMIC_COMBO, Input
from ..live_nodes import LiveInput, LiveNode
from ..page_values import page_text, page_value
from ..parts import is_prompt_link
from ..rounding import kept_number
from ..sources import Position
from ..validation_files import FILE_ENDINGS, MODEL_ENDINGS
from ..validation_inputs import Expected
from ..validation_names import Nearest
from ..validation_problems import NO_VALUE, shown
from ..validation_values import ValueChecks
from ..widgets import Widget
from .draft import Draft, Spot
from .driving import Driver, Undriven, driven_by, driver_of
from .lookup import Lookup, only, plain
from .refused import EditRefused

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_ERRORS = ("wrong_type", "not_a_choice", "out_of_range")
_SLASHES = re.compile(r"[\\/]+")
_UNREAD = str.maketrans({"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"})
"""What JSON makes of one backslash before such a letter, where a model wrote a path of Windows."""


@dataclass(frozen=True)
class _Wish:
    """A value for a widget of the node that was named, and the widget that says it."""

    widget: Widget
    one: LiveInput | None
    value: Any
    driver: Driver


def set_values(draft: Draft, spot: Spot, values: Mapping[str, Any], number: int) -> None:
    """Set widgets of a node so that the next prompt has these values. Raises `EditRefused`."""
    lookup = Lookup(draft, number)
    draft.touch(spot.scope, spot.node)
    wishes: list[_Wish] = []
    # A dynamic combo is set before the inputs that depend on it.
    for name in sorted(values, key=lambda one: one.count(".")):
        wish = _wish(draft, spot, lookup, name, values[name])
        if wish.driver.at.node is spot.node and wish.driver.widget is wish.widget:
            assign(draft, wish.driver.at, wish.widget, wish.value)
        else:
            wishes.append(wish)
    done: dict[tuple[LiveNode, str], None] = {}
    for wish in wishes:
        if wish.driver.key not in done:
            done[wish.driver.key] = None
            _check_others(draft, spot, wish, wishes, number)
            assign(draft, wish.driver.at, wish.driver.widget, wish.value)


def _wish(draft: Draft, spot: Spot, lookup: Lookup, name: str, value: Any) -> _Wish:
    widget = lookup.widget(spot, name)
    one = input_of(spot.node, widget)
    at = spot.position
    driver: Driver | Undriven = Driver(at, widget)
    if one is not None and one.link is not None:
        driver = driver_of(draft, at, one)
    if isinstance(driver, Undriven):
        maker = f"the node {shown(driver.at.address)}" if driver.at is not None else "a link"
        raise lookup.refused(
            "driven",
            f"The value of {shown(widget.name)} of {shown(spot.address)} comes from {maker}, and "
            "no widget says it. Disconnect it first, or connect another output.",
        )
    fitting = fitted(spot.node, widget, value, lookup)
    if driver.widget is not widget:
        fitting = fitted(driver.at.node, driver.widget, fitting, lookup)
    return _Wish(widget, one, fitting, driver)


def _check_others(draft: Draft, spot: Spot, wish: _Wish, wishes: list[_Wish], number: int) -> None:
    """Refuse where the widget says other values, too, that are not asked to become the same."""
    same = {
        id(other.one)
        for other in wishes
        if other.driver.key == wish.driver.key and other.value == wish.value
    }
    others = [f"{at.address}.{one.name}" for at, one in driven_by(draft, wish.driver, same)]
    if not others:
        return
    where = f"{wish.driver.at.address}.{wish.driver.widget.name}"
    raise EditRefused(
        "driven",
        f"{shown(wish.widget.name)} of {shown(spot.address)} is said by {shown(where)}, which also "
        f"says {', '.join(map(shown, others[:4]))}. Set that widget to change all of them, or "
        "disconnect this input first.",
        number,
    )


def input_of(node: LiveNode, widget: Widget) -> LiveInput | None:
    """The input that belongs to a widget."""
    for one in node.inputs:
        if one.promoted is widget or (one.promoted is None and one.widget == widget.name):
            return one
    return None


def assign(draft: Draft, at: Position, widget: Widget, value: Any) -> None:
    """Give a widget its value, with what follows for the inputs of its node."""
    node, scope = at.node, at.scope
    draft.touch(scope, node)
    before = {one.link.id: one for one in node.inputs if one.link is not None}
    if node.subgraph is not None:
        widget.value = value
    else:
        names = {one.name for one in node.widgets}
        set_widget(node, widget, value)
        new = {one.name for one in node.widgets} - names
        draft.note_named(node, {widget.name, *new})
    if widget.type == DYNAMIC_COMBO:
        left = {one.link.id for one in node.inputs if one.link is not None}
        for id_ in before.keys() - left:
            if not draft.is_prompt and id_ in draft.links(scope).by_id:
                source = draft.links(scope).source(id_)
                draft.links(scope).remove(id_)
                made = scope.nodes.get(source[0])
                if made is not None:
                    draft.note_links(scope, made)
        scope.forget_targets()
        draft.note_links(scope, node)
    draft.note_values(scope, node)


def origin(node: LiveNode, widget: Widget) -> tuple[str, str]:
    """The type of node and the name of the input that a widget is really of."""
    name = widget.name
    while node.subgraph is not None:
        slot = next((i for i, one in enumerate(node.inputs) if one.promoted is widget), None)
        inner = list(node.subgraph.fed_by(slot)) if slot is not None else []
        fed = next(((n, one) for n, one in inner if n.widget_of(one) is not None), None)
        if fed is None:
            break
        node, one = fed
        found = node.widget_of(one)
        assert found is not None
        widget, name = found, one.name
    return node.type, name


def fitted(node: LiveNode, widget: Widget, value: Any, lookup: Lookup) -> Any:
    """The value as the canvas keeps it. Raises `EditRefused` where the widget does not take it."""
    if isinstance(value, list) and is_prompt_link(value):
        raise lookup.refused(
            "wrong_type", f"{shown(widget.name)} takes a value; a link is made with connect."
        )
    spec = widget.input
    if widget.type == "control":
        return _chosen(widget.choices, value, widget.name, lookup)
    if spec is None:
        return page_value(value)
    value = _meant(spec, widget, value)
    type_, name = origin(node, widget)
    if spec.type == "INT" and isinstance(value, float) and not value.is_integer():
        rounded = kept_number(node, widget, value)
        _check(type_, name, spec, rounded, widget, lookup)
    else:
        _check(type_, name, spec, value, widget, lookup)
    return page_value(kept_number(node, widget, value))


def _check(type_: str, name: str, spec: Input, value: Any, widget: Widget, lookup: Lookup) -> None:
    expected = Expected(name, spec, required=True)
    found = ValueChecks(Nearest(), {}).check(type_, expected, value)
    if found is not None and found.code in _ERRORS:
        text = f" {found.fix.text}" if found.fix is not None else ""
        message = found.message.replace(shown(name), shown(widget.name), 1)
        raise EditRefused(found.code, f"{message}{text}", lookup.number)  # type: ignore[arg-type]


def _chosen(choices: Any, value: Any, name: str, lookup: Lookup) -> Any:
    found = value if value in choices else _choice(choices, value)
    if found is NO_VALUE:
        near = lookup.near(str(value), list(choices))
        raise lookup.refused(
            "not_a_choice", f"{shown(value)} is not among the choices of {shown(name)}.{near}"
        )
    return found


def _meant(spec: Input, widget: Widget, value: Any) -> Any:
    """The value of the right kind, where there is one reading: `"3"` for 3, `"Euler"`."""
    if spec.type in ("INT", "FLOAT") and isinstance(value, str):
        return _number(value)
    if spec.type == "BOOLEAN":
        text = page_text(value).strip().casefold() if isinstance(value, (str, int, float)) else ""
        return True if text in _TRUE else False if text in _FALSE else value
    if spec.type == "STRING" and isinstance(value, (int, float)):
        return page_text(value)
    choices = list(spec.branches) if spec.type == DYNAMIC_COMBO else spec.choices
    if choices and not _among(value, choices):
        found = _choice(choices, value)
        return value if found is NO_VALUE else found
    return value


def _among(value: Any, choices: Any) -> bool:
    return any(one == value and isinstance(one, bool) == isinstance(value, bool) for one in choices)


def _number(text: str) -> Any:
    plain_text = text.strip().replace("_", "")
    for kind in (int, float):
        try:
            return kind(plain_text)
        except ValueError:
            continue
    return text


def _choice(choices: Any, value: Any) -> Any:
    """The one choice that a value means: the same text, but for case, signs and a file's ending."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return NO_VALUE
    text = page_text(value)
    is_file = text.casefold().endswith((*MODEL_ENDINGS, *FILE_ENDINGS))
    for same in (str, str.casefold, _slashes, *(() if is_file else (plain, _stem))):
        wanted = same(text)
        found = only(one for one in choices if wanted and same(page_text(one)) == wanted)
        if found is not None:
            return found
    return NO_VALUE


def _slashes(text: str) -> str:
    """A path with one kind of slash, and with letters and their accents as one character: macOS
    may list them apart."""
    slashed = _SLASHES.sub("/", text.translate(_UNREAD))
    return unicodedata.normalize("NFC", slashed).casefold()


def _stem(text: str) -> str:
    """A file's name without its ending."""
    lower = _slashes(text)
    ending = next((one for one in (*MODEL_ENDINGS, *FILE_ENDINGS) if lower.endswith(one)), "")
    return lower.removesuffix(ending) if ending else lower
