"""The user's skills and the shipped skills, over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.tests.routes.site import USER, Site, error_of, raw, site

SKILLS = "/api/user-context/skills"
SHIPPED = "/api/system-context/skills"
UPSCALE = {"name": "Upscale", "description": "How I upscale.", "instructions": "Use 4x first."}

TRICKS = (
    ".",
    "..",
    "%2E",
    "%2e%2e",
    "%2e%2e%2f",
    "..%2f..%2fsecret",
    "a%2fb",
    "a%5cb",
    "a%00",
    "%00",
    "CON",
    "con",
    "NUL",
    "com1",
    "a" * 300,
    "%20",
    "a%0a",
    "~",
    "-x",
    "%ff",
    "%F0%9F%98%80",
    "a.md",
    "a:b",
    "C%3A",
)


@pytest.fixture
async def ours(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path) as opened:
        yield opened


async def test_a_skill_is_created_shown_listed_changed_and_deleted(ours: Site) -> None:
    created = await ours.client.post(SKILLS, json=UPSCALE)
    assert created.status == 201
    assert await created.json() == {"slug": "upscale", **UPSCALE}

    shown = await ours.client.get(f"{SKILLS}/upscale")
    assert await shown.json() == {"slug": "upscale", **UPSCALE}
    assert shown.headers["Cache-Control"] == "no-store"

    listed = await (await ours.client.get(SKILLS)).json()
    summary = {"slug": "upscale", "name": "Upscale", "description": "How I upscale."}
    assert listed == {"skills": [summary]}

    changed = await ours.client.patch(f"{SKILLS}/upscale", json={"name": "Enlarge"})
    assert (changed.status, await changed.json()) == (
        200,
        {"slug": "upscale", **UPSCALE, "name": "Enlarge"},
    )

    deleted = await ours.client.delete(f"{SKILLS}/upscale")
    assert (deleted.status, await deleted.read()) == (204, b"")
    assert await (await ours.client.get(SKILLS)).json() == {"skills": []}


async def test_a_taken_slug_is_a_409(ours: Site) -> None:
    await ours.client.post(SKILLS, json=UPSCALE)
    again = await ours.client.post(SKILLS, json={**UPSCALE, "name": "UPSCALE!"})
    assert again.status == 409
    assert error_of(await again.json())["code"] == "conflict"


async def test_a_default_is_listed_shown_changed_into_an_own_skill_and_never_deleted(
    tmp_path: Path,
) -> None:
    default = tmp_path / "plugin" / "user_context" / "skills" / "upscale" / "SKILL.md"
    default.parent.mkdir(parents=True)
    default.write_text(
        "---\nname: Upscale\ndescription: How I upscale.\n---\nUse 4x first.\n", encoding="utf-8"
    )
    before = default.read_bytes()
    async with site(tmp_path / "data", root=tmp_path / "plugin") as ours:
        shown = await ours.client.get(f"{SKILLS}/upscale")
        assert await shown.json() == {"slug": "upscale", **UPSCALE}
        listed = await (await ours.client.get(SKILLS)).json()
        assert [skill["slug"] for skill in listed["skills"]] == ["upscale"]

        refused = await ours.client.delete(f"{SKILLS}/upscale")
        assert refused.status == 409
        error = error_of(await refused.json())
        assert error["code"] == "default_skill" and str(default.parent) in error["message"]
        assert (await ours.client.post(SKILLS, json=UPSCALE)).status == 409
        assert ours.files() == {}

        changed = await ours.client.patch(f"{SKILLS}/upscale", json={"name": "Enlarge"})
        assert await changed.json() == {"slug": "upscale", **UPSCALE, "name": "Enlarge"}
        assert (await ours.client.delete(f"{SKILLS}/upscale")).status == 204
        shown = await ours.client.get(f"{SKILLS}/upscale")
        assert await shown.json() == {"slug": "upscale", **UPSCALE}
    assert default.read_bytes() == before


async def test_a_missing_skill_is_a_404(ours: Site) -> None:
    for answer in (
        await ours.client.get(f"{SKILLS}/none"),
        await ours.client.patch(f"{SKILLS}/none", json={"name": "x"}),
        await ours.client.delete(f"{SKILLS}/none"),
    ):
        assert answer.status == 404
        error_of(await answer.json())


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x"},
        {**UPSCALE, "name": ""},
        {**UPSCALE, "name": None},
        {**UPSCALE, "name": 5},
        {**UPSCALE, "instructions": ["a"]},
        {**UPSCALE, "instructions": "x" * 70_000},
        {**UPSCALE, "slug": "mine"},
    ],
)
async def test_a_wrong_skill_is_a_400_and_changes_nothing(ours: Site, body: object) -> None:
    answer = await ours.client.post(SKILLS, json=body)
    assert answer.status == 400
    error_of(await answer.json())
    assert ours.files() == {}


@pytest.mark.parametrize("body", [{}, {"name": None}, {"slug": "x"}, {"name": 5}])
async def test_a_wrong_change_is_a_400(ours: Site, body: object) -> None:
    await ours.client.post(SKILLS, json=UPSCALE)
    before = ours.files()
    assert (await ours.client.patch(f"{SKILLS}/upscale", json=body)).status == 400
    assert ours.files() == before


@pytest.mark.parametrize("trick", TRICKS)
async def test_slug_tricks_are_refused_and_touch_no_file(ours: Site, trick: str) -> None:
    await ours.client.post(SKILLS, json=UPSCALE)
    secret = ours.folder / "secret"
    secret.mkdir()
    (secret / "SKILL.md").write_text("---\nname: secret\n---\nSECRET", encoding="utf-8")
    (ours.folder / USER / "SKILL.md").write_text("SECRET", encoding="utf-8")
    before = ours.files()
    for method in ("GET", "PATCH", "DELETE"):
        body = b'{"name": "x"}' if method == "PATCH" else b""
        head = (
            f"{method} {SKILLS}/{trick} HTTP/1.1\r\nHost: {ours.authority}\r\nConnection: close\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        answer = await raw(ours.client, head.encode() + body)
        assert int(answer.split(b" ", 2)[1]) in (400, 404), answer
        assert b"SECRET" not in answer
    assert ours.files() == before


# Shipped skills


async def test_the_list_has_the_on_demand_skills_only(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        listed = await (await ours.client.get(SHIPPED)).json()
    assert listed["skills"]
    for skill in listed["skills"]:
        assert set(skill) == {"slug", "name", "description"}
        assert "model_" in skill["slug"]


async def test_each_listed_skill_can_be_had_with_its_instructions(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        for summary in (await (await ours.client.get(SHIPPED)).json())["skills"]:
            skill = await (await ours.client.get(f"{SHIPPED}/{summary['slug']}")).json()
            assert {**summary, "instructions": skill["instructions"]} == skill
            assert skill["instructions"]


async def test_what_is_not_there_is_a_404(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        assert (await ours.client.get(f"{SHIPPED}/none")).status == 404


async def test_shipped_skills_cannot_be_changed(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        slug = (await (await ours.client.get(SHIPPED)).json())["skills"][0]["slug"]
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = await ours.client.request(method, f"{SHIPPED}/{slug}", json={"name": "x"})
            assert answer.status == 405
