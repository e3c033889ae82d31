"""Health: what is configured, and what is wrong, in the shape that the panel reads."""

from dataclasses import replace
from pathlib import Path

from plugin.assistant import __version__
from plugin.assistant.errors import Problem
from plugin.tests.routes.site import QUIET, USER, site

ROUTE = "/api/assistant/health"
LOCAL = replace(QUIET, openai_base_url="http://127.0.0.1:9/v1", openai_model="tiny")


async def test_health_tells_which_provider_answers(tmp_path: Path) -> None:
    async with site(tmp_path, replace(LOCAL, context_window=8192)) as ours:
        answer = await ours.client.get(ROUTE)
        body = await answer.json()
    assert body.pop("skills") > 0
    assert body == {
        "status": "ok",
        "version": __version__,
        "provider": {
            "name": "127.0.0.1:9 (environment)",
            "base_url": "http://127.0.0.1:9/v1",
            "model": "tiny",
            "context_window": 8192,
            "source": "environment",
            "demo": False,
            "local": True,
        },
        "problems": [],
        "comfyui": "0.33.0",
        "preview": True,
        "defaults": {"names": []},
        "saving": {"ok": True},
    }


async def test_an_unknown_window_is_the_one_that_requests_are_planned_for(tmp_path: Path) -> None:
    hosted = replace(QUIET, openai_api_key="sk-planted-key", openai_model="large")
    async with site(tmp_path, hosted) as ours:
        body = await (await ours.client.get(ROUTE)).json()
    assert body["provider"]["context_window"] == 32_768
    assert body["provider"]["local"] is False


async def test_without_a_provider_health_is_ok_and_says_what_to_do(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        answer = await ours.client.get(ROUTE)
        body = await answer.json()
    assert (answer.status, body["status"], body["provider"]) == (200, "ok", None)
    assert [problem["code"] for problem in body["problems"]] == ["no_provider"]
    assert "settings" in body["problems"][0]["message"]


async def test_problems_of_the_start_are_told_with_their_variable(tmp_path: Path) -> None:
    wrong = Problem("invalid_setting", "LLM_MAX_STEPS is 'x'.", "LLM_MAX_STEPS")
    async with site(tmp_path, LOCAL, problems=(wrong,)) as ours:
        body = await (await ours.client.get(ROUTE)).json()
    assert body["problems"] == [
        {
            "code": "invalid_setting",
            "message": "LLM_MAX_STEPS is 'x'.",
            "variable": "LLM_MAX_STEPS",
        }
    ]


async def test_a_damaged_providers_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "providers.json").write_text("{", encoding="utf-8")
    async with site(tmp_path, LOCAL) as ours:
        body = await (await ours.client.get(ROUTE)).json()
    assert [problem["code"] for problem in body["problems"]] == ["no_provider", "providers_damaged"]
    assert body["provider"] is None


async def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    (tmp_path / USER).mkdir()
    (tmp_path / USER / "assistant.db").write_bytes(b"no database at all" * 100)
    async with site(tmp_path, LOCAL) as ours:
        await ours.client.get("/api/user-context/rules")
        body = await (await ours.client.get(ROUTE)).json()
    (problem,) = body["problems"]
    assert problem["code"] == "database_set_aside"
    assert "assistant.db.damaged-" in problem["message"]


async def test_what_is_not_being_saved_is_told(tmp_path: Path) -> None:
    (tmp_path / USER / "assistant.db").mkdir(parents=True)  # the file cannot be made here
    async with site(tmp_path, LOCAL) as ours:
        added = await ours.client.post("/api/user-context/rules", json={"text": "x"})
        assert added.status == 503
        body = await (await ours.client.get(ROUTE)).json()
    assert body["saving"]["ok"] is False
    assert body["saving"]["message"].startswith("assistant.db could not be written")


async def test_the_skills_of_the_user_are_counted_with_ours(tmp_path: Path) -> None:
    async with site(tmp_path, LOCAL) as ours:
        before = (await (await ours.client.get(ROUTE)).json())["skills"]
        skill = {"name": "Mine", "description": "d", "instructions": "i"}
        await ours.client.post("/api/user-context/skills", json=skill)
        after = (await (await ours.client.get(ROUTE)).json())["skills"]
    assert after == before + 1


async def test_defaults_of_the_user_context_are_named_with_both_folders(tmp_path: Path) -> None:
    defaults, folder = tmp_path / "plugin" / "user_context", tmp_path / "data"
    (defaults / "skills" / "poster").mkdir(parents=True)
    (defaults / "SOUL.md").write_text("Be kind.", encoding="utf-8")
    (defaults / "goals.md.example").write_text("An example", encoding="utf-8")
    (defaults / "skills" / "poster" / "SKILL.md").write_text("# Poster", encoding="utf-8")
    async with site(folder, LOCAL, root=tmp_path / "plugin") as ours:
        body = await (await ours.client.get(ROUTE)).json()
    assert body["problems"] == []
    assert body["skills"] == 1
    found = body["defaults"]
    assert found["names"] == ["SOUL.md", "skills/poster"]
    for words in ("SOUL.md, skills/poster", str(defaults), str(folder / USER), "update"):
        assert words in found["message"]
