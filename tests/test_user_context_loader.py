"""Loading: order, caps by whole sections, the cache, defaults, rules, environment summary."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import InvalidRequest, NotFound, StoreError
from plugin.assistant.messages.file_text import file_text
from plugin.assistant.user_context.environment_summary import EnvironmentSummary, count_models
from plugin.assistant.user_context.sources import MAX_SOURCE_BYTES, SourceCache
from plugin.tests.links import link_folder
from plugin.user_context_loader import (
    TRUNCATED,
    Skill,
    SkillLibrary,
    SystemSection,
    UserContextStore,
    UserStatements,
    aggregate_skills,
    cut,
    fit_sections,
    load_compact_context,
    load_defaults,
    load_environment_summary,
    load_system_context,
    load_user_context,
    refresh_environment,
)

ROOT = Path(__file__).resolve().parent.parent
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sections(*sizes: int) -> tuple[SystemSection, ...]:
    return tuple(
        SystemSection(f"s{number}", f"Title {number}", "", f"{number}" * size)
        for number, size in enumerate(sizes)
    )


# System context (R4)


def test_top_level_files_come_sorted_then_skills_without_the_model_ones(tmp_path: Path) -> None:
    write(tmp_path / "20_b.md", "two")
    write(tmp_path / "10_a.md", "one")
    write(tmp_path / "B.md", "upper")
    write(tmp_path / "._10_a.md", "left by a copying program")
    write(tmp_path / "notes.txt", "not loaded")
    write(tmp_path / "empty.md", " \n")
    write(tmp_path / "compact" / "compact.md", "not loaded")
    write(tmp_path / "skills" / "05_z" / "SKILL.md", "---\nname: Z\n---\nskill z")
    write(tmp_path / "skills" / "04_y" / "SKILL.md", "skill y")
    write(tmp_path / "skills" / "01_model_x" / "SKILL.md", "on demand")
    write(tmp_path / "skills" / "01_Model_y" / "SKILL.md", "on demand")
    system = load_system_context(tmp_path)
    assert system.text == "one\n\ntwo\n\nupper\n\nskill y\n\nskill z"
    assert system.left_out == ()


def test_a_missing_folder_is_empty(tmp_path: Path) -> None:
    assert load_system_context(tmp_path / "absent").text == ""
    assert load_compact_context(tmp_path / "absent") == ""


def test_over_the_cap_whole_sections_become_a_line_the_last_first(tmp_path: Path) -> None:
    write(tmp_path / "10_a.md", "# First\n" + "a" * 500)
    write(tmp_path / "20_b.md", "# How it works\n" + "b" * 500)
    skill = "---\nname: Fix\ndescription: Finds faults.\n---\n"
    write(tmp_path / "skills" / "11_fix" / "SKILL.md", skill + "c" * 500)
    system = load_system_context(tmp_path, 1200)
    assert system.left_out == ("11_fix",)
    assert system.text.endswith(
        'Left out here: Fix (Finds faults.). `getSystemSkill("11_fix")` gives it.'
    )
    assert "b" * 500 in system.text
    tighter = load_system_context(tmp_path, 800)
    assert tighter.left_out == ("20_b", "11_fix")
    assert "Left out here: How it works" in tighter.text
    assert TRUNCATED not in tighter.text
    library = SkillLibrary(tmp_path, tmp_path / "user")
    for slug, letter in (("11_fix", "c"), ("20_b", "b")):
        assert letter * 500 in library.get_system(slug).instructions


def test_only_a_single_section_too_long_by_itself_is_cut() -> None:
    fitted = fit_sections(sections(5000), 1000)
    assert len(fitted.text) <= 1000
    assert fitted.text.endswith(TRUNCATED)
    assert fitted.left_out == ("s0",)
    two = fit_sections(sections(5000, 5000), 1000)
    assert len(two.text) <= 1000
    assert two.text.endswith("gives it.")
    assert TRUNCATED in two.text


def test_a_cut_section_names_the_headings_that_are_missing() -> None:
    text = "\n".join(f"# Part {number}\n" + "fact. " * 40 for number in range(8))
    fitted = fit_sections([SystemSection("10_role", "Role", "", text)], 1000)
    assert len(fitted.text) <= 1000
    assert fitted.text.startswith("# Part 0\nfact. ")
    assert fitted.text.endswith(
        "\nLeft out of Role: Part 3; Part 4; Part 5; Part 6; Part 7."
        f' `getSystemSkill("10_role")` gives all of it.\n{TRUNCATED}'
    )


@given(st.lists(st.integers(1, 3000), max_size=8), st.integers(0, 6000))
def test_the_cap_always_holds_and_what_stays_is_a_beginning(sizes: list[int], cap: int) -> None:
    given_sections = sections(*sizes)
    fitted = fit_sections(given_sections, cap)
    whole = "\n\n".join(section.text for section in given_sections)
    if cap == 0 or len(whole) <= cap:
        assert (fitted.text, fitted.left_out) == (whole, ())
    else:
        assert len(fitted.text) <= cap
        slugs = tuple(section.slug for section in given_sections)
        assert fitted.left_out
        assert slugs[-len(fitted.left_out) :] == fitted.left_out


@given(st.text(), st.integers(0, 200))
def test_a_cut_keeps_its_limit_and_says_that_it_is_one(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert len(short) <= limit
    assert short == text or short == "" or short.endswith(TRUNCATED)


def test_a_cut_falls_between_words() -> None:
    assert cut("first second third fourth", 29 - 4) == "first second third fourth"
    assert cut("first second third fourth", 24) == "first" + TRUNCATED


# Sources (R9)


def parse_and_count(text: str) -> list[str]:
    return [text]


def test_a_file_is_read_again_only_after_it_changed(tmp_path: Path) -> None:
    cache, path = SourceCache(), tmp_path / "SOUL.md"
    write(path, "one")
    first = cache.read(path, parse_and_count)
    assert first == ["one"]
    assert cache.read(path, parse_and_count) is first
    write(path, "other")
    assert cache.read(path, parse_and_count) == ["other"]
    os.utime(path, ns=(1, 1))
    touched = cache.read(path, parse_and_count)
    assert touched == ["other"]
    path.unlink()
    assert cache.read(path, parse_and_count) is None


def test_a_replaced_file_of_the_same_size_and_time_is_seen(tmp_path: Path) -> None:
    cache, path = SourceCache(), tmp_path / "SOUL.md"
    write(path, "one")
    cache.read(path, parse_and_count)
    times = path.stat()
    write(tmp_path / "new", "two")
    os.utime(tmp_path / "new", ns=(times.st_atime_ns, times.st_mtime_ns))
    (tmp_path / "new").replace(path)
    assert cache.read(path, parse_and_count) == ["two"]


@pytest.mark.parametrize("what", ["folder", "huge", "absent", "impossible name"])
def test_what_is_no_readable_text_file_is_nothing(tmp_path: Path, what: str) -> None:
    path = tmp_path / ("a\0b" if what == "impossible name" else "SOUL.md")
    if what == "folder":
        path.mkdir()
    if what == "huge":
        path.write_bytes(b"x" * (MAX_SOURCE_BYTES + 1))
    assert SourceCache().read(path, parse_and_count) is None


def test_a_file_that_another_program_holds_is_read_when_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The file itself does not change meanwhile. Only its first use waits, and is logged."""
    write(tmp_path / "SOUL.md", "Be kind")
    pauses: list[float] = []
    monkeypatch.setattr("plugin.assistant.files.time.sleep", pauses.append)

    def held(path: Path) -> bytes:
        raise PermissionError(13, "Zugriff verweigert", str(path))

    cache = SourceCache()
    with monkeypatch.context() as holding:
        holding.setattr(Path, "read_bytes", held)
        for _ in range(3):
            assert cache.read(tmp_path / "SOUL.md", parse_and_count) is None
    assert len(pauses) == 4 and len(caplog.records) == 1
    assert caplog.messages == [
        "'SOUL.md' could not be read: access is denied; check the folder and its permissions."
    ]
    assert cache.read(tmp_path / "SOUL.md", parse_and_count) == ["Be kind"]


def test_line_ends_marks_and_broken_bytes_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "SOUL.md"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree \xff")
    assert SourceCache().read(path, parse_and_count) == ["one\ntwo\nthree \ufffd"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_a_file_is_read_as_the_tools_of_windows_write_it(encoding: str, tmp_path: Path) -> None:
    """PowerShell's `>` and Notepad's "Unicode" write UTF-16 with a byte order mark."""
    path, mark = tmp_path / "SOUL.md", "" if encoding == "utf-8-sig" else "\ufeff"
    path.write_bytes(f"{mark}Sei höflich.\r\n".encode(encoding))
    assert SourceCache().read(path, parse_and_count) == ["Sei höflich.\n"]


def test_a_skill_in_the_encoding_of_western_windows_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each letter beyond ASCII was U+FFFD, in the name and in the instructions."""
    path = tmp_path / "skills" / "portraet" / "SKILL.md"
    path.parent.mkdir(parents=True)
    text = "---\r\nname: Porträt\r\n---\r\nNimm „weiches“ Licht – für Größe 4.\r\n"
    path.write_bytes(text.encode("cp1252"))
    skill = SkillLibrary(tmp_path / "none", tmp_path).get_user("portraet")
    assert (skill.name, skill.instructions) == ("Porträt", "Nimm „weiches“ Licht – für Größe 4.")
    assert not caplog.messages


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Größe".encode() + b" \xff", "Größe \ufffd"),
        ("ein\ufffder Rest".encode(), "ein\ufffder Rest"),
        (b"a\xffb\0", "a\ufffdb\0"),
    ],
    ids=["broken UTF-8", "marks of its own", "no text"],
)
def test_what_is_not_the_encoding_of_western_windows_is_not_read_as_such(
    content: bytes, text: str
) -> None:
    assert file_text(content) == text


def test_a_file_in_an_unknown_encoding_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "SOUL.md"
    path.write_bytes("Будь добрым".encode("cp1251"))
    SourceCache().read(path, parse_and_count)
    (message,) = caplog.messages
    assert "SOUL.md" in message and "Save it as UTF-8" in message


# Rules and preferences (R6)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[UserContextStore]:
    database = SqliteDatabase(tmp_path / "assistant.db")
    store = UserContextStore(database, clock=lambda: NOW)
    await store.open()
    yield store
    await database.close()


async def test_rules_are_added_changed_and_deleted_in_their_order(store: UserContextStore) -> None:
    first = await store.add_rule("  one ")
    second = await store.add_rule("two")
    assert (first.text, first.created) == ("one", "2026-01-02T03:04:05+00:00")
    changed = await store.change_rule(first.id, "uno")
    assert changed == type(first)(first.id, "uno", first.created)
    assert (await store.read()).rules == (changed, second)
    await store.delete_rule(second.id)
    third = await store.add_rule("three")
    assert third.id != second.id
    assert (await store.read()).rules == (changed, third)


async def test_a_preference_is_replaced_and_the_newest_is_last(store: UserContextStore) -> None:
    await store.set_preference("sampler", "euler")
    await store.set_preference("size", "1024")
    await store.set_preference("sampler", "dpmpp_2m")
    kept = (await store.read()).preferences
    assert [(item.key, item.value) for item in kept] == [("size", "1024"), ("sampler", "dpmpp_2m")]
    await store.delete_preference("size")
    assert [item.key for item in (await store.read()).preferences] == ["sampler"]


async def test_the_revision_goes_up_with_each_change_and_only_then(
    store: UserContextStore,
) -> None:
    before = await store.read()
    assert await store.read() is before
    rule = await store.add_rule("one")
    after = await store.read()
    assert after.revision == before.revision + 1
    with pytest.raises(NotFound):
        await store.delete_rule("999")
    assert await store.read() is after
    await store.change_rule(rule.id, "two")
    await store.set_preference("a", "b")
    await store.delete_preference("a")
    await store.delete_rule(rule.id)
    assert (await store.read()).revision == before.revision + 5


async def test_a_change_by_another_process_is_seen(tmp_path: Path, store: UserContextStore) -> None:
    await store.read()
    database = SqliteDatabase(tmp_path / "assistant.db")
    try:
        await UserContextStore(database).add_rule("from elsewhere")
    finally:
        await database.close()
    store._known._fresh_until = 0.0  # SEEN_SECONDS later
    assert [rule.text for rule in (await store.read()).rules] == ["from elsewhere"]


async def test_a_change_is_seen_at_once_by_the_process_that_made_it(
    store: UserContextStore,
) -> None:
    await store.read()
    await store.add_rule("one")
    assert [rule.text for rule in (await store.read()).rules] == ["one"]


@pytest.mark.parametrize("text", ["", "  ", None, 5, ["a"], "x" * 2001, "half \udc00"])
async def test_a_text_of_the_wrong_kind_or_length_is_refused(
    store: UserContextStore, text: object
) -> None:
    rule = await store.add_rule("x" * 2000)
    for change in (
        store.add_rule(text),
        store.change_rule(rule.id, text),
        store.set_preference("key", text),
    ):
        with pytest.raises(InvalidRequest):
            await change
    assert (await store.read()).rules == (rule,)


@pytest.mark.parametrize("key", ["", " ", " a", "a/b", "x" * 65, "a\n", "a\0", None, 3])
async def test_a_wrong_key_is_refused(store: UserContextStore, key: object) -> None:
    with pytest.raises(InvalidRequest):
        await store.set_preference(key, "value")
    with pytest.raises(InvalidRequest):
        await store.delete_preference(key)


async def test_keys_of_any_language_are_kept(store: UserContextStore) -> None:
    await store.set_preference("любимый размер_1.0", "да")
    assert (await store.read()).preferences[0].key == "любимый размер_1.0"


@pytest.mark.parametrize("rule_id", ["999", "", "1 OR 1=1", "-1", "9" * 400, None, 1])
async def test_an_id_of_no_rule_is_not_found(store: UserContextStore, rule_id: object) -> None:
    await store.add_rule("stays")
    for change in (store.delete_rule(rule_id), store.change_rule(rule_id, "new")):
        with pytest.raises(NotFound):
            await change
    assert [rule.text for rule in (await store.read()).rules] == ["stays"]


async def test_rules_written_at_once_are_all_kept(store: UserContextStore) -> None:
    await asyncio.gather(*(store.add_rule(f"rule {number}") for number in range(20)))
    assert len({rule.id for rule in (await store.read()).rules}) == 20


async def test_a_store_whose_database_could_not_be_opened_works_once_it_can(
    tmp_path: Path,
) -> None:
    path = tmp_path / "assistant.db"
    path.mkdir()
    database = SqliteDatabase(path)
    store = UserContextStore(database)
    try:
        with pytest.raises(StoreError):
            await store.open()
        path.rmdir()
        await store.add_rule("be brief")
        assert [rule.text for rule in (await store.read()).rules] == ["be brief"]
    finally:
        await database.close()


async def test_user_context_is_files_and_rows_together(
    tmp_path: Path, store: UserContextStore
) -> None:
    await store.add_rule("be brief")
    write(tmp_path / "SOUL.md", "Kind.\n")
    write(tmp_path / "skills" / "mine" / "SKILL.md", "never here")
    context = load_user_context(tmp_path, await store.read())
    assert (context.soul, context.goals, context.rules[0].text) == ("Kind.", "", "be brief")
    assert load_user_context(tmp_path / "absent", UserStatements()).soul == ""


# Defaults: the plugin's own `user_context/`


def test_a_default_counts_where_the_user_has_no_file_of_that_name(tmp_path: Path) -> None:
    user, defaults = tmp_path / "user", tmp_path / "defaults"
    write(defaults / "SOUL.md", "Default soul.")
    write(defaults / "goals.md", "Default goals.")
    write(user / "goals.md", "My goals.")
    cache, statements = SourceCache(), UserStatements()
    context = load_user_context(user, statements, cache, defaults)
    assert (context.soul, context.goals) == ("Default soul.", "My goals.")
    write(defaults / "SOUL.md", "Another default soul.")
    assert load_user_context(user, statements, cache, defaults).soul == "Another default soul."
    write(user / "SOUL.md", "My soul.")
    assert load_user_context(user, statements, cache, defaults).soul == "My soul."
    write(user / "SOUL.md", "")
    assert load_user_context(user, statements, cache, defaults).soul == ""


def test_the_examples_that_are_shipped_are_no_defaults(tmp_path: Path) -> None:
    shipped = ROOT / "user_context"
    examples = tmp_path / "defaults"
    for path in shipped.rglob("*.example"):
        write(examples / path.relative_to(shipped), path.read_text(encoding="utf-8"))
    assert len(list(examples.rglob("*.example"))) == 3
    skills = SkillLibrary(tmp_path / "system", tmp_path / "user", None, examples)
    context = load_user_context(tmp_path / "user", UserStatements(), None, examples)
    assert (context.soul, context.goals, skills.list_user()) == ("", "", ())
    assert load_defaults(examples, tmp_path / "user", skills).names == ()


def test_the_names_of_all_defaults_are_given_also_of_replaced_ones(tmp_path: Path) -> None:
    user, defaults = tmp_path / "user", tmp_path / "defaults"
    for name in ("goals.md", "skills/poster/SKILL.md", "skills/grain/SKILL.md"):
        write(defaults / name, "Text")
        write(user / name, "Mine")
    skills = SkillLibrary(tmp_path / "system", user, None, defaults)
    found = load_defaults(defaults, user, skills)
    assert found.names == ("goals.md", "skills/grain", "skills/poster")


# Several skills as one text (R11)


def test_skills_stand_in_full_while_they_are_short_together() -> None:
    skills = [Skill(f"s{number}", "Name", "d", "x" * 100, "user") for number in range(3)]
    assert aggregate_skills(skills, 300).count("x" * 100) == 3
    assert "x" not in aggregate_skills(skills, 299)
    assert "`s2` (Name)" in aggregate_skills(skills, 299)
    assert "x" not in aggregate_skills([skill.summary for skill in skills], 0)


# Environment (R7)


async def test_a_scan_counts_and_the_line_says_it(tmp_path: Path) -> None:
    models = tmp_path / "models"
    for name in (
        "checkpoints/a.safetensors",
        "loras/deep/b.SAFETENSORS",
        "vae/c.pt",
        "vae/put.txt",
    ):
        write(models / name, "x")
    user = tmp_path / "user"
    assert load_environment_summary(user) == ""
    cache = SourceCache()
    summary = await refresh_environment(user, 523, [models, models / "vae"])
    assert summary.packages > 10
    line = load_environment_summary(user, cache)
    assert line == f"{summary.packages} packages, 523 node types, 3 models"
    file = user / "environment" / "summary.json"
    before = file.stat()
    await refresh_environment(user, 523, [models])
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    await refresh_environment(user, 1, [])
    assert load_environment_summary(user, cache).endswith("packages, 1 node type, 0 models")


def test_a_summary_reads_as_one_line() -> None:
    assert str(EnvironmentSummary(87, 523, 150)) == "87 packages, 523 node types, 150 models"


def test_links_among_model_folders_count_each_file_once_and_end(tmp_path: Path) -> None:
    write(tmp_path / "models" / "a.ckpt", "x")
    link_folder(tmp_path / "models" / "loop", tmp_path / "models")
    link_folder(tmp_path / "other", tmp_path / "models")
    assert count_models([tmp_path / "models", tmp_path / "other", tmp_path / "absent"]) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"packages": "x"}', "null", "[" * 100_000])
def test_a_broken_summary_is_no_summary(tmp_path: Path, text: str) -> None:
    write(tmp_path / "environment" / "summary.json", text)
    assert load_environment_summary(tmp_path) == ""


def test_a_summary_written_by_hand_is_read(tmp_path: Path) -> None:
    counts = {"packages": 1, "node_types": 2, "models": 0}
    write(tmp_path / "environment" / "summary.json", json.dumps(counts))
    assert load_environment_summary(tmp_path) == "1 package, 2 node types, 0 models"
