"""The file with the providers that the user made in the panel, keys included.

A key is bound to the address that it was entered for: a provider whose address changes loses its
key until it is entered again. The file is replaced as a whole; `files` says who may
read it. Methods read and write the disk, so async callers run them in a thread. `resolver` chooses
the provider that answers.

A choice is never forgotten: the name of the active provider stays when that provider is deleted,
and `choice` tells a user who chose nothing from a user whose choice cannot be read any more.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import files
from ..errors import InvalidRequest, NotFound, Problem, StoreError
from .provider import Provider, check_link_local, normal_base_url, usable_key

MOST_PROVIDERS = 100
LONGEST_MODEL_NAME = 200  # characters
LONGEST_KEY = 4_000  # characters; some gateways' tokens are long
WINDOWS = range(1_024, 10_000_001)  # tokens
_NAME = re.compile(r"[A-Za-z0-9 ._-]{1,64}")


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider that the user chose.

    `name` is None where there is none; then `lost` says in a sentence why the choice is unknown, or
    is empty if the user chose nothing.
    """

    name: str | None = None
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """The choice, and the providers in the order in which they were made."""

    choice: Choice
    providers: tuple[Provider, ...]


class ProviderBook:
    """Providers by name, and the name of the active one. Keys are given only inside `Provider`."""

    def __init__(self, path: Path, *, allow_link_local: bool = False) -> None:
        self._path = path
        self._allow_link_local = allow_link_local
        self._lock = threading.RLock()
        self._providers: dict[str, Provider] = {}
        self._active: str | None = None
        self._loaded = False
        self._unreadable: str | None = None
        self._problems: tuple[Problem, ...] = ()
        self.known: Contents | None = None
        """The contents as last read or saved, for a caller that must not wait; None before."""

    def contents(self) -> Contents:
        """Reads the file the first time."""
        with self._reading():
            return self._contents()

    @property
    def problems(self) -> tuple[Problem, ...]:
        with self._reading():
            return self._problems

    @property
    def active(self) -> str | None:
        """The provider name that the user chose; the provider may be of another source, or gone."""
        with self._reading():
            return self._active

    @property
    def choice(self) -> Choice:
        return self.contents().choice

    def list(self) -> tuple[Provider, ...]:
        return self.contents().providers

    def get(self, name: str) -> Provider:
        """Raises `NotFound`."""
        with self._reading():
            if name not in self._providers:
                raise NotFound(f"There is no provider named {name!r}.")
            return self._providers[name]

    def put(self, name: str, values: Mapping[str, Any]) -> Provider:
        """Make or replace a provider from `base_url`, `model`, `context_window`, `vision` and
        `api_key`.

        Without `api_key` the old key stays if the address is the same; an empty `api_key` removes
        it. The first provider becomes the active one, also after the active one was deleted.
        Raises `InvalidRequest`, `StoreError`.
        """
        provider = provider_from(name, values)
        try:
            check_link_local(provider.base_url, allowed=self._allow_link_local)
        except ValueError as reason:
            raise InvalidRequest(f"not a usable address: {reason}", where="base_url") from None
        with self._reading():
            known = self._providers.get(name)
            if known is None and len(self._providers) >= MOST_PROVIDERS:
                raise InvalidRequest(f"There are {MOST_PROVIDERS} providers already.", where="name")
            if known and values.get("api_key") is None and known.base_url == provider.base_url:
                provider = replace(provider, api_key=known.api_key)
            first = not self._providers and (self._active is None or self._deleted(self._active))
            self._save({**self._providers, name: provider}, name if first else self._active)
            return provider

    def activate(self, name: str | None) -> None:
        """Set the active provider by name; None leaves the choice to the order of `resolver`.

        The name may be that of a provider of another source: `resolver` checks it.
        """
        with self._reading():
            self._save(self._providers, name)

    def delete(self, name: str) -> None:
        """Delete a provider. The active provider stays the choice, so that no other one takes its
        place before the user chooses. Raises `NotFound`."""
        with self._reading():
            self.get(name)
            rest = {key: value for key, value in self._providers.items() if key != name}
            self._save(rest, self._active)

    def _contents(self) -> Contents:
        choice = Choice(lost="none of your providers is in use" if self._providers else "")
        if self._active is not None:
            choice = Choice(self._active)
        elif self._problems:
            choice = Choice(lost=f"{self._path.name} cannot be read")
        return Contents(choice, tuple(self._providers.values()))

    def _deleted(self, name: str) -> bool:
        """Whether `name` was a provider of this book; names of other sources have parentheses."""
        return name not in self._providers and _NAME.fullmatch(name) is not None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Holds the lock, and reads the file the first time, or until it can be read: another
        program may hold it for a moment."""
        with self._lock:
            if not self._loaded:
                self._load()
                self._loaded = self._unreadable is None
            try:
                yield
            finally:
                if self._loaded:
                    self.known = self._contents()

    def _load(self) -> None:
        # Only the first attempt waits: each later use of the providers makes one.
        pauses = () if self._unreadable else files.PAUSES
        try:
            text = files.read(self._path, pauses).decode("utf-8-sig")
        except FileNotFoundError:
            kept = sorted(self._path.parent.glob(f"{self._path.name}.damaged-*"))
            self._unreadable = None
            self._problems = (self._damaged(kept[-1]),) if kept else ()
            return
        except OSError as error:
            self._unreadable = f"{self._path.name} cannot be read: {files.reason_of(error)}."
            self._problems = (Problem("providers_unreadable", self._unreadable),)
            return
        except UnicodeDecodeError:
            self._set_aside(pauses)
            return
        self._unreadable, self._problems = None, ()
        try:
            whole = self._read(json.loads(text))
        except (ValueError, RecursionError):
            whole = False
        if not whole:
            self._set_aside(pauses)

    def _read(self, content: Any) -> bool:
        """Take over what can be read of the file's content; returns whether that is all of it."""
        if not isinstance(content, Mapping) or not isinstance(content.get("providers"), list):
            return False
        whole = True
        for entry in content["providers"]:
            try:
                provider = provider_from(entry["name"], entry)
            except (KeyError, TypeError, AttributeError, InvalidRequest):
                whole = False
            else:
                self._providers[provider.name] = provider
        active = content.get("active")
        self._active = active if isinstance(active, str) else None
        return whole and (active is None or isinstance(active, str))

    def _set_aside(self, pauses: Sequence[float]) -> None:
        """Rename a damaged file, and keep what could be read of it in a new one."""
        number = 1
        while (aside := self._path.with_name(f"{self._path.name}.damaged-{number}")).exists():
            number += 1
        try:
            files.rename(self._path, aside, pauses)
        except OSError as error:
            self._unreadable = (
                f"{self._path.name} is damaged and could not be renamed: {files.reason_of(error)}."
            )
            self._problems = (Problem("providers_damaged", self._unreadable),)
            return
        self._unreadable, self._problems = None, (self._damaged(aside),)
        if self._providers:
            with contextlib.suppress(StoreError):
                self._write(self._providers, self._active)

    def _damaged(self, aside: Path) -> Problem:
        message = (
            f"{self._path.name} was damaged and is kept as {aside.name}: enter providers again, or "
            "choose another one."
        )
        return Problem("providers_damaged", message)

    def _save(self, providers: Mapping[str, Provider], active: str | None) -> None:
        if self._unreadable:
            raise StoreError(f"The providers cannot be saved. {self._unreadable}")
        self._write(providers, active)
        self._providers, self._active = dict(providers), active
        if active is not None:
            self._problems = ()

    def _write(self, providers: Mapping[str, Provider], active: str | None) -> None:
        entries = [
            {
                "name": provider.name,
                "base_url": provider.base_url,
                "model": provider.model,
                "context_window": provider.context_window,
                "api_key": provider.api_key,
                "vision": provider.vision,
            }
            for provider in providers.values()
        ]
        text = json.dumps({"active": active, "providers": entries}, indent=2, ensure_ascii=False)
        try:
            files.write_text(self._path, text)
        except OSError as error:
            raise StoreError(
                f"The providers could not be saved: {files.reason_of(error)}."
            ) from None


def provider_from(name: str, values: Mapping[str, Any]) -> Provider:
    """A provider made of outside input. Raises `InvalidRequest`."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name != name.strip():
        allowed = "1 to 64 letters, digits, spaces, dots, hyphens or underscores"
        raise InvalidRequest(f"a name has {allowed}", where="name")
    base_url = _text(values, "base_url", 2_000)
    try:
        base_url = normal_base_url(base_url)
    except ValueError as reason:
        raise InvalidRequest(f"not a usable address: {reason}", where="base_url") from None
    key = _text(values, "api_key", LONGEST_KEY).strip()
    if not usable_key(key):
        raise InvalidRequest("a key has only ASCII characters without spaces", where="api_key")
    window = values.get("context_window")
    whole = isinstance(window, int) and not isinstance(window, bool)
    if window is not None and (not whole or window not in WINDOWS):
        allowed = f"a whole number of tokens from {WINDOWS[0]} to {WINDOWS[-1]}, or null"
        raise InvalidRequest(f"must be {allowed}", where="context_window")
    model = _text(values, "model", LONGEST_MODEL_NAME).strip()
    vision = values.get("vision")
    if vision is not None and not isinstance(vision, bool):
        raise InvalidRequest("must be true, false or null", where="vision")
    return Provider(name, base_url, model, key, window, "settings", vision=vision)


def _text(values: Mapping[str, Any], field: str, longest: int) -> str:
    value = values.get(field)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        raise InvalidRequest(f"must be one line of at most {longest} characters", where=field)
    return value
