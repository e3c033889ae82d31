"""The identity of this machine, for leases: whether a process id in a row is one of this machine's.

A host name is no identity: on macOS it changes with the network. The operating system has an id
that stays: Linux in `/etc/machine-id`, Windows in its registry, macOS in its kernel. Only a hash of
it is used, since the id itself is nobody else's business. A system without such an id gets a random
id, stored for the system's user. It is not stored beside the database: that folder may be copied to
another machine, or shared with one, and two machines with one id would take each other's running
processes for ended ones.

In a container process ids are the container's own, and several containers may have the id of one
image. So the container's host name, which stays the same when it is restarted, counts there too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
import uuid
from functools import cache
from pathlib import Path
from typing import Final

LINUX_FILES: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
PROCESS_IDS: Final = Path("/proc/self/ns/pid")
"""A link that names the namespace of this process's ids."""
OUTERMOST: Final = "pid:[4026531836]"
"""The namespace of a Linux system itself, as against a container's (`PROC_PID_INIT_INO`)."""
FILE_NAME: Final = "machine-id"
SALT: Final = "comfyui-assistant:"
ID_DIGITS: Final = 32


@cache
def machine_id() -> str:
    """The same text on each call on this machine, also after a restart; the host name where there
    is no place for anything better. May read and write a file, once."""
    found = _from_system() or _stored(_folder())
    if found is None:
        return platform.node()
    if _in_container():
        found += platform.node()
    return hashlib.sha256(f"{SALT}{found}".encode()).hexdigest()[:ID_DIGITS]


def _from_system() -> str | None:
    if sys.platform == "win32":
        return _from_registry()
    if sys.platform == "darwin":
        return _from_kernel()
    for path in LINUX_FILES:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if found := path.read_text(encoding="ascii").strip():
                return found
    return None


def _from_registry() -> str | None:
    """The id that Windows made when it was installed."""
    if sys.platform == "win32":
        import winreg

        with contextlib.suppress(OSError):
            access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
            place = r"SOFTWARE\Microsoft\Cryptography"
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place, 0, access) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0]) or None
    return None


def _from_kernel() -> str | None:
    """The id that macOS has of its hardware (`gethostuuid`)."""
    import ctypes

    class _Wait(ctypes.Structure):
        _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))

    found, wait = ctypes.create_string_buffer(16), _Wait(1, 0)
    try:
        failed = ctypes.CDLL(None).gethostuuid(found, ctypes.byref(wait))
    except (OSError, AttributeError):
        return None
    return None if failed else found.raw.hex()


def _in_container() -> bool:
    try:
        return os.readlink(PROCESS_IDS) != OUTERMOST
    except OSError:
        return False


def _folder() -> Path | None:
    """Where programs keep what belongs to this machine and its user, outside synchronised
    folders."""
    try:
        if sys.platform == "win32":
            return Path(os.environ["LOCALAPPDATA"]) / "comfyui-assistant"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "comfyui-assistant"
        state = os.environ.get("XDG_STATE_HOME")
        return (Path(state) if state else Path.home() / ".local" / "state") / "comfyui-assistant"
    except (KeyError, RuntimeError):
        return None


def _stored(folder: Path | None) -> str | None:
    """The random id in this folder, made if it is not there; None where that is not possible."""
    if folder is None:
        return None
    path = folder / FILE_NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), path.open("x", encoding="ascii") as file:
            file.write(uuid.uuid4().hex)
        return path.read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
