"""The arithmetic of ComfyUI's `ComfyMathExpression`, as far as an analysis needs it.

Numbers, names, `+ - * / // % & | ~`, comparisons, `and or not`, `x if c else y` and functions of
numbers. Powers and shifts are left out: they can make numbers that take forever.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

Number = bool | int | float

LONGEST = 500
"""Characters; the longest expression of the official templates has 60."""
MOST_NODES = 200

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_UNARY: dict[type[ast.AST], Callable[[Any], Number]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_COMPARE: dict[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": round,
    "int": int,
    "float": float,
    "floor": math.floor,
    "ceil": math.ceil,
    "sqrt": math.sqrt,
    "log2": math.log2,
}


def evaluate(expression: str, names: Mapping[str, Number]) -> Number | None:
    """The value of an expression; None where it cannot be known or is not understood."""
    if len(expression) > LONGEST:
        return None
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
            return None
        return _value(tree.body, names)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, LookupError, RecursionError):
        return None


def _value(node: ast.expr, names: Mapping[str, Number]) -> Number:
    """Raises `LookupError` for what is not understood."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, names), _value(node.right, names)
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.BoolOp):
        values = [_value(one, names) for one in node.values]
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _value(node.left, names), _value(node.comparators[0], names)
        return _COMPARE[type(node.ops[0])](left, right)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, names) else node.orelse, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        return _FUNCTIONS[node.func.id](*(_value(one, names) for one in node.args))
    raise LookupError(type(node).__name__)
