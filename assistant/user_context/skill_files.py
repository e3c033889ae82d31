"""SKILL.md: YAML front matter (`name`, `description`), then the instructions in Markdown.

People write these files by hand, so parsing accepts any text. A file with missing or broken front
matter has no name and no description; `skills` then takes the folder's name and the first line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .. import files
from ..errors import StoreError

SKILL_FILE = "SKILL.md"

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MARKUP = re.compile(r"^[#>*\-\s]+")
_DESCRIPTION_CHARS = 200
_ENDLESS = 1 << 30  # a line width that is never reached, so that no line is folded


@dataclass(frozen=True, slots=True)
class SkillFile:
    """One SKILL.md. `name` and `description` are None where the front matter has none.

    `extra` holds the other keys of the front matter; they are written back unchanged.
    """

    name: str | None
    description: str | None
    instructions: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first_line(self) -> str:
        """The first line of the instructions that has text besides Markdown marks, without them."""
        lines = (_MARKUP.sub("", line).strip() for line in self.instructions.splitlines())
        return next((line for line in lines if line), "")[:_DESCRIPTION_CHARS]


class _Dumper(yaml.SafeDumper):
    """Quotes text of several lines: in folded style, some line ends would become spaces."""

    def represent_str(self, text: str) -> yaml.ScalarNode:
        style = '"' if len(text.splitlines()) > 1 or text != text.rstrip() else None
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def parse_skill_file(text: str) -> SkillFile:
    """The parts of a SKILL.md. Accepts any text and raises nothing."""
    found = _FRONT_MATTER.match(text)
    if found is None:
        return SkillFile(None, None, text.strip())
    body = text[found.end() :].strip()
    try:
        # BaseLoader: all scalars are strings, so `name: 2024-13-45` and `name: no` are names.
        matter = yaml.load(found[1], Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return SkillFile(None, None, body)
    if not isinstance(matter, dict):
        return SkillFile(None, None, body)
    known = {key: matter.pop(key, None) for key in ("name", "description")}
    name, description = (
        value if isinstance(value, str) and value.strip() else None for value in known.values()
    )
    return SkillFile(name, description, body, matter)


def format_skill_file(file: SkillFile) -> str:
    """The text of a SKILL.md that `parse_skill_file` reads back as `file`."""
    own = {"name": file.name, "description": file.description}
    matter = {key: value for key, value in own.items() if value is not None} | dict(file.extra)
    front = yaml.dump(matter, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_ENDLESS)
    return f"---\n{front}---\n\n{file.instructions}\n"


def write_skill_file(folder: Path, file: SkillFile) -> None:
    """Write `file` as SKILL.md into `folder`, which is made if it does not exist.

    The file is replaced in one step, so that a reader gets the old text or the new text. Raises
    `StoreError`.
    """
    try:
        files.write_text(folder / SKILL_FILE, format_skill_file(file))
    except OSError as error:
        raise StoreError(f"The skill could not be saved: {files.reason_of(error)}.") from error
