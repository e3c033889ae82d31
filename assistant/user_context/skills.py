"""The skills (R11, R12): ours in `system_context/`, and the user's in the user's folder.

`SkillLibrary` lists, finds, writes and deletes them. It does file work, so async callers run it in
a thread; it is safe from several. The always-loaded part of `system_context/` is the business of
`user_context_loader`; the HTTP shapes are the routes'.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import Conflict, InvalidRequest, NotFound, StoreError
from .skill_files import SkillFile, format_skill_file, parse_skill_file
from .slugs import Slug, inside, slug, slug_for
from .sources import SourceCache, normalized

log = logging.getLogger("comfyui_assistant")

MAX_NAME_CHARS = 120
MAX_DESCRIPTION_CHARS = 1_000
MAX_INSTRUCTIONS_CHARS = 64 * 1024
MAX_USER_SKILLS = 1_000
ON_DEMAND = "model_"
"""System skills whose folder's name contains this are loaded by a tool, not always (R4)."""

_FOLDER = "skills"
_FILE = "SKILL.md"

Origin = Literal["user", "system"]


@dataclass(frozen=True, slots=True)
class SkillSummary:
    slug: str
    name: str
    description: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill with its instructions, which are Markdown for the model."""

    slug: str
    name: str
    description: str
    instructions: str
    origin: Origin

    @property
    def summary(self) -> SkillSummary:
        return SkillSummary(self.slug, self.name, self.description, self.origin)


@dataclass(frozen=True, slots=True)
class Match:
    skill: Skill


@dataclass(frozen=True, slots=True)
class Unknown:
    """No skill is called so. `skills` are all that there are."""

    argument: str
    skills: tuple[SkillSummary, ...]


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Several skills are meant. `skills` are those."""

    argument: str
    skills: tuple[SkillSummary, ...]


class SkillLibrary:
    """All skills of one user.

    `system_path` is the shipped `system_context/`, `user_path` the user's own folder; either holds
    `skills/<slug>/SKILL.md`. Slugs from outside are checked here, with `slugs.slug`.
    """

    def __init__(
        self, system_path: Path, user_path: Path, cache: SourceCache | None = None
    ) -> None:
        self._system = system_path
        self._user = user_path
        self._cache = cache or SourceCache()
        self._writing = threading.Lock()
        self._skipped: set[str] = set()

    def list_user(self) -> tuple[SkillSummary, ...]:
        return tuple(skill.summary for skill in self._all(self._user, "user"))

    def list_system(self) -> tuple[SkillSummary, ...]:
        """The on-demand system skills, in the order of their slugs."""
        return tuple(
            skill.summary for skill in self._all(self._system, "system") if on_demand(skill.slug)
        )

    def get_user(self, name: object) -> Skill:
        """Raises `InvalidRequest` for what is no slug, and `NotFound`."""
        return self._get(self._user, slug(name), "user")

    def get_system(self, name: object) -> Skill:
        """An on-demand skill, or an always-loaded one or a top-level section by its file's name:
        what the cap left out of the system message must be had too (R4).

        Raises `InvalidRequest` for what is no slug, and `NotFound`.
        """
        wanted = slug(name)
        section = inside(self._system, Slug(wanted + ".md"))
        file = self._cache.read(section, parse_skill_file)
        if file is not None:
            return _skill(wanted, file, "system")
        return self._get(self._system, wanted, "system")

    def create(self, name: object, description: object, instructions: object) -> Skill:
        """Keep a new skill of the user under a slug made of its name.

        Raises `InvalidRequest` for a wrong field and `Conflict` when the slug is taken.
        """
        if name is None or description is None or instructions is None:
            raise InvalidRequest("A skill needs a name, a description and instructions.")
        file = SkillFile(**_checked(name, description, instructions))
        wanted = slug_for(file.name or "")
        with self._writing:
            if len(self.list_user()) >= MAX_USER_SKILLS:
                raise InvalidRequest(f"There are {MAX_USER_SKILLS} skills already; delete some.")
            folder = inside(self._user / _FOLDER, wanted)
            if (folder / _FILE).exists() or (folder.exists() and not folder.is_dir()):
                raise Conflict(f"A skill with the slug {wanted} exists already.")
            _write(folder, file)
        return _skill(wanted, file, "user")

    def update(
        self,
        name_of_skill: object,
        *,
        name: object = None,
        description: object = None,
        instructions: object = None,
    ) -> Skill:
        """Change those fields of a user's skill that are not None; its slug stays.

        Raises `InvalidRequest` for a wrong field or slug, and `NotFound`.
        """
        wanted = slug(name_of_skill)
        changes = _checked(name, description, instructions)
        with self._writing:
            file = replace(self._file(self._user, wanted, "user"), **changes)
            _write(inside(self._user / _FOLDER, wanted), file)
        return _skill(wanted, file, "user")

    def delete(self, name: object) -> None:
        """Delete a user's skill with its folder. Raises `InvalidRequest` and `NotFound`."""
        wanted = slug(name)
        with self._writing:
            self._get(self._user, wanted, "user")
            try:
                shutil.rmtree(inside(self._user / _FOLDER, wanted))
            except OSError as error:
                raise StoreError(f"The skill could not be deleted: {error.strerror}.") from error

    def resolve(self, argument: str) -> Match | Unknown | Ambiguous:
        """The skill that `/skill argument` means.

        Exact slug beats exact name beats prefix of either, upper and lower case being the same; on
        equal terms the user's skill beats ours (R12).
        """
        users = self._all(self._user, "user")
        ours = [skill for skill in self._all(self._system, "system") if on_demand(skill.slug)]
        wanted = _folded(argument)
        if wanted:
            for means in (_has_slug, _has_name, _begins):
                for skills in (users, ours):
                    found = [skill for skill in skills if means(skill, wanted)]
                    if len(found) == 1:
                        return Match(found[0])
                    if found:
                        return Ambiguous(argument, tuple(skill.summary for skill in found))
        return Unknown(argument, tuple(skill.summary for skill in [*users, *ours]))

    def _get(self, root: Path, wanted: Slug, origin: Origin) -> Skill:
        return _skill(wanted, self._file(root, wanted, origin), origin)

    def _file(self, root: Path, wanted: Slug, origin: Origin) -> SkillFile:
        folder = inside(root / _FOLDER, wanted)
        path = folder / _FILE
        # A link in the folder could lead to any file of the machine.
        file = None if path.is_symlink() else self._cache.read(path, parse_skill_file)
        if file is None:
            raise NotFound(f"There is no {origin} skill with the slug {wanted}.")
        return file

    def _all(self, root: Path, origin: Origin) -> list[Skill]:
        return [skill for name in self._names(root) if (skill := self._try(root, name, origin))]

    def _try(self, root: Path, name: str, origin: Origin) -> Skill | None:
        try:
            return self._get(root, slug(name), origin)
        except NotFound:
            return None
        except InvalidRequest:
            if name not in self._skipped:
                self._skipped.add(name)
                log.warning("The skill folder %s is skipped: no slug, or a link.", ascii(name))
            return None

    def _names(self, root: Path) -> Iterator[str]:
        try:
            yield from sorted(
                entry.name for entry in os.scandir(root / _FOLDER) if not entry.name.startswith(".")
            )
        except OSError:
            return


def on_demand(folder_name: str) -> bool:
    return ON_DEMAND in folder_name.lower()


def _skill(name: str, file: SkillFile, origin: Origin) -> Skill:
    description = file.first_line if file.description is None else file.description
    return Skill(name, file.name or name, description, file.instructions, origin)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _has_slug(skill: Skill, wanted: str) -> bool:
    return skill.slug.casefold() == wanted


def _has_name(skill: Skill, wanted: str) -> bool:
    return _folded(skill.name) == wanted


def _begins(skill: Skill, wanted: str) -> bool:
    return skill.slug.casefold().startswith(wanted) or _folded(skill.name).startswith(wanted)


def _checked(name: object, description: object, instructions: object) -> dict[str, Any]:
    """Those fields of a `SkillFile` that are not None. Raises `InvalidRequest`."""
    fields: dict[str, Any] = {}
    if name is not None:
        fields["name"] = _text(name, "name", MAX_NAME_CHARS)
    if description is not None:
        fields["description"] = _text(description, "description", MAX_DESCRIPTION_CHARS)
    if instructions is not None:
        text = normalized(_text(instructions, "instructions", MAX_INSTRUCTIONS_CHARS))
        fields["instructions"] = text.strip()
    return fields


def _text(value: object, where: str, most: int) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidRequest("must be a text that is not empty", where=where)
    if len(value) > most:
        raise InvalidRequest(f"has {len(value)} characters; at most {most} are kept", where=where)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidRequest("holds half of a character (a lone surrogate)", where=where) from None
    return value


def _write(folder: Path, file: SkillFile) -> None:
    """Write SKILL.md in one step: a reader sees the old text or the new one, never half of it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(format_skill_file(file))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, folder / _FILE)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise StoreError(f"The skill could not be saved: {error.strerror}.") from error
