"""Text files that are read once and again only after they changed (R9).

A file is looked at (one `stat`) at each use and read when its modification time, size or inode
differ from the last time. Files that are missing, unreadable or huge are the same to all callers:
there is nothing to load, and that is never an error.
"""

from __future__ import annotations

import logging
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

log = logging.getLogger("comfyui_assistant")

Value = TypeVar("Value")

MAX_SOURCE_BYTES = 1_000_000
"""A context file of a megabyte is a mistake: it could never be sent."""
MAX_SOURCES = 1_000
"""Files remembered at most; beyond it the memory starts anew."""


@dataclass(frozen=True, slots=True)
class _Source:
    signature: tuple[int, int, int]
    value: Any


class SourceCache:
    """Parsed text files by path, shared by threads."""

    def __init__(self) -> None:
        self._sources: dict[tuple[Path, Callable[[str], Any]], _Source] = {}
        self._lock = threading.Lock()

    def read(self, path: Path, parse: Callable[[str], Value]) -> Value | None:
        """`parse` of the file's text, or None without such a file.

        Text is UTF-8 (a byte-order mark is dropped, what is not UTF-8 becomes U+FFFD) with `\\n`
        line ends, so that the same text gives the same bytes on every system. `parse` must be a
        module's function, pure, and raise nothing.
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
        value = _read(path, status.st_mode, status.st_size, parse)
        with self._lock:
            if len(self._sources) >= MAX_SOURCES:
                self._sources.clear()
            self._sources[key] = _Source(signature, value)
        return value


def normalized(text: str) -> str:
    """`text` with `\\n` line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(path: Path, mode: int, size: int, parse: Callable[[str], Value]) -> Value | None:
    if not stat.S_ISREG(mode):
        return None
    if size > MAX_SOURCE_BYTES:
        log.warning("%s is over %d bytes and is not used.", ascii(path.name), MAX_SOURCE_BYTES)
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        log.warning("%s could not be read: %s", ascii(path.name), ascii(str(error.strerror)))
        return None
    return parse(normalized(content.decode("utf-8-sig", errors="replace")))
