"""A cache of parsed text files, which are read again only after they changed (R9).

Each use makes one `stat`; the file is read if its modification time, size or inode differ from the
last time. A missing, unreadable or huge file gives None and is never an error. A file that another
program holds is read at the next use.
"""

from __future__ import annotations

import logging
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from .. import files
from ..messages.file_text import file_text, not_decoded

log = logging.getLogger("comfyui_assistant")

Value = TypeVar("Value")

MAX_SOURCE_BYTES = 1_000_000
"""Larger files are not read: their text would fit no model's window."""
MAX_SOURCES = 1_000
"""Files in the cache at most; then the cache is cleared."""


@dataclass(frozen=True, slots=True)
class _Source:
    signature: tuple[int, int, int]
    value: Any


class SourceCache:
    """Parsed text files by path, shared by threads."""

    def __init__(self) -> None:
        self._sources: dict[tuple[Path, Callable[[str], Any]], _Source] = {}
        # Files that could not be read: nobody waits for them again.
        self._unreadable: set[Path] = set()
        self._lock = threading.Lock()

    def read(self, path: Path, parse: Callable[[str], Value]) -> Value | None:
        """`parse` of the file's text, or None without such a file.

        The text is decoded by `file_text` and has `\\n` line ends, so that the same text gives the
        same bytes on every system. `parse` is part of the cache's key: a pure module-level function
        that raises nothing.
        """
        key = (path, parse)
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        signature = (status.st_mtime_ns, status.st_size, status.st_ino)
        with self._lock:
            known = self._sources.get(key)
        if known is not None and known.signature == signature:
            return cast(Value, known.value)
        text = self._text(path, status.st_mode, status.st_size)
        if isinstance(text, OSError):
            return None
        value = None if text is None else parse(text)
        with self._lock:
            if len(self._sources) >= MAX_SOURCES:
                self._sources.clear()
            self._sources[key] = _Source(signature, value)
        return value

    def _text(self, path: Path, mode: int, size: int) -> str | OSError | None:
        """The file's text; None for a file that is no source, an error for a file that may be one
        at the next use."""
        if not stat.S_ISREG(mode):
            return None
        if size > MAX_SOURCE_BYTES:
            log.warning("%s is over %d bytes and is not used.", ascii(path.name), MAX_SOURCE_BYTES)
            return None
        known = path in self._unreadable
        try:
            content = files.read(path, pauses=() if known else files.BRIEF_PAUSES)
        except OSError as error:
            if not known:
                reason = ascii(files.reason_of(error))[1:-1]
                log.warning("%s could not be read: %s.", ascii(path.name), reason)
                self._unreadable.add(path)
            return error
        self._unreadable.discard(path)
        text = file_text(content)
        if not_decoded(content, text):
            log.warning(
                "%s is neither UTF-8 nor Windows-1252, and parts of it are lost. Save it as UTF-8.",
                ascii(str(path)),
            )
        return normalized(text)


def normalized(text: str) -> str:
    """`text` with `\\n` line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
