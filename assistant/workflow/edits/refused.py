"""Why a batch of edits is refused."""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

Code = Literal[
    "bad_operation",
    "unknown_node",
    "unknown_type",
    "unknown_slot",
    "unknown_widget",
    "wrong_type",
    "not_a_choice",
    "out_of_range",
    "cycle",
    "driven",
    "name_taken",
    "not_possible",
]
CODES: Final[tuple[Code, ...]] = get_args(Code)
"""`bad_operation`: the form is wrong. `driven`: the widget's value comes from elsewhere, and cannot
be set there without changing another. `not_possible`: what the operation asks for is not there."""


class EditRefused(Exception):
    """A batch that would be wrong; nothing was changed.

    `operation` is the number of the operation in the batch, from 0; 0 also where the batch itself
    is wrong. `message` says what was wrong, and the right form or the nearest right name.
    """

    def __init__(self, code: Code, message: str, operation: int = 0) -> None:
        super().__init__(message)
        self.operation = operation
        self.code = code
        self.message = message

    def json(self) -> dict[str, Any]:
        """The error for the command line and for clients: `{"operation", "code", "message"}`."""
        return {"operation": self.operation, "code": self.code, "message": self.message}
