"""JSON from clients, checked by pydantic: typed values, or an InvalidRequest that names the field.

A shape is a pydantic model, or a union of models and dataclasses that differ in one field. Its
fields are the check and the OpenAPI document's description at once. No value is coerced: "1" is no
number.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Strict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from .errors import InvalidRequest

LONGEST_SHOWN: Final = 80
"""Characters of a client's own field name that an error repeats."""
SCHEMA_NAME: Final = "x-schema"
"""Stands for a `$ref` until the OpenAPI document is put together: pydantic resolves `$ref` itself,
and does not have the schemas that are written by hand."""

NOT_GIVEN: Any = None
"""Default of a field of `Changes`; a client cannot send null for it."""

Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]

_KINDS: Final[Mapping[type, str]] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}
_EXPECTED: Final[Mapping[str, str]] = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dataclass_type": "an object",
}
"""The expected kind of value, for each of pydantic's type errors."""
_UNKNOWN: Final = ("extra_forbidden", "unexpected_keyword_argument")
"""pydantic's error types for an unknown field, of a model and of a dataclass."""


class Body(BaseModel):
    """A JSON object; a field that the model does not have is refused.

    pydantic builds a model's check when the model is first used, so that ComfyUI's start does not
    wait for it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class OpenBody(BaseModel):
    """A JSON object whose other fields are passed over."""

    model_config = ConfigDict(
        frozen=True, defer_build=True, json_schema_extra={"additionalProperties": True}
    )


class Changes(Body):
    """The fields that a PATCH changes: at least one field, and no field null.

    `changes` has the fields that were given; the others stay as they are.
    """

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _not_empty(self) -> Changes:
        if not self.model_fields_set:
            names = ", ".join(type(self).model_fields)
            raise PydanticCustomError("no_change", f"expected at least one of {names}")
        return self

    @property
    def changes(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class NoFields(Body):
    """The body of routes that take no fields: it is empty, or `{}`."""


class Query(BaseModel):
    """A query string; parameters that the model does not have are passed over."""

    model_config = ConfigDict(frozen=True, defer_build=True)


def _flag(value: object) -> object:
    """A flag of a query string."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


QueryFlag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]
"""`true` or `false` in a query string."""


def schema_named(name: str, *, null: bool = False) -> WithJsonSchema:
    """The field is described by a schema that is written by hand, in `routes/api`."""
    schema: dict[str, Any] = {SCHEMA_NAME: name}
    return WithJsonSchema({"anyOf": [schema, {"type": "null"}]} if null else schema)


def described_length(most: int, least: int = 1) -> WithJsonSchema:
    """Describes the length of a text, in characters, where the store or library checks it."""
    return WithJsonSchema({"type": "string", "minLength": least, "maxLength": most})


@cache
def adapter(shape: Any) -> TypeAdapter[Any]:
    """pydantic's check of this shape; cached, since building it takes milliseconds."""
    if isinstance(shape, type):
        return TypeAdapter(shape)
    return TypeAdapter(shape, config=ConfigDict(extra="forbid"))


def parsed(shape: Any, value: Any) -> Any:
    """`value` in this shape. Raises InvalidRequest that names the wrong field and the value that
    was expected there.

    An unknown field is named before other faults, since an unknown field is mostly a misspelt
    field.
    """
    try:
        return adapter(shape).validate_python(value)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        unknown = (fault for fault in faults if fault["type"] in _UNKNOWN)
        raise _refusal(shape, next(unknown, faults[0])) from None


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    return _KINDS.get(type(value), type(value).__name__)


def _refusal(shape: Any, fault: ErrorDetails) -> InvalidRequest:
    place = fault["loc"][1:] if _is_union(shape) else fault["loc"]
    names: list[str] = []
    for name in place:
        if not isinstance(name, str):
            break  # The field is named, not the place in its list.
        names.append(name[:LONGEST_SHOWN])
    context = fault.get("ctx", {})
    if fault["type"].startswith("union_tag"):
        names = [*names, context["discriminator"].strip("'")]
    if fault["type"] in _UNKNOWN and len(place) == 1 and not _is_union(shape):
        known = f"one of {fields}" if (fields := _fields(shape)) else "no fields"
        return InvalidRequest(f"unknown field; expected {known}", where=".".join(names))
    return InvalidRequest(_sentence(fault, context), where=".".join(names) or "body")


def _sentence(fault: ErrorDetails, context: Mapping[str, Any]) -> str:
    kind, given = fault["type"], fault["input"]
    if expected := _EXPECTED.get(kind):
        return f"expected {expected}, got {kind_of(given)}"
    match kind:
        case "value_error":
            return str(context["error"])
        case "missing":
            return "expected a value, got nothing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            return "there is no such field here"
        case "literal_error":
            return f"expected {context['expected']}"
        case "union_tag_invalid" | "union_tag_not_found":
            return f"expected one of {context.get('expected_tags', 'the known types')}"
        case "string_too_short" | "too_short":
            return f"expected a length of at least {context['min_length']}"
        case "string_too_long":
            return f"expected at most {context['max_length']:,} characters, got {len(given)}"
        case "string_pattern_mismatch":
            return "expected other characters than these"
        case "greater_than_equal":
            return f"expected at least {context['ge']}"
        case "less_than_equal":
            return f"expected at most {context['le']}"
        case _:
            return fault["msg"]


def _is_union(shape: Any) -> bool:
    """Whether the first step of a fault's place is the tag of an alternative."""
    return not isinstance(shape, type)


def _fields(shape: Any) -> str:
    return ", ".join(shape.model_fields) if issubclass(shape, BaseModel) else ""
