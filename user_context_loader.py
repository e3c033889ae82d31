"""Loads system context, user context, skills and environment summary from files (R4 to R7).

The functions read files and return values; this module keeps no state. `agent_prompts` makes the
system message of the values. Files are read through a `SourceCache` that the caller keeps, so that
a file is read again only after it changed. The user's own files lie in the user's folder:

    SOUL.md  goals.md  skills/<slug>/SKILL.md  environment/summary.json

The plugin's own `user_context/` may hold the same files except `summary.json`; they are defaults
for users who have no file of the same name. Async callers run these functions in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .assistant.messages.fences import fenced, mark_for, plain_line
from .assistant.user_context.environment_summary import (
    load_environment_summary,
    refresh_environment,
)
from .assistant.user_context.outline import outline
from .assistant.user_context.rules import Preference, Rule, UserContextStore, UserStatements
from .assistant.user_context.skill_files import parse_skill_file
from .assistant.user_context.skills import (
    Ambiguous,
    Match,
    Skill,
    SkillLibrary,
    SkillSummary,
    Unknown,
    on_demand,
)
from .assistant.user_context.sources import SourceCache

__all__ = [
    "Ambiguous",
    "Defaults",
    "Match",
    "Preference",
    "Rule",
    "Skill",
    "SkillLibrary",
    "SkillSummary",
    "SourceCache",
    "SystemContext",
    "SystemSection",
    "Unknown",
    "UserContext",
    "UserContextStore",
    "UserStatements",
    "aggregate_skills",
    "cut",
    "fit_sections",
    "load_compact_context",
    "load_defaults",
    "load_environment_summary",
    "load_sections",
    "load_system_context",
    "load_user_context",
    "refresh_environment",
]

SOUL_FILE = "SOUL.md"
GOALS_FILE = "goals.md"

MAX_USER_CONTEXT_CHARS = 4000
MAX_SKILLS_FULL_CHARS = 1500
MAX_NARRATIVE_CHARS = 1200
MAX_SYSTEM_CONTEXT_CHARS = 12_000

TRUNCATED = "... [truncated]"
"""The end of a text that was cut."""

_BETWEEN_SECTIONS = "\n\n"
_HEADING = re.compile(r"^#+[ \t]+.*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_LONGEST_ABOUT = 120
"""Characters of a skill's description in a line."""


@dataclass(frozen=True, slots=True)
class SystemSection:
    """One file of the system context. The tool `getSystemSkill` finds it by `slug`."""

    slug: str
    title: str
    about: str
    text: str

    @property
    def line(self) -> str:
        """The line in place of a section that is left out."""
        about = f" ({self.about})" if self.about else ""
        return f'Left out here: {self.title}{about}. `getSystemSkill("{self.slug}")` gives it.'


@dataclass(frozen=True, slots=True)
class SystemContext:
    """The joined sections within their cap; `left_out` are the slugs of incomplete sections."""

    text: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserContext:
    """The user's rules, SOUL.md, goals.md and preferences; the newest row is last."""

    rules: tuple[Rule, ...] = ()
    soul: str = ""
    goals: str = ""
    preferences: tuple[Preference, ...] = ()


@dataclass(frozen=True, slots=True)
class Defaults:
    """Files that somebody put into the plugin's own `user_context/`, the folder `path`.

    `names` are such as `SOUL.md` or `skills/poster`; `user_path` is the user's own folder.
    """

    names: tuple[str, ...]
    path: Path
    user_path: Path

    def to_json(self) -> dict[str, Any]:
        """The names and, if there are any, a sentence for the user."""
        if not self.names:
            return {"names": []}
        message = (
            f"{self.path} holds {', '.join(self.names)}: used where your own folder"
            f" {self.user_path} has nothing of the same name. An update of the plugin may replace"
            " the files in the plugin's folder, never those in your own."
        )
        return {"names": list(self.names), "message": message}


def load_system_context(
    system_context_path: Path,
    max_chars: int = MAX_SYSTEM_CONTEXT_CHARS,
    cache: SourceCache | None = None,
) -> SystemContext:
    """The always-loaded system context, at most `max_chars` characters long (0: no limit) (R4).

    Empty if the folder has no files: `agent_prompts` then uses a minimal prompt (R5).
    """
    return fit_sections(load_sections(system_context_path, cache), max_chars)


def load_sections(
    system_context_path: Path, cache: SourceCache | None = None
) -> tuple[SystemSection, ...]:
    """The top-level `*.md` by name, then `skills/*/SKILL.md` by folder without on-demand skills.

    Sorted by code point: the same on every file system and in every locale.
    """
    cache = cache or SourceCache()
    top = sorted(system_context_path.glob("*.md"), key=lambda path: path.name)
    skills = sorted(system_context_path.glob("skills/*/SKILL.md"), key=lambda p: p.parent.name)
    files = [(path.stem, path) for path in top]
    files += [(path.parent.name, path) for path in skills if not on_demand(path.parent.name)]
    return tuple(
        section
        for slug, path in files
        if not slug.startswith(".") and (section := _section(slug, path, cache)) is not None
    )


def fit_sections(sections: Sequence[SystemSection], max_chars: int) -> SystemContext:
    """The sections, joined, in at most `max_chars` characters (0: no limit).

    Over the limit, whole sections become one line each, the last one first. If the first section
    alone is too long, it is cut: a line names the headings that are missing and how to get all of
    it, and `... [truncated]` ends it.
    """
    texts = [section.text for section in sections]
    whole = len(sections)
    while max_chars and whole > 1 and _joined_chars(texts) > max_chars:
        whole -= 1
        texts[whole] = sections[whole].line
    text = _BETWEEN_SECTIONS.join(texts)
    left_out = tuple(section.slug for section in sections[whole:])
    if not max_chars or len(text) <= max_chars:
        return SystemContext(text, left_out)
    lines = _BETWEEN_SECTIONS.join(["", *texts[1:]])
    room = max_chars - len(lines)
    # Without room for the first section, the lines are cut too.
    fits = room > len(TRUNCATED)
    text = _cut_section(sections[0], room) + lines if fits else cut(text, max_chars)
    return SystemContext(text, (sections[0].slug, *left_out))


def _cut_section(section: SystemSection, room: int) -> str:
    """The beginning of a section in `room` characters, with an outline of the rest in at most a
    quarter of them."""
    beginning = cut(section.text, room - room // 4).removesuffix(TRUNCATED)
    rest = section.text[len(beginning) :]
    end = f'. `getSystemSkill("{section.slug}")` gives all of it.'
    headings = _HEADING.findall(rest)
    line = outline(f"Left out of {section.title}", end, headings, room // 4 - len(TRUNCATED) - 2)
    return f"{beginning}\n{line}\n{TRUNCATED}" if line else cut(section.text, room)


def load_compact_context(system_context_path: Path, cache: SourceCache | None = None) -> str:
    """The system context for small windows, used in place of all sections; empty if missing."""
    path = system_context_path / "compact" / "compact.md"
    return (cache or SourceCache()).read(path, str.strip) or ""


def load_user_context(
    user_path: Path,
    statements: UserStatements,
    cache: SourceCache | None = None,
    defaults_path: Path | None = None,
) -> UserContext:
    """The user's files beside the user's rows, without skills: they are loaded on demand (R11).

    `defaults_path` is the plugin's `user_context/`: its SOUL.md and goals.md count for a user who
    has no such file. An empty file of the user counts as the user's own.
    """
    cache = cache or SourceCache()
    folders = (user_path,) if defaults_path is None else (user_path, defaults_path)

    def text_of(name: str) -> str:
        texts = (cache.read(folder / name, str.strip) for folder in folders)
        return next((text for text in texts if text is not None), "")

    return UserContext(
        rules=statements.rules,
        soul=text_of(SOUL_FILE),
        goals=text_of(GOALS_FILE),
        preferences=statements.preferences,
    )


def load_defaults(
    defaults_path: Path, user_path: Path, skills: SkillLibrary, cache: SourceCache | None = None
) -> Defaults:
    """The defaults in the plugin's `user_context/`, also the defaults that the user's own files
    replace."""
    cache = cache or SourceCache()
    files = (SOUL_FILE, GOALS_FILE)
    found = [name for name in files if cache.read(defaults_path / name, str.strip) is not None]
    names = (*found, *(f"skills/{skill.slug}" for skill in skills.list_defaults()))
    return Defaults(names, defaults_path, user_path)


def aggregate_skills(
    skills: Sequence[Skill | SkillSummary],
    max_full_chars: int = MAX_SKILLS_FULL_CHARS,
    *,
    about: bool = True,
) -> str:
    """Several skills as one text: in full if together they have at most `max_full_chars`
    characters (0: no limit), otherwise one line each, with what the skill is `about`. A
    `SkillSummary` is always one line (R11). The text of a skill stands between two lines that it
    cannot contain.
    """
    full = sum(len(skill.instructions) for skill in skills if isinstance(skill, Skill))
    in_full = not max_full_chars or full <= max_full_chars
    return "\n".join(
        _whole_skill(skill) if in_full and isinstance(skill, Skill) else _skill_line(skill, about)
        for skill in skills
    )


def _whole_skill(skill: Skill) -> str:
    mark = mark_for(skill.instructions)
    return f"{_skill_line(skill, False)}, between two lines of {mark}\n{fenced(skill.instructions)}"


def _skill_line(skill: Skill | SkillSummary, about: bool) -> str:
    """The skill's slug and name, and the first sentence of its description."""
    line = f"- `{plain_line(skill.slug)}` ({plain_line(skill.name)})"
    sentence = plain_line(_SENTENCE_END.split(skill.description, maxsplit=1)[0])
    return f"{line}: {cut(sentence, _LONGEST_ABOUT)}" if about and sentence else line


def cut(text: str, max_chars: int) -> str:
    """`text` in at most `max_chars` characters, cut between words and ended by `... [truncated]`.

    Empty if `max_chars` has room for no more than that ending.
    """
    if len(text) <= max_chars:
        return text
    room = max_chars - len(TRUNCATED)
    if room <= 0:
        return ""
    kept = text[: room + 1]
    border = max(kept.rfind(" "), kept.rfind("\n"))
    # Text without spaces (Chinese, a long path) has no border near the end.
    kept = kept[:border] if border > room // 2 else text[:room]
    return kept.rstrip() + TRUNCATED


def _section(slug: str, path: Path, cache: SourceCache) -> SystemSection | None:
    file = cache.read(path, parse_skill_file)
    if file is None or not file.instructions:
        return None
    title = file.name or file.first_line or slug
    return SystemSection(slug, title, file.description or "", file.instructions)


def _joined_chars(texts: Sequence[str]) -> int:
    return sum(map(len, texts)) + len(_BETWEEN_SECTIONS) * max(len(texts) - 1, 0)
