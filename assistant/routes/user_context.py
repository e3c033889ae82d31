"""/user-context: the user's own skills, rules and preferences, to list, add, change and delete."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from aiohttp import web

from ..errors import InvalidRequest
from .answers import answer, nothing
from .body import only, read_json
from .guard import Gate, guarded
from .space import Spaces, skill_json, summary_json

SKILL_FIELDS = ("name", "description", "instructions")


def user_context_routes(gate: Gate, spaces: Spaces) -> list[web.RouteDef]:
    """All routes below /user-context. Values are checked by the library and the store."""
    return [
        *_skill_routes(gate, spaces),
        *_rule_routes(gate, spaces),
        *_preference_routes(gate, spaces),
    ]


def _skill_routes(gate: Gate, spaces: Spaces) -> list[web.RouteDef]:
    async def list_skills(request: web.Request) -> web.Response:
        skills = await asyncio.to_thread(spaces(request).skills.list_user)
        return answer({"skills": [summary_json(skill) for skill in skills]})

    async def show_skill(request: web.Request) -> web.Response:
        library = spaces(request).skills
        slug = request.match_info["slug"]
        return answer(skill_json(await asyncio.to_thread(library.get_user, slug)))

    async def create_skill(request: web.Request) -> web.Response:
        """`{"name", "description", "instructions"}` -> 201 and the skill; 409 for a taken slug."""
        library = spaces(request).skills
        body = await read_json(request)
        only(body, *SKILL_FIELDS)
        fields = [body.get(name) for name in SKILL_FIELDS]
        return answer(skill_json(await asyncio.to_thread(library.create, *fields)), status=201)

    async def change_skill(request: web.Request) -> web.Response:
        """Any of the three fields; the slug stays."""
        library = spaces(request).skills
        changes = await _changes(request, *SKILL_FIELDS)
        slug = request.match_info["slug"]
        return answer(skill_json(await asyncio.to_thread(library.update, slug, **changes)))

    async def delete_skill(request: web.Request) -> web.Response:
        await asyncio.to_thread(spaces(request).skills.delete, request.match_info["slug"])
        return nothing()

    path = "/user-context/skills"
    return [
        web.get(path, guarded(list_skills, gate)),
        web.post(path, guarded(create_skill, gate)),
        web.get(path + "/{slug}", guarded(show_skill, gate)),
        web.patch(path + "/{slug}", guarded(change_skill, gate)),
        web.delete(path + "/{slug}", guarded(delete_skill, gate)),
    ]


def _rule_routes(gate: Gate, spaces: Spaces) -> list[web.RouteDef]:
    async def list_rules(request: web.Request) -> web.Response:
        """`{"rules": [{"id", "text", "created"}]}`, oldest first; created in ISO 8601, UTC."""
        statements = await spaces(request).user_context.read()
        return answer({"rules": [asdict(rule) for rule in statements.rules]})

    async def add_rule(request: web.Request) -> web.Response:
        """`{"text"}` -> 201 and the rule."""
        store = spaces(request).user_context
        body = await read_json(request)
        only(body, "text")
        return answer(asdict(await store.add_rule(body.get("text"))), status=201)

    async def change_rule(request: web.Request) -> web.Response:
        store = spaces(request).user_context
        changes = await _changes(request, "text")
        return answer(asdict(await store.change_rule(request.match_info["id"], changes["text"])))

    async def delete_rule(request: web.Request) -> web.Response:
        await spaces(request).user_context.delete_rule(request.match_info["id"])
        return nothing()

    path = "/user-context/rules"
    return [
        web.get(path, guarded(list_rules, gate)),
        web.post(path, guarded(add_rule, gate)),
        web.patch(path + "/{id}", guarded(change_rule, gate)),
        web.delete(path + "/{id}", guarded(delete_rule, gate)),
    ]


def _preference_routes(gate: Gate, spaces: Spaces) -> list[web.RouteDef]:
    async def list_preferences(request: web.Request) -> web.Response:
        """`{"preferences": [{"key", "value"}]}`, the longest unchanged first."""
        statements = await spaces(request).user_context.read()
        return answer({"preferences": [asdict(item) for item in statements.preferences]})

    async def set_preference(request: web.Request) -> web.Response:
        """`{"value"}` -> the preference, new or replaced."""
        store = spaces(request).user_context
        body = await read_json(request)
        only(body, "value")
        key = request.match_info["key"]
        return answer(asdict(await store.set_preference(key, body.get("value"))))

    async def delete_preference(request: web.Request) -> web.Response:
        await spaces(request).user_context.delete_preference(request.match_info["key"])
        return nothing()

    path = "/user-context/preferences"
    return [
        web.get(path, guarded(list_preferences, gate)),
        web.put(path + "/{key}", guarded(set_preference, gate)),
        web.delete(path + "/{key}", guarded(delete_preference, gate)),
    ]


async def _changes(request: web.Request, *names: str) -> dict[str, object]:
    """What a PATCH changes: at least one of `names`, none of them null."""
    body = await read_json(request)
    only(body, *names)
    if not body:
        raise InvalidRequest(f"expected at least one of {', '.join(names)}", where="body")
    for name, value in body.items():
        if value is None:
            raise InvalidRequest("expected a value, got null", where=name)
    return body
