"""GET /system-context/skills: the skills that we ship, one by one (R11)."""

from __future__ import annotations

import asyncio

from aiohttp import web

from .answers import answer
from .guard import Gate, guarded
from .space import Spaces, skill_json, summary_json


def system_context_routes(gate: Gate, spaces: Spaces) -> list[web.RouteDef]:
    async def list_skills(request: web.Request) -> web.Response:
        """The on-demand skills: `{"skills": [{"slug", "name", "description"}]}`."""
        skills = await asyncio.to_thread(spaces(request).skills.list_system)
        return answer({"skills": [summary_json(skill) for skill in skills]})

    async def show_skill(request: web.Request) -> web.Response:
        """`{"slug", "name", "description", "instructions"}`."""
        library = spaces(request).skills
        return answer(
            skill_json(await asyncio.to_thread(library.get_system, request.match_info["slug"]))
        )

    return [
        web.get("/system-context/skills", guarded(list_skills, gate)),
        web.get("/system-context/skills/{slug}", guarded(show_skill, gate)),
    ]
