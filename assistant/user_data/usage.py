"""How much of a user's data there is, and how much room the files take."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from ..chats import ChatStore
from ..chats.attachments import FOLDER as ATTACHMENTS
from ..memory.store import MemoryStore
from ..user_context.rules import UserContextStore
from ..user_context.skills import SkillLibrary

SKILLS: Final = "skills"
NARRATIVES: Final = ("SOUL.md", "goals.md")


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts, and sizes of files in bytes. `messages` are those on the current paths of the chats;
    rules, preferences and memories (superseded ones included) lie in the file of the chats. `texts`
    are those of SOUL.md and goals.md that are there; `other_bytes` is the size of all files that
    the other sizes do not count."""

    chats: int
    messages: int
    attachments: int
    skills: int
    rules: int
    preferences: int
    memories: int
    texts: tuple[str, ...]
    chats_bytes: int
    attachments_bytes: int
    skills_bytes: int
    other_bytes: int

    def to_json(self) -> dict[str, Any]:
        total = sum(v for name, v in asdict(self).items() if name.endswith("_bytes"))
        return {**asdict(self), "texts": list(self.texts), "total_bytes": total}


async def usage(
    folder: Path,
    database: Path,
    chats: ChatStore,
    user_context: UserContextStore,
    skills: SkillLibrary,
    memories: MemoryStore,
) -> Usage:
    """The data in a user's folder, whose chats lie in the file `database`. Raises StoreError."""
    every = await chats.every()
    statements = await user_context.read()
    own = await asyncio.to_thread(own_skills, skills)
    sizes = await asyncio.to_thread(_sizes, folder, database)
    return Usage(
        chats=len(every),
        messages=sum(chat.messages for chat in every),
        attachments=sizes.attachments,
        skills=len(own),
        rules=len(statements.rules),
        preferences=len(statements.preferences),
        memories=len(await memories.all()),
        texts=tuple(name for name in NARRATIVES if (folder / name).is_file()),
        chats_bytes=sizes.chats_bytes,
        attachments_bytes=sizes.attachments_bytes,
        skills_bytes=sizes.skills_bytes,
        other_bytes=sizes.other_bytes,
    )


def own_skills(skills: SkillLibrary) -> tuple[str, ...]:
    """The slugs of the user's own skills. Reads files."""
    return tuple(skill.slug for skill in skills.list_user() if skill.origin == "user")


def files_below(folder: Path) -> Iterator[Path]:
    """All files below the folder, in a stable order. Links are not followed; what cannot be read is
    passed over."""
    for place, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if not path.is_symlink() and path.is_file():
                yield path


@dataclass(slots=True)
class _Sizes:
    attachments: int = 0
    chats_bytes: int = 0
    attachments_bytes: int = 0
    skills_bytes: int = 0
    other_bytes: int = 0


def _sizes(folder: Path, database: Path) -> _Sizes:
    sizes = _Sizes()
    for path in files_below(folder):
        try:
            size = path.stat().st_size
        except OSError:
            continue
        below = path.relative_to(folder).parts
        if len(below) == 1 and below[0].startswith(database.name):
            sizes.chats_bytes += size  # The file and its journals.
        elif below[0] == ATTACHMENTS:
            sizes.attachments += not path.name.startswith(".")
            sizes.attachments_bytes += size
        elif below[0] == SKILLS:
            sizes.skills_bytes += size
        else:
            sizes.other_bytes += size
    return sizes
