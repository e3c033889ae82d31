"""The arguments of a tool as data: a JSON schema, and the function that checks JSON against it."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import ToolError


@dataclass(frozen=True, slots=True)
class Parameters:
    """`parse` gets the arguments as JSON values, returns what the tool's `run` takes, and raises
    ToolError naming each wrong field. Schema and function may come from a pydantic model
    (`parameters_for`) or from anywhere else, such as another server's description of its tool."""

    schema: Mapping[str, Any]
    parse: Callable[[Any], Any]


class Arguments(BaseModel):
    """Arguments as a pydantic model. A field that the model does not have is an error."""

    model_config = ConfigDict(extra="forbid")


class NoArguments(Arguments):
    pass


def parameters_of(model: type[Arguments]) -> Parameters:
    """Schema and parse of a pydantic model."""
    schema = _shortened(model.model_json_schema())
    schema.pop("description", None)
    schema.setdefault("properties", {})

    def parse(value: Any) -> Arguments:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()
            )
            raise ToolError(wrong) from None

    return Parameters(schema, parse)


def parameters_for(run: Callable[..., Any]) -> Parameters:
    """The parameters that the annotation of `run`'s first argument names; none where it names no
    model of arguments."""
    first = next(iter(inspect.signature(run).parameters))
    model = typing.get_type_hints(run).get(first)
    if isinstance(model, type) and issubclass(model, Arguments):
        return parameters_of(model)
    return NO_PARAMETERS


def _shortened(schema: Any) -> Any:
    """The schema without what costs tokens and says little: pydantic's titles, empty defaults, null
    beside the type of an argument that may be missing, and that other arguments are refused, which
    the refusal itself says."""
    if isinstance(schema, dict):
        kept = {
            name: _shortened(value)
            for name, value in schema.items()
            if not (name == "title" and isinstance(value, str))
            and not (name == "default" and value in (None, "", []))
            and not (name == "additionalProperties" and value is False)
        }
        if "default" in schema and schema["default"] is None and len(kept.get("anyOf", ())) == 2:
            [*types] = (one for one in kept.pop("anyOf") if one != {"type": "null"})
            return {**types[0], **kept}
        return kept
    return [_shortened(item) for item in schema] if isinstance(schema, list) else schema


NO_PARAMETERS = parameters_of(NoArguments)
OF_RUN = Parameters(NO_PARAMETERS.schema, NO_PARAMETERS.parse)
"""Stands for the parameters that the tool's `run` names in its annotation."""
