"""A whole chat as one value, and as text for a file: JSON, or JSON Lines (R39).

    trajectory    one JSON object: the chat, and every row of its log, branches included
    jsonl         a line for the chat, then a line for each message of the current path

Both have the time of each message (`created`, ISO 8601 in UTC), which an import keeps. `from_text`
also reads a shared chat (`share`).

A text that is read is checked and repaired. A file may come from anybody, so it grants nothing and
hides nothing (`messages.outside`): an approval in it is asked for again, a chat's allowed tools are
not part of it, a skill is what its message says, and events, which nobody sees, are left out. Pure;
`archive` reads chats from the store and adds them.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, cast, get_args

from ...errors import InvalidRequest
from ...messages.json_reading import check_values, loads
from ...messages.origin import is_event
from ...messages.outside import from_file
from ...messages.parts import Message
from ...messages.ui import LONGEST_ID, message_from_ui, message_to_ui
from .. import titles
from ..chat import TitleSource, WorkflowName
from ..log.record import canonical, parse_time, time_text
from .shared_text import from_shared

Format = Literal["trajectory", "jsonl"]
FileFormat = Literal["trajectory", "jsonl", "share"]
"""What an import reads."""
KIND: Final = "comfyui-assistant-trajectory"
VERSION: Final = 1
MOST_MESSAGES: Final = 100_000
"""Messages of one import, so that the writer is free again within seconds."""
REPLACEMENT: Final = "[key]"
ENCODINGS: Final = ("utf-8", "utf-16-le", "utf-16-be")
"""How files hold a text: tools of Windows write UTF-16, too."""
LONGEST_NAME: Final = 200
"""Characters of a workflow's id and name."""


@dataclass(frozen=True, slots=True)
class LogRow:
    """A message of the log; `parent` is the number of an earlier row, None at the beginning.
    `created` is when the message was added to the log; None where the file has no such time."""

    row: int
    parent: int | None
    message: Message
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A chat with its log. `head` is the row that ends the current path, None for an empty path;
    `id` and `created` are None where the file lacks them."""

    id: str | None
    title: str
    title_source: TitleSource
    created: datetime | None
    workflow: WorkflowName | None
    rows: tuple[LogRow, ...]
    head: int | None

    @property
    def path(self) -> tuple[Message, ...]:
        """The messages of the current path."""
        return tuple(one.message for one in self.path_rows)

    @property
    def path_rows(self) -> tuple[LogRow, ...]:
        """The rows of the current path."""
        held = {one.row: one for one in self.rows}
        found: list[LogRow] = []
        row = self.head
        while row is not None:
            found.append(held[row])
            row = held[row].parent
        return tuple(reversed(found))


def to_text(trajectory: Trajectory, form: Format) -> str:
    """The chat as text that `from_text` reads back equal; JSON Lines hold its current path only."""
    if form == "jsonl":
        lines = [
            canonical(_header(trajectory)),
            *(canonical(_with_time(message_to_ui(o.message), o)) for o in trajectory.path_rows),
        ]
        return "".join(f"{line}\n" for line in lines)
    # Row by row: encoding a long chat in one go would keep the interpreter for too long.
    rows = ",".join(
        canonical(_with_time({**_place(one), "message": message_to_ui(one.message)}, one))
        for one in trajectory.rows
    )
    none = '"messages":[]'
    before, _, after = canonical(
        {**_header(trajectory), "head": trajectory.head, "messages": []}
    ).partition(none)  # A text in the header cannot hold this: its quotes are escaped.
    return f"{before}{none[:-1]}{rows}]{after}\n"


def from_text(content: str, form: FileFormat) -> Trajectory:
    """The chat in a text of this form, repaired. Raises InvalidRequest with the place of the fault
    for a text that cannot be understood."""
    if form == "share":
        return _repaired(*from_shared(content), "message {}", 1)
    if form == "trajectory":
        body = _object(_parsed(content, "content"), "content")
        if body.get("type") != KIND or body.get("version") != VERSION:
            raise InvalidRequest(f"expected a {KIND} of version {VERSION}", where="content")
        entries = body.get("messages")
        if not isinstance(entries, list):
            raise InvalidRequest("expected a list", where="content.messages")
        return _repaired(body, entries, "content.messages[{}]")
    lines = [line for line in content.removeprefix("\ufeff").split("\n") if line.strip()]
    bodies = [_object(_parsed(line, f"line {n}"), f"line {n}") for n, line in enumerate(lines, 1)]
    header = bodies.pop(0) if bodies and bodies[0].get("type") == KIND else {}
    first = len(lines) - len(bodies) + 1
    entries = [{"message": body, "created": body.get("created")} for body in bodies]
    return _repaired(header, entries, "line {}", first)


def without(trajectory: Trajectory, secrets: frozenset[str]) -> Trajectory:
    """The chat with `[key]` in the place of these texts, wherever it holds them."""
    if not secrets:
        return trajectory
    rows = []
    for one in trajectory.rows:
        body = message_to_ui(one.message)
        kept = {name: _clean(body[name], secrets) for name in ("metadata", "parts") if name in body}
        same = all(body[name] == value for name, value in kept.items())
        rows.append(one if same else replace(one, message=message_from_ui({**body, **kept})))
    named = trajectory.workflow
    return replace(
        trajectory,
        rows=tuple(rows),
        title=_clean(trajectory.title, secrets),
        workflow=named and WorkflowName(_clean(named.id, secrets), _clean(named.name, secrets)),
    )


def json_without(text: str, secrets: frozenset[str]) -> str:
    """A text of JSON with `[key]` in the place of these texts, which it may hold with escapes."""
    escaped = {json.dumps(secret, ensure_ascii=False)[1:-1] for secret in secrets}
    for secret in sorted(secrets | escaped, key=len, reverse=True):
        text = text.replace(secret, REPLACEMENT)
    return text


def _clean(value: Any, secrets: frozenset[str]) -> Any:
    if isinstance(value, str):
        # The longest first: one key may be the beginning of another.
        longest_first = sorted(secrets, key=len, reverse=True)
        for secret in longest_first:
            value = value.replace(secret, REPLACEMENT)
        return _clean_file(value, longest_first) if value.startswith("data:") else value
    if isinstance(value, Mapping):
        return {_clean(key, secrets): _clean(item, secrets) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item, secrets) for item in value]
    return value


def _clean_file(url: str, secrets: Sequence[str]) -> str:
    """The `data:` URL with a mark in the place of these texts in the file's content."""
    head, _, body = url.partition(",")
    if not head.endswith(";base64"):
        return url
    try:
        content = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return url
    cleaned = without_bytes(content, secrets)
    if cleaned == content:
        return url
    return f"{head},{base64.b64encode(cleaned).decode('ascii')}"


def without_bytes(content: bytes, secrets: Iterable[str]) -> bytes:
    """The content of a file with `[key]` in the place of these texts."""
    # The longest first: one key may be the beginning of another.
    for secret in sorted(secrets, key=len, reverse=True):
        for encoding in ENCODINGS:
            mark = REPLACEMENT.encode(encoding)
            content = content.replace(secret.encode(encoding, "replace"), mark)
    return content


def _place(one: LogRow) -> dict[str, Any]:
    return {"row": one.row, "parent": one.parent}


def _with_time(body: dict[str, Any], one: LogRow) -> dict[str, Any]:
    return body if one.created is None else {**body, "created": time_text(one.created)}


def _header(trajectory: Trajectory) -> dict[str, Any]:
    workflow, created = trajectory.workflow, trajectory.created
    return {
        "type": KIND,
        "version": VERSION,
        "id": trajectory.id,
        "title": trajectory.title,
        "title_source": trajectory.title_source,
        "created": created and time_text(created),
        "workflow": workflow and {"id": workflow.id, "name": workflow.name},
    }


def _repaired(
    header: Mapping[str, Any], entries: list[Any], place: str, first: int = 0
) -> Trajectory:
    """The chat of a header and rows. A row without a parent that comes before it follows the row
    before; system messages, which no log holds, and events are left out; ids are made unique on
    each path."""
    if len(entries) > MOST_MESSAGES:
        raise InvalidRequest(f"expected at most {MOST_MESSAGES} messages", where="content")
    numbers: dict[Any, int | None] = {None: None}
    rows: list[LogRow] = []
    for index, entry in enumerate(entries, first):
        where = place.format(index)
        body = _object(entry, where)
        message = from_file(message_from_ui(body.get("message"), where))
        before = rows[-1].row if rows else None
        parent = body.get("parent", before if "row" not in body else None)
        known = _is_number(parent) and parent in numbers
        follows = numbers[parent] if parent is None or known else before
        left_out = message.role == "system" or is_event(message)
        row = follows if left_out else len(rows) + 1
        if not left_out:
            created = _time(body.get("created"))
            rows.append(LogRow(len(rows) + 1, follows, message, created))
        if _is_number(body.get("row")):
            numbers[body["row"]] = row
    head = header.get("head")
    ends = numbers.get(head) if _is_number(head) else None
    if "head" not in header or head is not None:
        # The path is empty only if the file has a `head` that is null.
        ends = ends or (len(rows) or None)
    return Trajectory(
        id=header["id"] if isinstance(header.get("id"), str) else None,
        title=_title(header, rows),
        title_source=_title_source(header),
        created=_time(header.get("created")),
        workflow=_workflow(header.get("workflow")),
        rows=tuple(_with_unique_ids(rows)),
        head=ends,
    )


def _with_unique_ids(rows: list[LogRow]) -> list[LogRow]:
    """The rows; a row with the id of a message before it on its path gets another id."""
    children: dict[int | None, list[int]] = {}
    for one in rows:
        children.setdefault(one.parent, []).append(one.row)
    ids = {one.row: one.message.id for one in rows}
    every = set(ids.values())
    on_path: set[str] = set()
    # Walks down and up each branch: a negative number means that its row leaves the path.
    steps = list(reversed(children.get(None, ())))
    while steps:
        row = steps.pop()
        if row < 0:
            on_path.remove(ids[-row])
            continue
        if ids[row] in on_path:
            ids[row] = _other_id(ids[row], row, every)
        on_path.add(ids[row])
        steps += [-row, *reversed(children.get(row, ()))]
    return [replace(one, message=replace(one.message, id=ids[one.row])) for one in rows]


def _other_id(identity: str, row: int, every: set[str]) -> str:
    end = f"-{row}"
    while (other := identity[: LONGEST_ID - len(end)] + end) in every:
        end += "-"
    every.add(other)
    return other


def _title(header: Mapping[str, Any], rows: list[LogRow]) -> str:
    title = header.get("title")
    if isinstance(title, str) and title.strip():
        return titles.clean_title(title)
    asked = (one.message for one in rows if one.message.role == "user")
    first = next(asked, None)
    return titles.title_for(first) if first else titles.NEW_CHAT


def _title_source(header: Mapping[str, Any]) -> TitleSource:
    found = header.get("title_source")
    return next((source for source in get_args(TitleSource) if source == found), "rule")


def _time(value: Any) -> datetime | None:
    try:
        moment = parse_time(value.replace("Z", "+00:00")) if isinstance(value, str) else None
        return moment if moment and time_text(moment) else None
    except (ValueError, OverflowError):
        return None


def _workflow(value: Any) -> WorkflowName | None:
    if not isinstance(value, Mapping):
        return None
    identity, name = value.get("id"), value.get("name")
    if not isinstance(identity, str) or not isinstance(name, str) or not name:
        return None
    return WorkflowName(identity[:LONGEST_NAME], name[:LONGEST_NAME])


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _parsed(text: str, where: str) -> Any:
    check_values(text)
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is beyond our limits"
        raise InvalidRequest(f"expected JSON: {reason}", where=where) from None


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequest("expected a JSON object", where=where)
    return cast(dict[str, Any], value)
