"""The skills of one user (R11, R12): the user's own, the defaults, and the system skills.

`SkillLibrary` lists, finds, writes and deletes skills. It reads and writes files, so async callers
run it in a thread; several threads may use it at once. `user_context_loader` loads the sections of
`system_context/` that every system message has; the routes own the HTTP shapes.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from .. import files
from ..errors import Conflict, InvalidRequest, NotFound, StoreError
from ..messages.fences import plain_line, without_tricks
from .skill_files import SKILL_FILE, SkillFile, parse_skill_file, write_skill_file
from .slugs import Slug, handle_of, inside, slug, slug_for
from .sources import SourceCache, normalized

log = logging.getLogger("comfyui_assistant")

MAX_NAME_CHARS = 120
MAX_DESCRIPTION_CHARS = 1_000
MAX_INSTRUCTIONS_CHARS = 64 * 1024
MAX_USER_SKILLS = 1_000
ON_DEMAND = "model_"
"""A system skill whose folder name contains this text is loaded by a tool; every other system skill
is part of the system message (R4)."""

_FOLDER = "skills"

SkillOrigin = Literal["user", "default", "system"]
"""`default` is a skill of the plugin's own `user_context/`, which all users of ComfyUI have."""

_Folders = tuple[tuple[Path, SkillOrigin], ...]
"""Folders that hold `skills/`, and the origin of their skills; the first that has a slug counts."""


@dataclass(frozen=True, slots=True)
class SkillSummary:
    slug: str
    name: str
    description: str
    origin: SkillOrigin


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill with its instructions, which are Markdown for the model."""

    slug: str
    name: str
    description: str
    instructions: str
    origin: SkillOrigin

    @property
    def summary(self) -> SkillSummary:
        return SkillSummary(self.slug, self.name, self.description, self.origin)


@dataclass(frozen=True, slots=True)
class Match:
    skill: Skill


@dataclass(frozen=True, slots=True)
class Unknown:
    """No skill has this slug or name. `skills` are all skills that can be chosen."""

    argument: str
    skills: tuple[SkillSummary, ...]


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The argument fits several skills: `skills`."""

    argument: str
    skills: tuple[SkillSummary, ...]


class SkillLibrary:
    """All skills of one user.

    `system_path` is the shipped `system_context/`, `user_path` the user's own folder and
    `defaults_path` the plugin's `user_context/`; each holds `skills/<slug>/SKILL.md`. A user's own
    skill replaces the default with the same slug. Slugs from outside are checked here, with
    `slugs.slug`.
    """

    def __init__(
        self,
        system_path: Path,
        user_path: Path,
        cache: SourceCache | None = None,
        defaults_path: Path | None = None,
    ) -> None:
        self._user_path = user_path
        self._system: _Folders = ((system_path, "system"),)
        self._defaults: _Folders = () if defaults_path is None else ((defaults_path, "default"),)
        self._user: _Folders = ((user_path, "user"), *self._defaults)
        self._system_path = system_path
        self._cache = cache or SourceCache()
        self._writing = threading.Lock()
        self._skipped: set[str] = set()

    def list_user(self) -> tuple[SkillSummary, ...]:
        """The user's own skills and the defaults that none of them replaces, by slug."""
        return tuple(skill.summary for skill in self._all(self._user))

    def list_defaults(self) -> tuple[SkillSummary, ...]:
        """All default skills, also those that a user's own skill replaces."""
        return tuple(skill.summary for skill in self._all(self._defaults))

    def list_system(self) -> tuple[SkillSummary, ...]:
        """The on-demand system skills, by slug."""
        return tuple(skill.summary for skill in self._all(self._system) if on_demand(skill.slug))

    def get_user(self, name: object) -> Skill:
        """The user's own skill, or else the default, with the slug `name`.

        Raises `InvalidRequest` when `name` is not a slug, and `NotFound`.
        """
        return self._get(slug(name), self._user)

    def get_system(self, name: object) -> Skill:
        """A skill of `system_context/`, or a top-level section by its file name without `.md`.

        Sections and skills of the system message are found too, because its cap may leave them
        out (R4). Raises `InvalidRequest` when `name` is not a slug, and `NotFound`.
        """
        wanted = slug(name)
        section = inside(self._system_path, Slug(wanted + ".md"))
        file = self._cache.read(section, parse_skill_file)
        if file is not None:
            return _skill(wanted, file, "system")
        return self._get(wanted, self._system)

    def create(self, name: object, description: object, instructions: object) -> Skill:
        """Store a new skill of the user; its slug is made of its name.

        Raises `InvalidRequest` for a wrong field and `Conflict` when the slug is taken, also by a
        default: a user replaces a default only on purpose, with `update`.
        """
        if name is None or description is None or instructions is None:
            raise InvalidRequest("A skill needs a name, a description and instructions.")
        file = SkillFile(**_checked(name, description, instructions))
        wanted = slug_for(file.name or "")
        with self._writing:
            if len(self.list_user()) >= MAX_USER_SKILLS:
                raise InvalidRequest(f"There are {MAX_USER_SKILLS} skills already; delete some.")
            folder = inside(self._user_path / _FOLDER, wanted)
            if (folder / SKILL_FILE).exists() or (folder.exists() and not folder.is_dir()):
                raise Conflict(f"A skill with the slug {wanted} exists already.")
            if self._find(wanted, self._defaults) is not None:
                raise Conflict(f"A default skill with the slug {wanted} exists already.")
            write_skill_file(folder, file)
        return _skill(wanted, file, "user")

    def update(
        self,
        name_of_skill: object,
        *,
        name: object = None,
        description: object = None,
        instructions: object = None,
    ) -> Skill:
        """Change the fields of a user's skill that are not None; its slug stays.

        A default stays as it is: the changed skill becomes the user's own, which replaces it.
        Raises `InvalidRequest` for a wrong field or slug, `NotFound`, and `StoreError`.
        """
        wanted = slug(name_of_skill)
        changes = _checked(name, description, instructions)
        with self._writing:
            found, origin = self._file(wanted, self._user)
            folder = inside(self._user_path / _FOLDER, wanted)
            if origin == "default" and (folder / SKILL_FILE).exists():
                # A change of the default would replace the user's own text.
                raise StoreError(f"{wanted} cannot be read now: another program may hold its file.")
            file = replace(found, **changes)
            write_skill_file(folder, file)
        return _skill(wanted, file, "user")

    def delete(self, name: object) -> None:
        """Delete a user's own skill with its folder; a default with its slug then counts again.

        Raises `InvalidRequest`, `NotFound`, `Conflict` for a default, and `StoreError` for a folder
        that cannot be removed, which then stays whole.
        """
        wanted = slug(name)
        with self._writing:
            if self._get(wanted, self._user).origin == "default":
                path = self._defaults[0][0] / _FOLDER / wanted
                raise Conflict(
                    f"{wanted} is a default skill of this installation and cannot be deleted here;"
                    f" it lies in {path}.",
                    code="default_skill",
                )
            try:
                files.remove_folder(inside(self._user_path / _FOLDER, wanted))
            except OSError as error:
                raise StoreError(
                    f"The skill could not be deleted: {files.reason_of(error)}."
                ) from error

    def tidy(self) -> None:
        """Remove what deletions left behind because another program held it. Raises nothing."""
        files.remove_leftovers(self._user_path / _FOLDER)

    def resolve(self, argument: str) -> Match | Unknown | Ambiguous:
        """The skill that `/skill argument` means.

        An exact slug goes before an exact name, a name before a handle (`slugs.handle_of`), and
        these before a prefix of slug or name, upper and lower case being the same; among equal
        matches the user's own skill goes before a default, and a default before a system skill
        (R12).
        """
        users = self._all(self._user)
        own = [skill for skill in users if skill.origin == "user"]
        defaults = [skill for skill in users if skill.origin == "default"]
        ours = [skill for skill in self._all(self._system) if on_demand(skill.slug)]
        wanted = _folded(argument)
        if wanted:
            for means in (_has_slug, _has_name, _has_handle, _begins):
                for skills in (own, defaults, ours):
                    found = [skill for skill in skills if means(skill, wanted)]
                    if len(found) == 1:
                        return Match(found[0])
                    if found:
                        return Ambiguous(argument, tuple(skill.summary for skill in found))
        return Unknown(argument, tuple(skill.summary for skill in [*users, *ours]))

    def _get(self, wanted: Slug, folders: _Folders) -> Skill:
        file, origin = self._file(wanted, folders)
        return _skill(wanted, file, origin)

    def _file(self, wanted: Slug, folders: _Folders) -> tuple[SkillFile, SkillOrigin]:
        found = self._find(wanted, folders)
        if found is None:
            raise NotFound(f"There is no {folders[0][1]} skill with the slug {wanted}.")
        return found

    def _find(self, wanted: Slug, folders: _Folders) -> tuple[SkillFile, SkillOrigin] | None:
        """The file in the first folder that has one. Raises `InvalidRequest` for a link."""
        for root, origin in folders:
            path = inside(root / _FOLDER, wanted) / SKILL_FILE
            # A link in the folder could lead to any file of the machine.
            file = None if path.is_symlink() else self._cache.read(path, parse_skill_file)
            if file is not None:
                return file, origin
        return None

    def _all(self, folders: _Folders) -> list[Skill]:
        roots: dict[str, set[SkillOrigin]] = {}
        for root, origin in folders:
            for name in self._names(root):
                roots.setdefault(name, set()).add(origin)
        found = ((name, self._try(name, folders)) for name in sorted(roots))
        # Where the file system takes upper and lower case for the same, a default `poster` is found
        # as the user's own `Poster`, which replaces it and is listed by that name.
        return [skill for name, skill in found if skill and skill.origin in roots[name]]

    def _try(self, name: str, folders: _Folders) -> Skill | None:
        try:
            return self._get(slug(name), folders)
        except NotFound:
            return None
        except InvalidRequest:
            if name not in self._skipped:
                self._skipped.add(name)
                log.warning("The skill folder %s is skipped: no slug, or a link.", ascii(name))
            return None

    def _names(self, root: Path) -> Iterator[str]:
        try:
            yield from (
                entry.name for entry in os.scandir(root / _FOLDER) if not entry.name.startswith(".")
            )
        except OSError:
            return


def on_demand(folder_name: str) -> bool:
    return ON_DEMAND in folder_name.lower()


def _skill(name: str, file: SkillFile, origin: SkillOrigin) -> Skill:
    """The skill of a file. A person reads its name and its description in lists and questions, so
    they have no characters that turn the text around them or are not seen."""
    description = file.first_line if file.description is None else file.description
    shown = plain_line(file.name or "") or name
    return Skill(name, shown, without_tricks(description), file.instructions, origin)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _has_slug(skill: Skill, wanted: str) -> bool:
    return skill.slug.casefold() == wanted


def _has_handle(skill: Skill, wanted: str) -> bool:
    return handle_of(skill.slug).casefold() == wanted


def _has_name(skill: Skill, wanted: str) -> bool:
    return _folded(skill.name) == wanted


def _begins(skill: Skill, wanted: str) -> bool:
    return skill.slug.casefold().startswith(wanted) or _folded(skill.name).startswith(wanted)


def _checked(name: object, description: object, instructions: object) -> dict[str, Any]:
    """The arguments that are not None, as fields of a `SkillFile`. Raises `InvalidRequest`."""
    fields: dict[str, Any] = {}
    if name is not None:
        fields["name"] = _text(_shown(name), "name", MAX_NAME_CHARS)
    if description is not None:
        fields["description"] = _text(_shown(description), "description", MAX_DESCRIPTION_CHARS)
    if instructions is not None:
        text = normalized(_text(instructions, "instructions", MAX_INSTRUCTIONS_CHARS))
        fields["instructions"] = text.strip()
    return fields


def _shown(value: object) -> object:
    return without_tricks(value) if isinstance(value, str) else value


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
