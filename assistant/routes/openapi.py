"""The OpenAPI 3.1 document: the requests and the responses of this HTTP API.

Paths, request bodies and queries come from the routes and the models that check them; the YAML
files of `api/` hold the schemas of responses, events and messages. The document is made when a
client asks for it the first time.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from .. import __version__
from ..sessions.commands import CommandJson
from ..user_context.rules import Preference, Rule
from ..validation import SCHEMA_NAME, NoFields, adapter
from .commands import CommandBody
from .route import Route

Json = dict[str, Any]

FILES: Final = Path(__file__).parent / "api"
HEAD: Final = "document.yaml"
"""The head of the document. The other files have `components` and additions to `operations`."""
SCHEMAS: Final = "#/components/schemas/"
ANSWERED: Final = (Rule, Preference)
"""Dataclasses that responses show field by field."""
ERRORS: Final[Mapping[int, str]] = {
    400: "InvalidRequest",
    401: "Error",
    404: "NotFound",
    409: "Conflict",
    429: "TooMany",
    502: "ProviderFailed",
    503: "TooMany",
}
TAGS: Final[Mapping[str, str]] = {
    "turns": "chatting",
    "commands": "chatting",
    "subscribe": "chatting",
    "chats": "chats",
    "library": "chats",
    "export": "chats",
    "share": "chats",
    "workflows": "chats",
    "skills": "knowledge",
    "statements": "knowledge",
    "memories": "knowledge",
    "user_data": "knowledge",
}
"""The group of the routes in each module; the others are about the installation."""

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C, where this PyYAML has it, is ten times as fast."""
_VARIABLE: Final = re.compile(r"\{(\w+)\}")


def document(routes: Iterable[Route]) -> Json:
    """The whole document. Raises ValueError for a schema name that is defined twice."""
    whole = _read(FILES / HEAD)
    whole["info"]["version"] = __version__
    additions: Json = {}
    for file in sorted(FILES.glob("*.yaml")):
        if file.name == HEAD:
            continue
        group = _read(file)
        additions.update(group.get("operations", {}))
        for kind, named in group["components"].items():
            _join(whole["components"].setdefault(kind, {}), named)
    schemas = whole["components"]["schemas"]
    _join(schemas, {shape.__name__: _schema(shape, schemas) for shape in ANSWERED})
    paths: Json = {}
    for route in routes:
        operation = _operation(route, whole["components"])
        operation["parameters"] += additions.get(operation["operationId"], {}).get("parameters", ())
        paths.setdefault(f"/api{route.path}", {})[route.method.lower()] = operation
    return {**whole, "paths": paths}


def _operation(route: Route, components: Json) -> Json:
    summary, _, description = (inspect.getdoc(route.handler) or "").partition("\n\n")
    body, query = route.shapes
    variables = [_variable(name, route) for name in _VARIABLE.findall(route.path)]
    operation: Json = {
        "operationId": _camel(route.handler.__name__),
        "tags": [TAGS.get(route.handler.__module__.rpartition(".")[2], "installation")],
        "summary": summary.replace("\n", " "),
        "parameters": [*variables, *_query_parameters(query, components["schemas"])],
        "responses": {
            **{str(status): _answer(name, components) for status, name in route.answers.items()},
            **{
                str(status): {"$ref": f"#/components/responses/{ERRORS[status]}"}
                for status in (*((400,) if body or query or variables else ()), *route.errors)
            },
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if description:
        operation["description"] = description
    if body is not None:
        schema = _body_schema(body, components["schemas"])
        operation["requestBody"] = {
            "required": body is not NoFields,
            "content": {"application/json": {"schema": schema}},
        }
    if not route.token_needed:
        operation["security"] = [{}]
    return operation


def _answer(name: str, components: Json) -> Json:
    if name in components["responses"]:
        return {"$ref": f"#/components/responses/{name}"}
    description = components["schemas"][name].get("description", "The answer.")
    schema = {"$ref": SCHEMAS + name}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _variable(name: str, route: Route) -> Json:
    is_chat = name == "id" and route.path.startswith("/chat")
    schema = {"$ref": f"{SCHEMAS}ChatId"} if is_chat else {"type": "string"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(shape: Any, schemas: Json) -> list[Json]:
    if shape is None:
        return []
    whole = _schema(shape, schemas)
    found = []
    for name, schema in whole["properties"].items():
        # In a query string a parameter is missing rather than null.
        alternatives = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
        parameter = {"name": name, "in": "query", "required": name in whole.get("required", ())}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        found.append({**parameter, "schema": alternatives[0] if alternatives else schema})
    return found


def _body_schema(shape: Any, schemas: Json) -> Json:
    if shape is CommandBody:
        return _command_schema(schemas)
    return _schema(shape, schemas)


def _command_schema(schemas: Json) -> Json:
    """The schema `Command`: all commands, each with the fields that every command may bring."""
    shared = _schema(CommandBody, schemas)["properties"]
    command = _schema(CommandJson, schemas)
    for reference in command["discriminator"]["mapping"].values():
        schema = schemas[reference.removeprefix(SCHEMAS)]
        schema["properties"].update(shared)
        if "type" not in (required := schema.setdefault("required", [])):
            required.append("type")
    _join(schemas, {"Command": {"type": "object", **command}})
    return {"$ref": f"{SCHEMAS}Command"}


def _schema(shape: Any, schemas: Json) -> Json:
    """The JSON Schema of a shape; the schemas that it refers to are added to `schemas`."""
    schema: Json = _finished(adapter(shape).json_schema(ref_template=SCHEMAS + "{model}"))
    _join(schemas, schema.pop("$defs", {}))
    return schema


def _finished(value: Any) -> Any:
    """The schema with references to schemas written by hand, and without pydantic's titles and the
    default null of fields that may be missing."""
    if isinstance(value, dict):
        kept = {
            name: _finished(item)
            for name, item in value.items()
            if not (name == "title" and isinstance(item, str)) and (name, item) != ("default", None)
        }
        named = kept.pop(SCHEMA_NAME, None)
        return kept if named is None else {"$ref": SCHEMAS + named, **kept}
    return [_finished(item) for item in value] if isinstance(value, list) else value


def _read(file: Path) -> Json:
    content: Json = yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)
    return content


def _join(whole: Json, part: Json) -> None:
    for name, value in part.items():
        if whole.setdefault(name, value) != value:
            raise ValueError(f"{name} is defined twice")


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
