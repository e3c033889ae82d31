"""Tools that list, read and write skills (R11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from ..errors import AssistantError, ToolError
from ..messages.fences import hides, quoted
from ..messages.parts import ToolPart
from ..messages.prompt import ToolCall
from ..user_context.skills import Skill, SkillOrigin
from .parameters import Arguments
from .tool import SMALL_WINDOW, Asking, Tool, ToolContext

GET_USER_SKILL = "getUserSkill"
GET_SYSTEM_SKILL = "getSystemSkill"
LONGEST_SHOWN = 120
"""Characters of a skill's name in a question."""
READERS: Mapping[str, SkillOrigin] = {GET_USER_SKILL: "user", GET_SYSTEM_SKILL: "system"}
"""The tools that give a skill's text, and whose skills these are."""


class Slug(Arguments):
    slug: str = Field(description="The skill's slug, as the list gives it.")


def _readable(text: str) -> str:
    """A person decides about the text, so it must be what it looks like."""
    if hides(text):
        raise ValueError("has characters that turn text around or are not seen; leave them out")
    return text


Readable = Annotated[str, AfterValidator(_readable)]


class NewSkill(Arguments):
    name: Readable = Field(description="Short name, in the user's language.")
    description: Readable = Field(description="One sentence: when to use the skill.")
    instructions: Readable = Field(description="What to do, as Markdown.")


async def _list_user(_: object, context: ToolContext) -> Any:
    return _listed(await _off_loop(context.skills.list_user))


async def _get_user(arguments: Slug, context: ToolContext) -> Any:
    return _whole(await _off_loop(context.skills.get_user, arguments.slug))


async def _list_system(_: object, context: ToolContext) -> Any:
    return _listed(await _off_loop(context.skills.list_system))


async def _get_system(arguments: Slug, context: ToolContext) -> Any:
    return _whole(await _off_loop(context.skills.get_system, arguments.slug))


async def _create_user(arguments: NewSkill, context: ToolContext) -> Any:
    skill = await _off_loop(
        context.skills.create, arguments.name, arguments.description, arguments.instructions
    )
    return {"created": True, "slug": skill.slug, "name": skill.name}


async def _asks_to_save(arguments: NewSkill, _: ToolContext) -> Asking:
    name = quoted(arguments.name[:LONGEST_SHOWN])
    return Asking(f"Saves the skill {name} among your skills, for all chats.", each_time=True)


async def _off_loop(function: Callable[..., Any], *arguments: Any) -> Any:
    """Runs a function that reads files in a thread; its AssistantError becomes a ToolError."""
    try:
        return await asyncio.to_thread(function, *arguments)
    except AssistantError as error:
        raise ToolError(error.message) from error


def _listed(skills: Any) -> dict[str, Any]:
    return {
        "skills": [
            {"slug": skill.slug, "name": skill.name, "description": skill.description}
            for skill in skills
        ]
    }


def _slugs(call: ToolCall, value: Any) -> str | None:
    """The digest of a list of skills: their slugs."""
    skills = value.get("skills") if isinstance(value, Mapping) else None
    if not isinstance(skills, list):
        return None
    slugs = [str(skill.get("slug")) for skill in skills if isinstance(skill, Mapping)]
    return ", ".join(slugs) or "none"


def _whole(skill: Any) -> dict[str, Any]:
    return {
        "slug": skill.slug,
        "name": skill.name,
        "description": skill.description,
        "instructions": skill.instructions,
    }


def skill_read(part: ToolPart) -> Skill | None:
    """The skill that a call read, as its result has it; None for any other call. A client that
    sends its messages itself may send any value."""
    if part.tool_name not in READERS or part.state != "output-available":
        return None
    output = part.output if isinstance(part.output, Mapping) else {}
    values = [output.get(field) for field in ("slug", "name", "description", "instructions")]
    if not all(isinstance(value, str) for value in values):
        return None
    slug, name, description, instructions = map(str, values)
    return Skill(slug, name, description, instructions, READERS[part.tool_name])


SKILL_TOOLS = (
    Tool(
        name="listUserSkills",
        title="Looked through your skills",
        description="The skills that the user has written: slug, name and description of each.",
        kind="reads",
        run=_list_user,
        parallel=True,
        group="skills",
        digest=_slugs,
    ),
    Tool(
        name=GET_USER_SKILL,
        title="Read your skill",
        description="The full text of one of the user's skills.",
        kind="reads",
        run=_get_user,
        parallel=True,
        kept=True,
        group="skills",
    ),
    Tool(
        name="listSystemSkills",
        title="Looked through the model guides",
        description="The guides to model families: slug, name and description of each.",
        kind="reads",
        run=_list_system,
        parallel=True,
        group="skills",
        digest=_slugs,
    ),
    Tool(
        name=GET_SYSTEM_SKILL,
        title="Read a guide",
        description=(
            "The full text of a guide to a model family, or of a section that was left out of the "
            "system message."
        ),
        kind="reads",
        run=_get_system,
        kept=True,
        parallel=True,
        window=SMALL_WINDOW,
        group="skills",
    ),
    Tool(
        name="createUserSkill",
        title="Save a skill",
        description=(
            "Saves a new skill for the user. Only when the user asks to remember a way of working; "
            "the user is asked to allow it."
        ),
        kind="acts",
        run=_create_user,
        group="skills",
        asks_each_time=True,
        asks=_asks_to_save,
    ),
)
