"""Files in messages, kept beside the database under the hash of their content.

A large `data:` URL would be read and written again with every row, checkpoint and page of its
message. So its content is kept once, in `attachments/<2 digits>/<sha256>`, and each row has a
reference; a reader gets the very same URL back. The file is on the disk before the row that refers
to it.

A table has the references of each chat, so that a deleted chat's files are found without reading
its messages. Where no file can be written (a full disk) the row in memory has the URL itself.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from sqlalchemy import bindparam, delete, exists, func, select

from .. import files
from ..database import Statement, Transaction
from ..messages.parts import FilePart, Message
from ..messages.ui import message_to_ui
from .log.record import decode, message_text, parsed
from .schema import attachments, attachments_gone

SMALLEST: Final = 8_192
"""Characters of the shortest URL that is kept in a file; a shorter URL costs less in its row."""
FOLDER: Final = "attachments"
_DATA: Final = "data:"
_TEXT: Final = "text/"
_BASE64: Final = ";base64"
_REFERENCE: Final = '"attachment":'
MISSING: Final = "[The attachment {} is not there any more.]"
HELD: Final = "[The attachment {} cannot be read now: another program holds its file.]"

_other = attachments.alias()
_OF_CHAT: Final = Statement(
    select(attachments.c.sha256).where(attachments.c.chat_id == bindparam("chat"))
)
_ONLY_OF_CHAT: Final = Statement(
    select(attachments.c.sha256).where(
        attachments.c.chat_id == bindparam("chat"),
        ~exists().where(
            _other.c.sha256 == attachments.c.sha256, _other.c.chat_id != bindparam("chat")
        ),
    )
)
_DELETE_OF_CHAT: Final = Statement(
    delete(attachments).where(attachments.c.chat_id == bindparam("chat"))
)
# The name of a file is made of it, so a damaged row names none.
_GONE: Final = Statement(
    select(attachments_gone.c.sha256).where(
        func.length(attachments_gone.c.sha256) == 64,
        attachments_gone.c.sha256.between("0", "g"),
        *(attachments_gone.c.sha256.not_like(f"%{mark}%") for mark in "/\\:."),
    )
)
_REFERENCE_TO: Final = Statement(
    select(attachments.c.chat_id).where(attachments.c.sha256 == bindparam("sha256")).limit(1)
)
_DELETE_GONE: Final = Statement(
    delete(attachments_gone).where(attachments_gone.c.sha256 == bindparam("gone"))
)


@dataclass(frozen=True, slots=True)
class Row:
    """The text of a row, and how long it is with its attachments, in characters."""

    text: str
    chars: int


def encode_row(transaction: Transaction, chat_id: str, message: Message) -> Row:
    """The text of a row, after its attachments were written. Raises InvalidRequest for a message
    that JSON cannot hold, OSError where a database in a file cannot keep an attachment."""
    body = message_to_ui(message)
    moved = 0
    if any(isinstance(part, FilePart) and _is_large(part.url) for part in message.parts):
        moved = _move_out(transaction, chat_id, body)
    text = message_text(body)
    return Row(text, len(text) + moved)


def decode_row(transaction: Transaction, text: str) -> tuple[Message, int]:
    """The message of a row, and its length with its attachments; a sentence replaces an attachment
    that is missing. Raises StoreError for a text that this code cannot have written."""
    if _REFERENCE not in text:
        return decode(text), len(text)
    body = parsed(text)
    parts = [_moved_in(transaction.folder, part) for part in body.get("parts", ())]
    moved = sum(len(part.get("url", "")) for part in parts if part.get("type") == "file")
    return decode(json.dumps({**body, "parts": parts})), len(text) + moved


def decode_searchable(transaction: Transaction, text: str) -> Message:
    """The message of a row with its texts: a file that is no text, and a file that cannot be read,
    is empty. Raises StoreError as `decode_row` does."""
    if _REFERENCE not in text:
        return decode(text)
    body = parsed(text)
    parts = [_with_text(transaction.folder, part) for part in body.get("parts", ())]
    return decode(json.dumps({**body, "parts": parts}))


def copy(transaction: Transaction, chat_id: str, target_id: str) -> None:
    """Copy this chat's references to `target_id`, which gets copies of its rows."""
    refer(
        transaction, target_id, [sha256 for (sha256,) in transaction.rows(_OF_CHAT, chat=chat_id)]
    )


def refer(transaction: Transaction, chat_id: str, contents: Iterable[str]) -> None:
    """Add references of the chat to files with these SHA-256."""
    rows = [{"chat_id": chat_id, "sha256": sha256} for sha256 in contents]
    transaction.insert_missing(attachments, rows)


def let_go(transaction: Transaction, chat_id: str) -> None:
    """Remove the chat's references; `remove_gone` then removes the files that no other chat refers
    to."""
    orphans = transaction.rows(_ONLY_OF_CHAT, chat=chat_id)
    transaction.insert_missing(attachments_gone, [{"sha256": sha256} for (sha256,) in orphans])
    transaction.run(_DELETE_OF_CHAT, chat=chat_id)


def remove_gone(transaction: Transaction) -> int:
    """Remove the files that no chat refers to; returns how many could not be removed. In a
    transaction that writes, so that no other process adds a reference meanwhile.

    A file that cannot be removed keeps its row, for the next call, and stops nothing else. Nothing
    waits for it here: other writes wait for this transaction.
    """
    left = 0
    for (sha256,) in transaction.rows(_GONE):
        if transaction.folder is not None and transaction.row(_REFERENCE_TO, sha256=sha256) is None:
            try:
                files.remove(_place(transaction.folder, sha256), pauses=())
            except OSError:
                left += 1
                continue
        transaction.run(_DELETE_GONE, gone=sha256)
    return left


def _is_large(url: str) -> bool:
    return len(url) > SMALLEST and url.startswith(_DATA) and "," in url


def _move_out(transaction: Transaction, chat_id: str, body: dict[str, Any]) -> int:
    """Replace the large URLs by references; returns how many characters were taken out."""
    folder, moved = transaction.folder, 0
    for part in body["parts"]:
        if part.get("type") != "file" or not _is_large(part["url"]) or folder is None:
            continue
        head, _, data = part["url"].partition(",")
        content = _content(head, data)
        plain = content is None
        content = data.encode("utf-8", "surrogatepass") if content is None else content
        sha256 = hashlib.sha256(content).hexdigest()
        try:
            _write(_place(folder, sha256), content)
        except OSError:
            if transaction.in_memory:
                continue
            raise
        refer(transaction, chat_id, [sha256])
        moved += len(part.pop("url"))
        part["attachment"] = {"sha256": sha256, "head": head, "plain": plain}
    return moved


def _moved_in(folder: Path | None, part: Mapping[str, Any]) -> dict[str, Any]:
    """The part with its URL."""
    if part.get("type") != "file" or "attachment" not in part:
        return dict(part)
    whole = {name: value for name, value in part.items() if name != "attachment"}
    kept = cast(Mapping[str, Any], part["attachment"])
    try:
        content = _read(folder, str(kept["sha256"]))
    except OSError as error:
        sentence = HELD if files.is_held(error) else MISSING
        name = part.get("filename") or part.get("mediaType") or ""
        return {"type": "text", "text": sentence.format(json.dumps(name, ensure_ascii=False))}
    plain = bool(kept["plain"])
    data = content.decode("utf-8", "surrogatepass") if plain else _base64(content)
    return {**whole, "url": f"{kept['head']},{data}"}


def _with_text(folder: Path | None, part: Mapping[str, Any]) -> dict[str, Any]:
    """The part with its URL if that has text, else with an empty URL."""
    if part.get("type") != "file" or "attachment" not in part:
        return dict(part)
    if str(part.get("mediaType")).startswith(_TEXT):
        whole = _moved_in(folder, part)
        if "url" in whole:
            return whole
    kept = {name: value for name, value in part.items() if name != "attachment"}
    return {**kept, "url": f"{_DATA},"}


def _content(head: str, data: str) -> bytes | None:
    """The bytes of base64 text; None where their base64 is not this text."""
    if not head.endswith(_BASE64):
        return None
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if _base64(content) == data else None


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _place(folder: Path, sha256: str) -> Path:
    return folder / FOLDER / sha256[:2] / sha256


def _write(path: Path, content: bytes) -> None:
    """Write the content to this path, durably, unless it is there."""
    with contextlib.suppress(OSError):
        if path.stat().st_size == len(content):
            return
    files.write(path, content)


def _read(folder: Path | None, sha256: str) -> bytes:
    """The content. Raises OSError where the file cannot be read, FileNotFoundError also where the
    SHA-256 of its content is another."""
    if folder is None or not sha256.isalnum():
        raise FileNotFoundError
    content = files.read(_place(folder, sha256))
    if hashlib.sha256(content).hexdigest() != sha256:
        raise FileNotFoundError
    return content
