"""A conversation's lock that counts how often the event loop's thread takes it: there all of
ComfyUI waits as long as another thread plans."""

from __future__ import annotations

import threading


class WatchedLock:
    """For the event loop in whose thread it is made."""

    def __init__(self) -> None:
        self.taken_in_loop = 0
        self._loop_thread = threading.get_ident()
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self.taken_in_loop += threading.get_ident() == self._loop_thread
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
