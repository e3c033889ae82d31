"""Numbers as the canvas keeps them when somebody, or a PrimitiveNode, gives a widget a value.

The front end rounds a whole number to its step, and a fraction to its precision, and keeps the
latter in its range. A value that comes with a file is not rounded.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any, TypeGuard

from .inputs import Input
from .live_nodes import LiveNode
from .page_values import is_truthy
from .widgets import Widget

LEAST, GREATEST = 0, 2048
"""The front end's range of a number whose definition has none."""
_LONGEST = 100
"""Digits behind the point that JavaScript writes at most."""
_WRITTEN_WHOLE = 1e21
"""From here on JavaScript writes a number with an exponent and does not round it."""
_NO_LIMITS = {"min": -math.inf, "max": math.inf}


def kept_number(node: LiveNode, widget: Widget, value: Any) -> Any:
    """The value that the widget has after it was given this one; other values than of number
    widgets as they are."""
    spec = widget.input
    if spec is None or widget.type not in ("INT", "FLOAT"):
        return value
    number = _number(value)
    if widget.type == "INT":
        return _whole(node, spec, number)
    return _fraction(node, spec, value, number)


def _whole(node: LiveNode, spec: Input, number: float) -> int | None:
    step = _option(node, spec, "step", 1) or 1
    if step == 1:
        return _rounded(number)
    least = _option(node, spec, "min", LEAST)
    offset = math.fmod(least, step)
    steps = _rounded((number - offset) / step)
    return None if steps is None else _exact(steps * step + offset)


def _fraction(node: LiveNode, spec: Input, value: Any, number: float) -> Any:
    step = _option(node, spec, "step", 0.5)
    precision = max(0, -math.floor(math.log10(step))) if step > 0 else 0
    asked = spec.options.get("round")
    if precision and not is_truthy(asked):
        asked = 10.0**-precision
    grid = _number(asked) if is_truthy(asked) else 0.0
    if not grid or not math.isfinite(grid):
        return value
    steps = _rounded(number / grid)
    if steps is None:
        return None
    fixed = steps * grid
    if abs(fixed) < _WRITTEN_WHOLE:
        digits = Decimal(1).scaleb(-min(precision, _LONGEST))
        with localcontext() as context:
            context.prec = 2 * _LONGEST
            fixed = float(Decimal(fixed).quantize(digits, ROUND_HALF_UP))
    least = _option(node, spec, "min", LEAST)
    greatest = _option(node, spec, "max", GREATEST)
    return min(max(fixed, least), greatest)


def _option(node: LiveNode, spec: Input, name: str, otherwise: float) -> float:
    """An option of a number; `PrimitiveInt` and `PrimitiveFloat` have their own properties."""
    if node.type in ("PrimitiveInt", "PrimitiveFloat"):
        own = node.node.properties.get(name)
        if _is_number(own):
            return float(own)
        if name in _NO_LIMITS:
            return _NO_LIMITS[name]
    value = spec.options.get(name)
    return float(value) if _is_number(value) else otherwise


def _is_number(value: Any) -> TypeGuard[int | float]:
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return numeric and abs(value) < 1e300


def _rounded(number: float) -> int | None:
    """JavaScript's `Math.round`: halves go up."""
    return math.floor(number + 0.5) if math.isfinite(number) else None


def _exact(number: float) -> Any:
    return int(number) if number.is_integer() else number


def _number(value: Any) -> float:
    """JavaScript's `Number(value)` of what a widget may hold."""
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    if value is None:
        return 0.0
    if isinstance(value, str):
        try:
            return float(value) if value.strip() else 0.0
        except ValueError:
            return math.nan
    return math.nan
