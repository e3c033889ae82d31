"""What belongs to one ComfyUI user, as the handlers see it, and how its skills look as JSON.

The composition root hands in `Spaces`, which knows who asks. Users are separated, not protected
from each other: ComfyUI does not authenticate them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from aiohttp import web

from ..user_context.rules import UserContextStore
from ..user_context.skills import Skill, SkillLibrary, SkillSummary


class UserSpace(Protocol):
    """One user's skills, and their rules and preferences."""

    @property
    def skills(self) -> SkillLibrary: ...

    @property
    def user_context(self) -> UserContextStore: ...


Spaces = Callable[[web.Request], UserSpace]
"""The space of the user who asks. Raises `Refused` for a user that ComfyUI does not know."""


def summary_json(skill: SkillSummary) -> dict[str, str]:
    return {"slug": skill.slug, "name": skill.name, "description": skill.description}


def skill_json(skill: Skill) -> dict[str, str]:
    return {**summary_json(skill.summary), "instructions": skill.instructions}
