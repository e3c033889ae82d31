"""Checks requests and responses against the OpenAPI document.

    api = Described(document(ROUTES))
    async with api.checking(client) as checked:
        await checked.call("POST", "/api/chats", {"id": "c"})

A call asserts that the document describes its body and its response. Objects are closed here: a
field that the document does not name is a fault, although clients have to pass over unknown fields.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import aiohttp
from jsonschema import Draft202012Validator, FormatChecker

METHODS = ("get", "post", "put", "patch", "delete")
EXPLICIT = (400, 404, 409)
"""Errors that a route must describe by itself, instead of by `default`."""

Json = Any


class Described:
    def __init__(self, document: Mapping[str, Json]) -> None:
        self.document = document
        self._closed = _closed(copy.deepcopy(dict(document)))
        self._formats = FormatChecker(formats=())
        self._formats.checks("date-time", ValueError)(_is_time)

    def operations(self) -> Iterator[tuple[str, str, Mapping[str, Json]]]:
        """Method, path and operation."""
        for path, item in self.document["paths"].items():
            for method in METHODS:
                if method in item:
                    yield method.upper(), path, item[method]

    def resolve(self, value: Json) -> Json:
        """The target of a reference; a value that is no reference as it is."""
        while isinstance(value, Mapping) and "$ref" in value:
            found: Json = self._closed
            for name in value["$ref"].removeprefix("#/").split("/"):
                found = found[name.replace("~1", "/").replace("~0", "~")]
            value = found
        return value

    def operation(self, method: str, path: str) -> tuple[str, Mapping[str, Json]]:
        """The path's pattern and the operation; a pattern without variables goes first."""
        for pattern in sorted(self._closed["paths"], key=lambda one: one.count("{")):
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path):
                item = self._closed["paths"][pattern]
                assert method.lower() in item, f"{method} {pattern} is not described"
                return pattern, item[method.lower()]
        raise AssertionError(f"{path} is not described")

    def check(self, value: Json, schema: Json) -> None:
        """Raises AssertionError, with the places, for a value that the schema does not allow."""
        whole = {"$ref": "#/here", "here": schema, "components": self._closed["components"]}
        checker = Draft202012Validator(whole, format_checker=self._formats)
        faults = [
            f"{error.json_path}: {leaf.json_path}: {leaf.message}"
            for error in checker.iter_errors(value)
            for leaf in [_deepest(error)]
        ]
        assert not faults, "\n".join(faults)

    def allows(self, value: Json, schema: Json) -> bool:
        try:
            self.check(value, schema)
        except AssertionError:
            return False
        return True

    @asynccontextmanager
    async def checking(self, client: Any) -> AsyncIterator[Checked]:
        yield Checked(self, client)


@dataclass
class Checked:
    """A client that checks every response against the document. `seen` holds the method, pattern
    and status of each response."""

    api: Described
    client: Any
    seen: set[tuple[str, str, int]] = field(default_factory=set)
    status: int = 0
    """Status of the last response."""

    async def call(self, method: str, path: str, body: Json = None, **more: Any) -> Json:
        """The response's JSON, text, or the data of its events."""
        given = {} if body is None else {"json": body}
        async with self.client.request(method, path, **given, **more) as response:
            schema, media = self.described(method, path, response, body)
            content = await response.read()
        if schema is None:
            assert content == b""
            return None
        if media == "text/event-stream":
            events = events_of(content.decode())
            for event in events:
                self.api.check(event, schema)
            return events
        is_json, binary = media == "application/json", media == "application/zip"
        value = json.loads(content) if is_json else content.decode("latin-1" if binary else "utf-8")
        self.api.check(value, schema)
        return value

    def described(
        self, method: str, path: str, response: aiohttp.ClientResponse, body: Json = None
    ) -> tuple[Json, str]:
        """The schema and the media type of a response; the schema is None for an empty response."""
        pattern, operation = self.api.operation(method, path.partition("?")[0])
        status, responses = response.status, operation["responses"]
        where = f"{method} {pattern} {status}"
        if status < 400 or status in EXPLICIT:
            assert str(status) in responses, f"{where} is not described"
        described = self.api.resolve(responses.get(str(status), responses["default"]))
        self.seen.add((method, pattern, status))
        self.status = status
        if status < 400 and body is not None:
            wanted = operation["requestBody"]["content"]["application/json"]["schema"]
            self.api.check(body, wanted)
        if "content" not in described:
            return None, ""
        assert response.content_type in described["content"], f"{where}: {response.content_type}"
        return described["content"][response.content_type]["schema"], response.content_type

    def missed(self) -> list[str]:
        """The successful responses of the document that no call got."""
        return [
            f"{method} {path} {status}"
            for method, path, operation in self.api.operations()
            for status in operation["responses"]
            if status.startswith("2") and (method, path, int(status)) not in self.seen
        ]


class Reader:
    """Reads an event stream in the background, until it is closed."""

    def __init__(self, checked: Checked, path: str, schema: str) -> None:
        self.events: list[Json] = []
        self._checked, self._path = checked, path
        self._schema = {"$ref": f"#/components/schemas/{schema}"}
        self._news = asyncio.Event()
        self._task = asyncio.ensure_future(self._read())

    async def event(self, found: Callable[[Json], bool]) -> Json:
        """The newest event of this kind, when there is one."""
        while not (events := [event for event in self.events if found(event)]):
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 10)
        return events[-1]

    async def begun(self) -> None:
        await self.event(lambda event: True)

    def types(self) -> set[str]:
        return {event["type"] for event in self.events}

    async def close(self) -> None:
        self._task.cancel()
        result = await asyncio.gather(self._task, return_exceptions=True)
        for error in result:
            if isinstance(error, Exception):
                raise error

    async def _read(self) -> None:
        async with self._checked.client.get(self._path) as response:
            self._checked.described("GET", self._path, response)
            async for line in response.content:
                for event in events_of(line.decode()):
                    self._checked.api.check(event, self._schema)
                    self.events.append(event)
                    self._news.set()


def events_of(text: str) -> list[Json]:
    """The data of server-sent events, without the `[DONE]` at their end."""
    lines = (line[6:] for line in text.split("\n") if line.startswith("data: "))
    return [json.loads(line) for line in lines if line != "[DONE]"]


def references(value: Json) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "$ref" in value:
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def _closed(value: Json) -> Json:
    """The document with all objects closed that do not say that they are open."""
    if isinstance(value, dict):
        for item in value.values():
            _closed(item)
        if isinstance(value.get("properties"), dict) and value.get("type") in (
            "object",
            ["object", "null"],
        ):
            value.setdefault("additionalProperties", False)
    elif isinstance(value, list):
        for item in value:
            _closed(item)
    return value


def _deepest(error: Any) -> Any:
    """The fault of the alternative that matches the value best."""
    while error.context:
        error = max(error.context, key=lambda one: (len(one.path), -len(one.schema_path)))
    return error


def _is_time(value: Json) -> bool:
    return isinstance(value, str) and bool(datetime.fromisoformat(value.replace("Z", "+00:00")))
