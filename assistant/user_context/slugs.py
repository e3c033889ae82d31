"""Slugs: the names of skills in URLs and of their folders (`docs/contracts/trust-boundary.md`, 5).

A name from outside is checked by `slug` before it becomes part of a path, and the path by `inside`
before it is used. `slug_for` makes a slug of a name that a person chose.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path
from typing import NewType

from .. import files
from ..errors import InvalidRequest

Slug = NewType("Slug", str)
"""A name that `slug` has checked."""

_ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_ORDER = re.compile(r"^\d+_(?:model_)?")
_MADE_LENGTH = 48  # characters; leaves room for a suffix and keeps URLs readable
_HASH_LENGTH = 8  # hexadecimal digits


def slug(text: object, where: str = "slug") -> Slug:
    """`text` as a slug: 1 to 80 of `A-Z a-z 0-9 _ -`, beginning with a letter or digit.

    Raises `InvalidRequest` for any other text, and for the device names of Windows.
    """
    if not isinstance(text, str) or not _ALLOWED.fullmatch(text) or files.is_device_name(text):
        raise InvalidRequest(
            "must be 1 to 80 letters, digits, - or _, beginning with a letter or digit, and not a"
            " reserved name such as CON",
            where=where,
        )
    return Slug(text)


def handle_of(name: str) -> str:
    """A slug without the number that orders shipped skills: `sdxl` of `20_model_sdxl`."""
    return _ORDER.sub("", name) or name


def slug_for(name: str) -> Slug:
    """A slug of `a-z 0-9 -` made of a name; the same name always gives the same slug.

    Letters outside ASCII are left out, so a hash is added that keeps such names apart.
    """
    spelled = "".join(
        character
        for character in unicodedata.normalize("NFKD", name)
        if not unicodedata.combining(character)
    ).lower()
    words = re.sub(r"[^a-z0-9]+", "-", spelled).strip("-")[:_MADE_LENGTH].strip("-")
    lossy = any(character.isalnum() and not character.isascii() for character in spelled)
    if lossy or not words or files.is_device_name(words):
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        words = f"{words or 'skill'}-{digest[:_HASH_LENGTH]}"
    return Slug(words)


def inside(folder: Path, name: Slug) -> Path:
    """The resolved path of `name` in `folder`.

    Raises `InvalidRequest` when `name` is a link, even to another place in `folder`.
    """
    resolved = (folder / name).resolve()
    if resolved != folder.resolve() / name:
        raise InvalidRequest("is a link to another place", where="slug")
    return resolved
