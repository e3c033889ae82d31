"""/system-context/skills and /user-context/skills: the shipped skills, and the user's own."""

from __future__ import annotations

import asyncio
from typing import Annotated

from aiohttp import web

from ..user_context.skills import (
    MAX_DESCRIPTION_CHARS,
    MAX_INSTRUCTIONS_CHARS,
    MAX_NAME_CHARS,
    Skill,
    SkillSummary,
)
from ..validation import NOT_GIVEN, Body, Changes, described_length
from .answers import answer, nothing
from .route import PlainRequest, Request, Route

# The library checks the lengths.
Name = Annotated[str, described_length(MAX_NAME_CHARS)]
Description = Annotated[str, described_length(MAX_DESCRIPTION_CHARS)]
Instructions = Annotated[str, described_length(MAX_INSTRUCTIONS_CHARS)]


class NewSkill(Body):
    name: Name
    description: Description
    instructions: Instructions


class SkillChanges(Changes):
    name: Name = NOT_GIVEN
    description: Description = NOT_GIVEN
    instructions: Instructions = NOT_GIVEN


async def list_system_skills(request: PlainRequest) -> web.Response:
    """The skills that are shipped and loaded on demand."""
    return _list(await asyncio.to_thread(request.space.skills.list_system))


async def read_system_skill(request: PlainRequest) -> web.Response:
    """A shipped skill with its instructions."""
    library, slug = request.space.skills, request.variable("slug")
    return answer(skill_json(await asyncio.to_thread(library.get_system, slug)))


async def list_user_skills(request: PlainRequest) -> web.Response:
    """The user's own skills, and the defaults that none of them replaces."""
    return _list(await asyncio.to_thread(request.space.skills.list_user))


async def read_user_skill(request: PlainRequest) -> web.Response:
    """A skill of the user with its instructions."""
    library, slug = request.space.skills, request.variable("slug")
    return answer(skill_json(await asyncio.to_thread(library.get_user, slug)))


async def create_user_skill(request: Request[NewSkill, None]) -> web.Response:
    """Keep a new skill; its slug is made of its name."""
    library, body = request.space.skills, request.body
    fields = (body.name, body.description, body.instructions)
    return answer(skill_json(await asyncio.to_thread(library.create, *fields)), status=201)


async def change_user_skill(request: Request[SkillChanges, None]) -> web.Response:
    """Change any of the three fields; the slug stays."""
    library, slug = request.space.skills, request.variable("slug")
    changed = await asyncio.to_thread(library.update, slug, **request.body.changes)
    return answer(skill_json(changed))


async def delete_user_skill(request: PlainRequest) -> web.Response:
    """Delete a skill of the user."""
    await asyncio.to_thread(request.space.skills.delete, request.variable("slug"))
    return nothing()


_SYSTEM, _USER = "/system-context/skills", "/user-context/skills"
ROUTES = (
    Route("GET", _SYSTEM, list_system_skills, {200: "SkillList"}),
    Route("GET", f"{_SYSTEM}/{{slug}}", read_system_skill, {200: "Skill"}, errors=(404,)),
    Route("GET", _USER, list_user_skills, {200: "SkillList"}),
    Route("POST", _USER, create_user_skill, {201: "Skill"}, errors=(409,)),
    Route("GET", f"{_USER}/{{slug}}", read_user_skill, {200: "Skill"}, errors=(404,)),
    Route("PATCH", f"{_USER}/{{slug}}", change_user_skill, {200: "Skill"}, errors=(404,)),
    Route("DELETE", f"{_USER}/{{slug}}", delete_user_skill, {204: "Nothing"}, errors=(404, 409)),
)


def summary_json(skill: SkillSummary) -> dict[str, str]:
    return {"slug": skill.slug, "name": skill.name, "description": skill.description}


def skill_json(skill: Skill) -> dict[str, str]:
    return {**summary_json(skill.summary), "instructions": skill.instructions}


def _list(skills: tuple[SkillSummary, ...]) -> web.Response:
    return answer({"skills": [summary_json(skill) for skill in skills]})
