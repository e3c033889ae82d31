"""A statement of SQLAlchemy Core whose SQL text is made once, for the statements of hot paths.

SQLAlchemy's own work for one execution (cache key, result rows) costs many times what an embedded
database needs for the statement itself. Measured: finding a chat takes 9 microseconds as a
`Statement` and 250 through `Connection.execute`, setting a chat's state 12 and 98; the driver alone
with a constant text needs as long as a `Statement`. So the statements of a turn are `Statement`s,
and other statements are run by `Transaction.execute`. Constant SQL texts were rejected: they bind a
store to one driver. The SQL text is compiled at the first use, once for each dialect.

Values go to the driver, and rows come from it, without SQLAlchemy's conversions: texts, whole
numbers and None are the same in every database; a boolean may come as 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from sqlalchemy import ClauseElement, ColumnElement, Dialect, bindparam

_AMONG: Final = tuple(f"among{number}" for number in range(100))
"""The values that one statement asks for; every database binds more."""


def among(column: ColumnElement[int]) -> ColumnElement[bool]:
    """A condition of a `Statement`: the column has one of the values of `Transaction.rows_among`.
    A list of any length would need another SQL text for each length."""
    return column.in_([bindparam(name) for name in _AMONG])


def bound_among(numbers: Iterable[int]) -> Iterator[dict[str, int]]:
    """The values of a condition `among`, for each execution that `numbers` need."""
    left = iter(numbers)
    while asked := list(islice(left, len(_AMONG))):
        # A number that is asked for twice gives one row.
        yield dict(zip(_AMONG, asked + asked[:1] * (len(_AMONG) - len(asked)), strict=True))


class Statement:
    """A constant statement. Its values are bound by the names of its `bindparam`s; in an INSERT
    without values, by the names of the table's columns."""

    def __init__(self, core: ClauseElement) -> None:
        self._core = core
        self._compiled: dict[type[Dialect], _Compiled] = {}

    def bound(self, dialect: Dialect, values: Mapping[str, Any]) -> tuple[str, Any]:
        """The SQL text for the driver, and its parameters. Raises KeyError for a missing value."""
        compiled = self._of(dialect)
        return compiled.sql, compiled.parameters(values)

    def bound_many(self, dialect: Dialect, rows: list[dict[str, Any]]) -> tuple[str, list[Any]]:
        """`bound` for one execution with each of `rows`."""
        compiled = self._of(dialect)
        return compiled.sql, [compiled.parameters(values) for values in rows]

    def _of(self, dialect: Dialect) -> _Compiled:
        found = self._compiled.get(type(dialect))
        if found is None:
            found = self._compiled[type(dialect)] = _Compiled(self._core, dialect)
        return found


class _Compiled:
    """The SQL text in one dialect, and the order of its parameters."""

    __slots__ = ("_constants", "_names", "_order", "sql")

    def __init__(self, core: ClauseElement, dialect: Dialect) -> None:
        compiled: Any = core.compile(dialect=dialect)
        self.sql = str(compiled)
        self._names = tuple(compiled.binds)
        # Values that stand in the statement itself, such as the 1 of `max(number) + 1`.
        self._constants = {
            name: bind.value for name, bind in compiled.binds.items() if not bind.required
        }
        self._order = tuple(compiled.positiontup) if compiled.positional else None

    def parameters(self, values: Mapping[str, Any]) -> Any:
        given = {**self._constants, **values} if self._constants else values
        if self._order is not None:
            return [given[name] for name in self._order]
        return {name: given[name] for name in self._names}
