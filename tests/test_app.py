"""The composition root: which folder belongs to which ComfyUI user, and who may read it."""

import os
import stat
from pathlib import Path

import pytest
from plugin.assistant import files
from plugin.assistant.app import folder_name
from plugin.tests.routes.site import USER, site

LONG = "x" * 65


@pytest.mark.parametrize("user", ["default", "Tom_1f2e3d", "a-b", "x" * 64, "CONSOLE", "com10"])
def test_a_plain_id_names_its_folder(user: str) -> None:
    assert folder_name(user) == user


@pytest.mark.parametrize(
    "user",
    [
        *("", ".", "..", "a.", "a ", "a/b", "a\\b", "a:b", "\0", "ü", "a\n", LONG),
        *("CON", "con", "Nul", "aux", "PRN", "COM1", "lpt9", "com0"),
    ],
)
def test_an_id_that_no_folder_can_have_on_every_system_becomes_a_hash(user: str) -> None:
    name = folder_name(user)
    assert name.startswith("user-") and name == folder_name(user)
    assert not files.is_device_name(name) and name == folder_name(user, {"default", name})


def test_ids_that_differ_in_case_only_have_two_folders_on_every_system() -> None:
    first = folder_name("Tom", {"default"})
    second = folder_name("tom", {"default", first})
    assert first == "Tom" and second.casefold() != first.casefold()
    # After a restart, in any order.
    there = {"default", first, second}
    assert folder_name("tom", there) == second and folder_name("Tom", there) == first


@pytest.mark.parametrize("user", ["con", "Tom"])
def test_a_folder_that_is_there_stays_its_user_s(user: str) -> None:
    assert folder_name(user, {user, user.swapcase()}) == user


async def test_users_whose_ids_differ_in_case_only_are_separated(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        folders = [ours.assistant.space_of(user).folder for user in ("Tom", "tom", "TOM")]
        assert len({folder.name.casefold() for folder in folders}) == 3
        assert ours.assistant.space_of("tom").folder == folders[1]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
async def test_files_that_an_older_version_made_are_the_owner_s_alone_after_a_start(
    tmp_path: Path,
) -> None:
    user = tmp_path / USER
    for name in ("environment/summary.json", "skills/poster/SKILL.md", "goals.md"):
        path = user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
        path.chmod(0o644)
    for folder in (user, user / "environment", user / "skills", user / "skills" / "poster"):
        folder.chmod(0o755)
    async with site(tmp_path) as ours:
        space = ours.assistant.space_of(USER)
        await space.open()
        await space.scan(3, ())
        created = {"name": "New", "description": "d", "instructions": "i"}
        assert (await ours.client.post("/api/user-context/skills", json=created)).status == 201
    readable = [
        str(path) for path in (user, *user.rglob("*")) if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    assert readable == []
    assert (user / "skills" / "new" / "SKILL.md").is_file()


async def test_a_start_removes_what_was_left_of_a_deleted_skill(tmp_path: Path) -> None:
    left = tmp_path / USER / "skills" / f"{files.REMOVED}0a1b2c3d"
    left.mkdir(parents=True)
    (left / "SKILL.md").write_text("x", encoding="utf-8")
    async with site(tmp_path) as ours:
        await ours.assistant.space_of(USER).open()
    assert not left.exists()
