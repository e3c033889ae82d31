"""The skills that we ship, over HTTP."""

from pathlib import Path

from plugin.tests.routes.site import site

ROUTE = "/api/system-context/skills"


async def test_the_list_has_the_on_demand_skills_only(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        listed = await (await ours.client.get(ROUTE)).json()
    assert listed["skills"]
    for skill in listed["skills"]:
        assert set(skill) == {"slug", "name", "description"}
        assert "model_" in skill["slug"]


async def test_each_listed_skill_can_be_had_with_its_instructions(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        for summary in (await (await ours.client.get(ROUTE)).json())["skills"]:
            skill = await (await ours.client.get(f"{ROUTE}/{summary['slug']}")).json()
            assert {**summary, "instructions": skill["instructions"]} == skill
            assert skill["instructions"]


async def test_what_is_not_there_is_a_404(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        assert (await ours.client.get(f"{ROUTE}/none")).status == 404


async def test_shipped_skills_cannot_be_changed(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        slug = (await (await ours.client.get(ROUTE)).json())["skills"][0]["slug"]
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = await ours.client.request(method, f"{ROUTE}/{slug}", json={"name": "x"})
            assert answer.status == 405
