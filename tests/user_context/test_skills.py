"""Skills: slugs, files that round-trip, defaults, and which skill `/skill x` chooses."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import Conflict, InvalidRequest, NotFound, StoreError
from plugin.assistant.user_context import skills
from plugin.assistant.user_context.skill_files import (
    SkillFile,
    format_skill_file,
    parse_skill_file,
)
from plugin.assistant.user_context.skills import (
    MAX_INSTRUCTIONS_CHARS,
    Ambiguous,
    Match,
    SkillLibrary,
    Unknown,
)
from plugin.assistant.user_context.slugs import slug, slug_for
from plugin.assistant.user_context.sources import SourceCache
from plugin.tests.links import link_file, link_folder

pytestmark = pytest.mark.usefixtures("files_as_on_windows")
REFUSED = [
    *(".", "..", "%2E", "%2e%2e", "a/b", "a\\b", "a\0b", "\0", "CON", "con", "Lpt1", "NUL", ""),
    *(" ", "a b", "-a", "_a", ".hidden", "a.md", "a\n", "~", "é", "x" * 300, "C:", "a:b"),
    *(None, 7, ["a"]),
]
# All line ends, and characters that have a meaning in YAML.
TRICKY = "ab \n\r\t\x0b\x0c\x1c\x85\u2028\u2029\ufeff\0\x7f\xa0:#-'\"{}[]&*!|>%@`,?=<~\\é日😀"
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80),
    st.text(st.sampled_from(TRICKY), min_size=1, max_size=20),
)
SPEAKING = TEXT.filter(lambda text: bool(text.strip()))


def put(root: Path, folder: str, text: str) -> Path:
    path = root / "skills" / folder / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    system = tmp_path / "system"
    for folder, name in (("10_always", "Always"), ("20_model_sdxl", "SDXL"), ("30_model_flux", "")):
        put(
            system, folder, f"---\nname: {name}\ndescription: About it\n---\n# Facts\nOf {folder}\n"
        )
    (system / "40_workflows.md").write_text("# How workflows work\n\nLinks.\n", encoding="utf-8")
    return SkillLibrary(system, tmp_path / "user")


# Slugs


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_could_leave_its_folder_is_no_slug(name: object) -> None:
    with pytest.raises(InvalidRequest):
        slug(name)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("act", ["get_user", "get_system", "update", "delete"])
def test_nothing_changes_anywhere_when_a_slug_is_refused(
    tmp_path: Path, library: SkillLibrary, name: object, act: str
) -> None:
    (tmp_path / "SKILL.md").write_text("outside", encoding="utf-8")
    library.create("Mine", "d", "text")
    before = snapshot(tmp_path)
    with pytest.raises(InvalidRequest):
        getattr(library, act)(name, **({"name": "new"} if act == "update" else {}))
    assert snapshot(tmp_path) == before


@given(SPEAKING)
def test_every_name_gets_a_slug_that_is_one_and_is_the_same_each_time(name: str) -> None:
    made = slug_for(name)
    assert slug(made) == made == slug_for(name)
    assert made == made.lower()


def test_names_in_other_scripts_get_different_slugs() -> None:
    names = ["日本語", "中国", "日本 A", "中国 A", "Привет"]
    assert len({slug_for(name) for name in names}) == len(names)
    assert slug_for("Café au lait!") == "cafe-au-lait"


@pytest.mark.parametrize("linked", ["folder outside", "folder beside", "file outside"])
def test_links_lead_nowhere(tmp_path: Path, library: SkillLibrary, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("secret", encoding="utf-8")
    library.create("Beside", "d", "mine")
    skills = tmp_path / "user" / "skills"
    if linked == "file outside":
        (skills / "link").mkdir()
        link_file(skills / "link" / "SKILL.md", outside / "SKILL.md")
    else:
        link_folder(skills / "link", outside if linked == "folder outside" else skills / "beside")
    for act in (library.get_user, library.delete):
        with pytest.raises((InvalidRequest, NotFound)):
            act("link")
    assert [skill.slug for skill in library.list_user()] == ["beside"]
    assert (outside / "SKILL.md").read_text(encoding="utf-8") == "secret"


# Files


@given(SPEAKING, SPEAKING, TEXT)
def test_any_name_and_description_round_trip(name: str, description: str, text: str) -> None:
    file = SkillFile(name, description, text.strip())
    again = parse_skill_file(format_skill_file(file))
    assert (again.name, again.description, again.instructions) == (name, description, text.strip())


@pytest.mark.parametrize(
    "name",
    [
        "no",
        "null",
        "1.0",
        "2024-13-45",
        "- a: b",
        "---",
        "a: b #c",
        "''",
        "a\x85",
        "a\u2028b",
        "\n---\n",
    ],
)
def test_names_that_yaml_would_read_as_something_else_round_trip(name: str) -> None:
    assert parse_skill_file(format_skill_file(SkillFile(name, name, "x"))).name == name


@given(st.text())
def test_no_text_makes_reading_fail(text: str) -> None:
    parse_skill_file(text)
    parse_skill_file(f"---\n{text}\n---\nbody")


@pytest.mark.parametrize(
    "text",
    [
        "# Make it sharp\nThen more",
        "---\nname: [unclosed\n---\n# Make it sharp\n",
        "---\njust a text\n---\n\n# Make it sharp",
        "---\nname:\n  nested: yes\n---\n- Make it sharp",
        "---\nname: ''\ndescription: ' '\n---\nMake it sharp",
        "\ufeff---\r\nother: 1\r\n---\r\n# Make it sharp\r\n",
        "---\n" + "[" * 5000 + "\n---\n# Make it sharp",
    ],
)
def test_without_sound_front_matter_the_folder_and_the_first_line_serve(
    tmp_path: Path, library: SkillLibrary, text: str
) -> None:
    put(tmp_path / "user", "by-hand", text)
    skill = library.get_user("by-hand")
    assert (skill.name, skill.description) == ("by-hand", "Make it sharp")


def test_front_matter_that_is_not_ours_stays_when_a_skill_is_changed(
    tmp_path: Path, library: SkillLibrary
) -> None:
    path = put(tmp_path / "user", "mine", "---\nname: Mine\nlicense: MIT\n---\nold")
    library.update("mine", instructions="new")
    assert parse_skill_file(path.read_text(encoding="utf-8")).extra == {"license": "MIT"}
    assert library.get_user("mine").instructions == "new"


# The library


def test_a_skill_is_kept_changed_and_deleted(tmp_path: Path, library: SkillLibrary) -> None:
    made = library.create("My Style", "When I say: my style", "Line one\r\nline two\n")
    assert made.slug == "my-style"
    assert library.get_user("my-style") == made
    assert made.instructions == "Line one\nline two"
    changed = library.update("my-style", name="Another name")
    assert (changed.slug, changed.name) == ("my-style", "Another name")
    assert changed.instructions == made.instructions
    assert library.list_user() == (changed.summary,)
    assert snapshot(tmp_path / "user").keys() == {"skills/my-style/SKILL.md"}
    library.delete("my-style")
    assert library.list_user() == ()
    assert snapshot(tmp_path / "user") == {}


def test_a_taken_slug_is_a_conflict_and_keeps_the_first(library: SkillLibrary) -> None:
    library.create("My Style", "first", "1")
    with pytest.raises(Conflict):
        library.create("my style!", "second", "2")
    assert library.get_user("my-style").description == "first"


def test_what_is_missing_is_not_found(library: SkillLibrary) -> None:
    for act in (library.get_user, library.get_system, library.delete, library.update):
        with pytest.raises(NotFound):
            act("absent")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", 3),
        ("name", "x" * 121),
        ("name", "half \ud800"),
        ("description", "  "),
        ("description", {"a": 1}),
        ("instructions", "\n"),
        ("instructions", "x" * (MAX_INSTRUCTIONS_CHARS + 1)),
    ],
)
def test_a_wrong_field_is_refused_by_name(library: SkillLibrary, field: str, value: object) -> None:
    library.create("Mine", "d", "text")
    before = library.get_user("mine")
    with pytest.raises(InvalidRequest, match=field):
        library.create(**{"name": "n", "description": "d", "instructions": "i", field: value})
    with pytest.raises(InvalidRequest, match=field):
        library.update("mine", **{field: value})
    assert library.get_user("mine") == before


def test_a_field_that_is_left_out_of_a_new_skill_is_refused(library: SkillLibrary) -> None:
    with pytest.raises(InvalidRequest):
        library.create("name", None, "instructions")


def test_a_change_on_disk_is_seen_at_once(tmp_path: Path, library: SkillLibrary) -> None:
    path = put(tmp_path / "user", "mine", "# One")
    assert library.get_user("mine").description == "One"
    path.write_text("# Other", encoding="utf-8")
    assert library.get_user("mine").description == "Other"


def test_folders_whose_names_are_no_slugs_are_skipped(
    tmp_path: Path, library: SkillLibrary
) -> None:
    put(tmp_path / "user", "my skill", "# Text")
    put(tmp_path / "user", ".hidden", "# Text")
    (tmp_path / "user" / "skills" / "stray.txt").write_text("x", encoding="utf-8")
    assert library.list_user() == ()


def test_system_lists_hold_what_is_loaded_on_demand_and_slugs_are_folder_names(
    library: SkillLibrary,
) -> None:
    listed = library.list_system()
    assert [(skill.slug, skill.name) for skill in listed] == [
        ("20_model_sdxl", "SDXL"),
        ("30_model_flux", "30_model_flux"),
    ]


def test_what_the_cap_may_leave_out_can_be_had_by_slug(library: SkillLibrary) -> None:
    assert library.get_system("10_always").instructions == "# Facts\nOf 10_always"
    section = library.get_system("40_workflows")
    assert (section.name, section.instructions) == (
        "40_workflows",
        "# How workflows work\n\nLinks.",
    )


def test_creating_from_many_threads_keeps_one_whole_skill(
    tmp_path: Path, library: SkillLibrary
) -> None:
    outcomes: list[str] = []

    def create(number: int) -> None:
        try:
            library.create("Same", "d", f"text {number}" * 1000)
            outcomes.append("made")
        except Conflict:
            outcomes.append("taken")

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made"] + ["taken"] * 7
    assert len(set(library.get_user("same").instructions.split("text "))) == 2


# Defaults: the skills in the plugin's own `user_context/`


@pytest.fixture
def with_defaults(tmp_path: Path) -> SkillLibrary:
    put(tmp_path / "system", "20_model_sdxl", "---\nname: SDXL\n---\nFacts")
    for folder in ("poster", "grain"):
        front = f"---\nname: {folder.title()}\ndescription: d\nlicense: MIT\n---\n"
        put(tmp_path / "defaults", folder, front + "Default text")
    (tmp_path / "defaults" / "skills" / "example").mkdir()
    (tmp_path / "defaults" / "skills" / "example" / "SKILL.md.example").write_text(
        "# Example", encoding="utf-8"
    )
    return SkillLibrary(
        tmp_path / "system", tmp_path / "user", SourceCache(), tmp_path / "defaults"
    )


def test_defaults_are_listed_and_read_with_the_users_skills(with_defaults: SkillLibrary) -> None:
    with_defaults.create("Hands", "d", "Own text")
    assert [(skill.slug, skill.origin) for skill in with_defaults.list_user()] == [
        ("grain", "default"),
        ("hands", "user"),
        ("poster", "default"),
    ]
    assert with_defaults.get_user("poster").instructions == "Default text"


def test_a_users_own_skill_replaces_the_default_of_its_slug(
    tmp_path: Path, with_defaults: SkillLibrary
) -> None:
    put(tmp_path / "user", "poster", "# Mine")
    assert with_defaults.get_user("poster").instructions == "# Mine"
    assert [skill.slug for skill in with_defaults.list_user()] == ["grain", "poster"]
    assert [skill.slug for skill in with_defaults.list_defaults()] == ["grain", "poster"]
    resolved = with_defaults.resolve("poster")
    assert isinstance(resolved, Match) and resolved.skill.origin == "user"


def test_changing_a_default_makes_it_the_users_own(
    tmp_path: Path, with_defaults: SkillLibrary
) -> None:
    before = snapshot(tmp_path / "defaults")
    changed = with_defaults.update("poster", instructions="My text")
    assert (changed.name, changed.origin, changed.instructions) == ("Poster", "user", "My text")
    assert snapshot(tmp_path / "defaults") == before
    own = (tmp_path / "user" / "skills" / "poster" / "SKILL.md").read_text(encoding="utf-8")
    assert parse_skill_file(own).extra == {"license": "MIT"}


def test_a_default_does_not_replace_a_users_own_skill_that_cannot_be_read(
    tmp_path: Path, with_defaults: SkillLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = put(tmp_path / "user", "poster", "# Mine")
    real = Path.read_bytes

    def held(path: Path) -> bytes:
        if path == own.resolve():
            raise PermissionError(13, "Zugriff verweigert", str(path))
        return real(path)

    monkeypatch.setattr("plugin.assistant.files.time.sleep", lambda _seconds: None)
    with monkeypatch.context() as holding:
        holding.setattr(Path, "read_bytes", held)
        with pytest.raises(StoreError, match="cannot be read now"):
            with_defaults.update("poster", description="Changed")
    assert own.read_text(encoding="utf-8") == "# Mine"
    with_defaults.update("poster", description="Changed")
    assert with_defaults.get_user("poster").instructions == "# Mine"


def test_deleting_a_default_is_refused_and_says_where_it_lies(
    tmp_path: Path, with_defaults: SkillLibrary
) -> None:
    before = snapshot(tmp_path / "defaults")
    with pytest.raises(Conflict) as refused:
        with_defaults.delete("poster")
    assert str(tmp_path / "defaults" / "skills" / "poster") in refused.value.message
    assert snapshot(tmp_path / "defaults") == before


def test_a_default_counts_again_when_the_users_own_skill_is_deleted(
    with_defaults: SkillLibrary,
) -> None:
    with_defaults.update("poster", instructions="My text")
    with_defaults.delete("poster")
    assert with_defaults.get_user("poster").instructions == "Default text"


def test_a_new_skill_does_not_replace_a_default_by_accident(with_defaults: SkillLibrary) -> None:
    with pytest.raises(Conflict):
        with_defaults.create("Poster", "d", "New text")
    assert with_defaults.get_user("poster").instructions == "Default text"


def test_a_command_means_the_users_own_skill_before_a_default_before_ours(
    with_defaults: SkillLibrary,
) -> None:
    with_defaults.create("Poster two", "d", "text")
    outcomes = {
        argument: with_defaults.resolve(argument)
        for argument in ("post", "poster", "gr", "20", "sdxl")
    }
    slugs = {
        argument: outcome.skill.slug
        for argument, outcome in outcomes.items()
        if isinstance(outcome, Match)
    }
    assert slugs == {
        "post": "poster-two",
        "poster": "poster",
        "gr": "grain",
        "20": "20_model_sdxl",
        "sdxl": "20_model_sdxl",
    }
    unknown = with_defaults.resolve("nothing")
    assert isinstance(unknown, Unknown) and len(unknown.skills) == 4


def test_a_changed_default_is_seen_at_once(tmp_path: Path, with_defaults: SkillLibrary) -> None:
    assert with_defaults.get_user("grain").instructions == "Default text"
    (tmp_path / "defaults" / "skills" / "grain" / "SKILL.md").write_text(
        "# Other", encoding="utf-8"
    )
    assert with_defaults.get_user("grain").instructions == "# Other"


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_among_the_defaults_leads_nowhere(
    tmp_path: Path, with_defaults: SkillLibrary
) -> None:
    put(tmp_path / "outside", "secret", "secret")
    link_folder(
        tmp_path / "defaults" / "skills" / "link", tmp_path / "outside" / "skills" / "secret"
    )
    with pytest.raises(InvalidRequest):
        with_defaults.get_user("link")
    assert [skill.slug for skill in with_defaults.list_user()] == ["grain", "poster"]


# What `/skill argument` means


@pytest.fixture
def named(tmp_path: Path, library: SkillLibrary) -> SkillLibrary:
    users = tmp_path / "user"
    for folder, name in (
        ("portrait", "Landscape"),
        ("landscape", "Portrait"),
        ("poster-a", "Poster one"),
        ("poster-b", "Poster two"),
        ("my-sdxl", "sdxl"),
    ):
        put(users, folder, f"---\nname: {name}\ndescription: d\n---\nText")
    return library


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        ("portrait", "portrait"),  # a slug beats the same name of another skill
        ("PORTRAIT", "portrait"),
        ("Poster  TWO", "poster-b"),
        ("land", None),  # two skills: by slug and by name
        ("poster-a", "poster-a"),
        ("poster", None),
        ("SDXL", "my-sdxl"),  # the user's beats ours of the same name
        ("20_model", "20_model_sdxl"),
        ("30_model_flux", "30_model_flux"),
        ("my", "my-sdxl"),
    ],
)
def test_slug_beats_name_beats_prefix_and_the_users_beat_ours(
    named: SkillLibrary, argument: str, found: str | None
) -> None:
    outcome = named.resolve(argument)
    if found is None:
        assert isinstance(outcome, Ambiguous)
        assert len(outcome.skills) == 2
    else:
        assert isinstance(outcome, Match)
        assert outcome.skill.slug == found


@pytest.mark.parametrize("argument", ["", "  ", "nothing", "../../etc", "10_always", "\0"])
def test_what_names_no_skill_is_answered_with_all_there_are(
    named: SkillLibrary, argument: str
) -> None:
    outcome = named.resolve(argument)
    assert isinstance(outcome, Unknown)
    assert len(outcome.skills) == 7


def test_the_name_of_a_skill_turns_no_text_around(tmp_path: Path, library: SkillLibrary) -> None:
    made = library.create("Moon\u202e thgil\u200b", "Blue\u2067 light", "Use blue.")
    assert (made.name, made.description) == ("Moon thgil", "Blue light")
    file = tmp_path / "user" / "skills" / "other" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: \u202eevas\u2069\n---\nDo\u202e it.", encoding="utf-8")
    found = library.get_user("other")
    assert (found.name, found.description) == ("evas", "Do it.")


def test_a_skill_that_replaces_a_default_in_another_case_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows and macOS find the folder `Poster` also as `poster`."""

    def inside(folder: Path, name: str) -> Path:
        entries = folder.iterdir() if folder.is_dir() else ()
        same = (entry for entry in entries if entry.name.lower() == name.lower())
        return next(same, folder / name)

    put(tmp_path / "user", "Poster", "Own")
    put(tmp_path / "defaults", "poster", "Default")
    put(tmp_path / "defaults", "banner", "Default")
    library = SkillLibrary(
        tmp_path / "none", tmp_path / "user", defaults_path=tmp_path / "defaults"
    )
    monkeypatch.setattr(skills, "inside", inside)
    listed = [(one.slug, one.origin) for one in library.list_user()]
    assert listed == [("Poster", "user"), ("banner", "default")]
    assert library.resolve("poster") == Match(library.get_user("Poster"))
