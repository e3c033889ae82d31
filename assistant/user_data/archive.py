"""All data of one user as one zip, which is made while it is sent (R62).

    README.md                   what lies where
    chats/00001-A-fox.json      each chat with all branches, as an import takes it
    chats/00001-A-fox.md        the same to read
    attachments/<sha256>.png    what was attached
    skills/<slug>/SKILL.md      the user's own skills
    SOUL.md  goals.md           what the user wrote
    rules.json  preferences.json
    memories.jsonl              what was remembered, as an import of memories takes it

One chat at a time is in memory, and a piece of one file. No key that the assistant knows is in the
archive. What cannot be read is named in `NOT-EXPORTED.txt` and keeps nothing else out.
"""

from __future__ import annotations

import asyncio
import io
import json
import time
import zipfile
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from ..chats import ChatStore, ChatSummary
from ..chats.attachments import FOLDER as ATTACHMENTS
from ..chats.export.archive import Archive
from ..chats.export.file_names import safe_title
from ..chats.export.markdown import to_markdown
from ..chats.export.trajectory import ENCODINGS, json_without, to_text, without, without_bytes
from ..errors import AssistantError, NotFound
from ..files import NOT_IN_NAMES, patiently, reason_of
from ..memory.memory import memory_lines
from ..memory.store import MemoryStore
from ..user_context.rules import UserContextStore
from .usage import NARRATIVES, SKILLS, files_below

Result = TypeVar("Result")
PIECE: Final = 256 * 1024
"""Bytes of a file that are read at a time."""
ENOUGH: Final = 64 * 1024
"""Bytes of the archive that are handed over at once, if there are as many."""
EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The first time that an entry of a zip can have."""
ENDINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"RIFF", ".webp"),
    (b"%PDF-", ".pdf"),
)
"""How the contents of files begin, and the endings of their names."""
README: Final = """\
# Your data in the ComfyUI Assistant

- `chats/`: each chat twice. The `.json` file has everything, also what was answered before you
  asked again; *Chats, More, Import a chat* brings it back. The `.md` file is for reading.
- `attachments/`: the pictures and files of the chats, by the hash of their content. The `.json`
  files of the chats have them, too.
- `skills/`, `SOUL.md`, `goals.md`: what you wrote. Copied into your folder, they work again.
- `rules.json`, `preferences.json`: your rules and preferences.
- `memories.jsonl`: what was remembered from your chats, one memory a line.

Providers and their keys are not part of it, nor is any key that the assistant knows.
"""


class _Sink(io.RawIOBase):
    """Takes what the zip's writer writes, until `taken` hands it over."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self.waiting = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        piece = bytes(content)
        self._pieces.append(piece)
        self.waiting += len(piece)
        return len(piece)

    def taken(self) -> bytes:
        content = b"".join(self._pieces)
        self._pieces, self.waiting = [], 0
        return content


class UserArchive:
    """The data of one user. For one event loop. One archive is made at a time: another one waits,
    so that one chat at most is in memory."""

    def __init__(
        self,
        folder: Path,
        chats: ChatStore,
        archive: Archive,
        user_context: UserContextStore,
        memories: MemoryStore,
    ) -> None:
        self._folder = folder
        self._chats = chats
        self._archive = archive
        self._user_context = user_context
        self._memories = memories
        self._turn = asyncio.Semaphore(1)

    async def pieces(self, secrets: frozenset[str]) -> AsyncGenerator[bytes, None]:
        """The bytes of the archive, without these texts. Raises StoreError when nothing can be
        read."""
        async with self._turn:
            sink = _Sink()
            # The writer sees that it cannot go back in such a file, and does not try.
            with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
                # Closed before the archive: a reader may leave in the middle of an entry.
                async with aclosing(self._entries(archive, secrets)) as entries:
                    async for _ in entries:
                        if sink.waiting >= ENOUGH:
                            yield sink.taken()
            yield sink.taken()

    async def _entries(
        self, archive: zipfile.ZipFile, secrets: frozenset[str]
    ) -> AsyncGenerator[None, None]:
        """Writes the entries; after each step something may be handed over."""
        missing: list[str] = []
        _write(archive, "README.md", README)
        for name, rows in (await self._statements()).items():
            text = json.dumps(rows, ensure_ascii=False, indent=1)
            _write(archive, name, json_without(text, secrets))
        lines = memory_lines(await self._memories.all())
        _write(archive, "memories.jsonl", json_without(lines, secrets))
        for number, chat in enumerate(await self._chats.every(), 1):
            try:
                await self._add_chat(archive, number, chat, secrets)
            except NotFound:
                continue  # Deleted meanwhile.
            except AssistantError as error:
                missing.append(f"chat {chat.id} ({chat.title}): {error.message}")
            yield
        for path, name in await asyncio.to_thread(list, self._files()):
            try:
                with closing(_file_steps(archive, path, name, secrets)) as steps:
                    while await _in_thread(partial(next, steps, None)) is not None:
                        yield
            except OSError as error:
                missing.append(f"{name}: {reason_of(error)}")
        if missing:
            told = "\n".join(missing) + "\n"
            _write(
                archive, "NOT-EXPORTED.txt", without_bytes(told.encode("utf-8", "replace"), secrets)
            )

    async def _statements(self) -> dict[str, list[dict[str, Any]]]:
        kept = await self._user_context.read()
        return {
            "rules.json": [asdict(rule) for rule in kept.rules],
            "preferences.json": [asdict(preference) for preference in kept.preferences],
        }

    async def _add_chat(
        self, archive: zipfile.ZipFile, number: int, chat: ChatSummary, secrets: frozenset[str]
    ) -> None:
        stored = await self._archive.read(chat.id)

        def add() -> None:
            whole = without(stored, secrets)
            name = f"chats/{number:05}-{safe_title(whole.title) or 'chat'}"
            _write(archive, f"{name}.json", to_text(whole, "trajectory"))
            _write(archive, f"{name}.md", to_markdown(whole))

        await _in_thread(add)

    def _files(self) -> Iterator[tuple[Path, str]]:
        """The files to add, and their names in the archive."""
        for name in NARRATIVES:
            if (self._folder / name).is_file():
                yield self._folder / name, name
        for folder in (SKILLS, ATTACHMENTS):
            for path in files_below(self._folder / folder):
                below = path.relative_to(self._folder / folder)
                if any(part.startswith(".") for part in below.parts):
                    continue  # Not complete yet, or being removed.
                name = below.name if folder == ATTACHMENTS else below.as_posix()
                yield path, f"{folder}/{NOT_IN_NAMES.sub('_', name)}"


async def _in_thread(write: Callable[[], Result]) -> Result:
    """What a thread made of it. A cancelled caller waits for its end, too: nothing can be closed
    while the thread writes in it."""
    writing = asyncio.ensure_future(asyncio.to_thread(write))
    try:
        return await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        raise


def _write(archive: zipfile.ZipFile, name: str, content: str | bytes) -> None:
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    archive.writestr(_entry(name), data)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, max(time.localtime()[:6], EARLIEST))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _file_steps(
    archive: zipfile.ZipFile, path: Path, name: str, secrets: frozenset[str]
) -> Generator[bool, None, None]:
    """Add a file piece by piece. Raises OSError: the file is in the archive as far as it was
    read."""
    with patiently(lambda: path.open("rb")) as file:
        piece = file.read(PIECE)
        if name.startswith(f"{ATTACHMENTS}/"):
            name += _ending(piece)
        # A secret that lies across the end of a piece is found with the next piece.
        encoded = (one.encode(encoding, "replace") for one in secrets for encoding in ENCODINGS)
        overlap = max(map(len, encoded), default=1) - 1
        with archive.open(_entry(name), "w", force_zip64=True) as target:
            while following := file.read(PIECE):
                whole = without_bytes(piece, secrets)
                kept = len(whole) - overlap
                target.write(whole[:kept])
                piece = whole[kept:] + following
                yield True
            target.write(without_bytes(piece, secrets))
    yield True


def _ending(content: bytes) -> str:
    """The ending of a file's name, by how the file begins."""
    for begin, ending in ENDINGS:
        if content.startswith(begin):
            return ending
    return ".bin" if b"\0" in content else ".txt"
