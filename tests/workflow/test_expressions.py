"""Arithmetic of math nodes: what is understood is right, everything else is unknown."""

from __future__ import annotations

import pytest
from plugin.assistant.workflow.expressions import Number, evaluate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a / 2", 2.5),
        ("floor (a * b + 1)", 16),
        ("(a // 3) * 3", 3),
        ("a % b if b > 0 else 0", 2),
        ("max(5, round(a * 24)) + (5 - (max(5, round(a * 24)) % 17)) % 17", 124),
        ("a & ~1", 4),
        ("a > 2 and b > 2", True),
        ("not a", False),
    ],
)
def test_an_expression_of_the_templates_has_its_value(expression: str, value: Number) -> None:
    assert evaluate(expression, {"a": 5, "b": 3}) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "a +",
        "a / 0",
        "unknown + 1",
        "9 ** 9 ** 9",
        "1 << 99999",
        "a.__class__",
        "__import__('os')",
        "[1, 2]",
        "'x' * 3",
        "1 < 2 < 3",
        "(" * 300 + "1" + ")" * 300,
        "+".join("1" * 400),
        "min()",
    ],
)
def test_what_is_not_understood_has_no_value(expression: str) -> None:
    assert evaluate(expression, {"a": 5}) is None
