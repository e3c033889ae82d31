"""Settings from the environment and `.env`: each variable is parsed, and an invalid value stops
nothing."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.environment import PROVIDER_VARIABLES, Loaded, load_settings
from plugin.assistant.formats import Rates

FIELDS = {field.metadata["variable"]: field for field in dataclasses.fields(Settings)}
KEY = "sk-Ab12Cd34Ef56Gh78Ij90Kl12"

# Variable -> a valid text, and the value of that text.
GOOD: dict[str, tuple[str, Any]] = {
    "OPENAI_API_KEY": (KEY, KEY),
    "OPENAI_BASE_URL": ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
    "OPENAI_MODEL": ("qwen3:8b", "qwen3:8b"),
    "LLM_TEMPERATURE": ("0.7", 0.7),
    "LLM_MAX_OUTPUT_TOKENS": ("2048", 2048),
    "LLM_REASONING_EFFORT": ("High", "high"),
    "LLM_GGUF": ("models/small.gguf", Path("models/small.gguf")),
    "LLM_TIMEOUT_SECONDS": ("30", 30.0),
    "LLM_MAX_LINE_BYTES": ("65536", 65_536),
    "LLM_MAX_CALLS_PER_ROUND": ("8", 8),
    "LLM_MAX_ARGUMENT_BYTES": ("1000", 1_000),
    "LLM_MAX_ANSWER_BYTES": ("1000000000", 1_000_000_000),
    "LLM_MAX_REASONING_BYTES": ("1", 1),
    "LLM_CONTEXT_WINDOW": ("131072", 131_072),
    "LLM_SYSTEM_CONTEXT_MAX_CHARS": ("0", 0),
    "LLM_USER_CONTEXT_MAX_CHARS": ("5000", 5000),
    "LLM_NARRATIVE_MAX_CHARS": ("600", 600),
    "LLM_MAX_RULES": ("3", 3),
    "MAX_SKILLS_FULL_CHARS": ("0", 0),
    "LLM_CONTINUATION_MAX_CHARS": ("0", 0),
    "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS": ("1", 1),
    "LLM_HISTORY_MAX_MESSAGES": ("100", 100),
    "LLM_TOOL_OUTPUT_TRIM_CHARS": ("500", 500),
    "LLM_SUMMARY": ("Model", "model"),
    "LLM_SUMMARY_MODEL": ("small", "small"),
    "LLM_SUMMARY_TRIGGER": ("0.5", 0.5),
    "LLM_SUMMARY_TARGET": ("0.25", 0.25),
    "LLM_SUMMARY_MAX_TOKENS": ("0", 0),
    "LLM_SUMMARY_MAX_MESSAGES": ("0", 0),
    "LLM_SUMMARY_MAX_TURNS": ("5", 5),
    "LLM_SUMMARY_SHARE": ("0.2", 0.2),
    "LLM_SUMMARY_TIMEOUT": ("5", 5.0),
    "LLM_KEEP_LAST_TURNS": ("1", 1),
    "LLM_RESPONSE_RESERVE": ("2000", 2_000),
    "LLM_MIN_RECENT_MESSAGES": ("4", 4),
    "LLM_MAX_STEPS": ("5", 5),
    "LLM_REPEAT_MIN_CHARS": ("0", 0),
    "LLM_WRAP_UP_SHARE": ("0.8", 0.8),
    "LLM_RECALL_TOKENS": ("600", 600),
    "LLM_TAIL_TOKENS": ("900", 900),
    "LLM_PRICES": ('{"mine": "2/0.2/8"}', {"mine": Rates(2.0, 0.2, 8.0)}),
    "LLM_PROMPT_CACHE": ("AUTO", "auto"),
    "ASSISTANT_USER_DIR": ("data", Path("data")),
    "ASSISTANT_TOKEN": ("a secret", "a secret"),
    "ASSISTANT_ALLOWED_HOSTS": ("nas.local, 192.168.1.5,", ("nas.local", "192.168.1.5")),
    "ASSISTANT_ALLOWED_ORIGINS": ("https://nas.example", ("https://nas.example",)),
    "ASSISTANT_DISCOVER": ("no", False),
    "ASSISTANT_ALLOW_LINK_LOCAL": ("1", True),
    "ASSISTANT_DEMO_MODEL": ("on", True),
    "ASSISTANT_TITLES": ("model", "model"),
    "ASSISTANT_MEMORY": ("manual", "manual"),
    "ASSISTANT_MEMORY_AFTER": ("3", 3),
    "ASSISTANT_MEMORY_LIMIT": ("0", 0),
    "ASSISTANT_MAX_STREAMS": ("8", 8),
    "ASSISTANT_MAX_TURNS": ("8", 8),
    "ASSISTANT_MAX_TEMPORARY_CHATS": ("3", 3),
    "ASSISTANT_STALLED_SECONDS": ("7.5", 7.5),
    "ASSISTANT_MAX_JSON_VALUES": ("5000", 5000),
}

# Variable -> invalid texts.
BAD: dict[str, tuple[str, ...]] = {
    "OPENAI_BASE_URL": ("localhost:11434", "ftp://host/v1", "http://", "http://[::1"),
    "LLM_TEMPERATURE": ("hot", "-1", "3", "nan", "inf"),
    "LLM_MAX_OUTPUT_TOKENS": ("0", "many", "1.5", "99999999"),
    "LLM_REASONING_EFFORT": ("very",),
    "LLM_GGUF": ("~nobody-of-this-name/file.gguf",),
    "LLM_TIMEOUT_SECONDS": ("0", "soon"),
    "LLM_MAX_LINE_BYTES": ("0", "16 MB"),
    "LLM_MAX_CALLS_PER_ROUND": ("0", "-1", "all"),
    "LLM_MAX_ARGUMENT_BYTES": ("0", "1.5"),
    "LLM_MAX_ANSWER_BYTES": ("0", "10000000000"),
    "LLM_MAX_REASONING_BYTES": ("0", "none"),
    "LLM_CONTEXT_WINDOW": ("512", "32k"),
    "LLM_SYSTEM_CONTEXT_MAX_CHARS": ("-1", "12k"),
    "LLM_USER_CONTEXT_MAX_CHARS": ("-1",),
    "LLM_NARRATIVE_MAX_CHARS": ("-1",),
    "LLM_MAX_RULES": ("-1",),
    "MAX_SKILLS_FULL_CHARS": ("-1",),
    "LLM_CONTINUATION_MAX_CHARS": ("-1",),
    "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS": ("-1",),
    "LLM_HISTORY_MAX_MESSAGES": ("-1", "all"),
    "LLM_TOOL_OUTPUT_TRIM_CHARS": ("-1",),
    "LLM_SUMMARY": ("sometimes",),
    "LLM_SUMMARY_TRIGGER": ("0", "2", "70 %"),
    "LLM_SUMMARY_TARGET": ("1",),
    "LLM_SUMMARY_MAX_TOKENS": ("-1",),
    "LLM_SUMMARY_MAX_MESSAGES": ("-1",),
    "LLM_SUMMARY_MAX_TURNS": ("-1",),
    "LLM_SUMMARY_SHARE": ("0", "1"),
    "LLM_SUMMARY_TIMEOUT": ("0",),
    "LLM_KEEP_LAST_TURNS": ("-1",),
    "LLM_RESPONSE_RESERVE": ("-1",),
    "LLM_MIN_RECENT_MESSAGES": ("-1", "5000"),
    "LLM_MAX_STEPS": ("-1",),
    "LLM_REPEAT_MIN_CHARS": ("-1",),
    "LLM_WRAP_UP_SHARE": ("90", "-0.1"),
    "LLM_RECALL_TOKENS": ("-1", "some"),
    "LLM_TAIL_TOKENS": ("-1", "all"),
    "LLM_PRICES": ("free", "1/2", "1/-2/3", "1/nan/3", "{", '{"mine": 3}', '{"mine": {}}'),
    "LLM_PROMPT_CACHE": ("always",),
    "ASSISTANT_USER_DIR": ("~nobody-of-this-name",),
    "ASSISTANT_DISCOVER": ("maybe",),
    "ASSISTANT_ALLOW_LINK_LOCAL": ("sometimes",),
    "ASSISTANT_DEMO_MODEL": ("2",),
    "ASSISTANT_TITLES": ("auto", "on"),
    "ASSISTANT_MEMORY": ("on", "none"),
    "ASSISTANT_MEMORY_AFTER": ("0", "often"),
    "ASSISTANT_MEMORY_LIMIT": ("-1", "101"),
    "ASSISTANT_MAX_STREAMS": ("0",),
    "ASSISTANT_MAX_TURNS": ("0",),
    "ASSISTANT_MAX_TEMPORARY_CHATS": ("0",),
    "ASSISTANT_STALLED_SECONDS": ("0", "soon"),
    "ASSISTANT_MAX_JSON_VALUES": ("999", "lots"),
}
# These variables allow any text; the entries of the two lists are checked where they are used.
TAKES_ANYTHING = {
    "OPENAI_API_KEY",
    "OPENAI_MODEL",
    "LLM_SUMMARY_MODEL",
    "ASSISTANT_TOKEN",
    "ASSISTANT_ALLOWED_HOSTS",
    "ASSISTANT_ALLOWED_ORIGINS",
}
WRONG = [(variable, text) for variable, texts in BAD.items() for text in texts]


def value_of(loaded: Loaded, variable: str) -> Any:
    return getattr(loaded.settings, FIELDS[variable].name)


def test_every_setting_is_tested() -> None:
    assert set(GOOD) == set(FIELDS)
    assert set(BAD) == set(FIELDS) - TAKES_ANYTHING


@pytest.mark.parametrize("variable", FIELDS)
def test_a_setting_takes_its_value(variable: str) -> None:
    text, value = GOOD[variable]
    loaded = load_settings({variable: text})
    assert value_of(loaded, variable) == value
    assert loaded.problems == ()


@pytest.mark.parametrize(("variable", "text"), WRONG)
def test_the_default_holds_and_the_problem_says_what_is_allowed(variable: str, text: str) -> None:
    loaded = load_settings({variable: text})
    assert loaded.settings == Settings()
    (problem,) = loaded.problems
    assert problem.variable == variable
    assert problem.message.startswith(f"{variable} is ")
    assert FIELDS[variable].metadata["format"].takes in problem.message


def test_a_problem_says_what_it_got_and_what_is_used_instead() -> None:
    (problem,) = load_settings({"LLM_MAX_STEPS": "lots"}).problems
    assert problem.message == (
        "LLM_MAX_STEPS is 'lots' and must be a whole number from 0 to 10,000,000; 25 is used."
    )
    (problem,) = load_settings({"LLM_TEMPERATURE": "hot"}).problems
    assert problem.message.endswith("; it counts as not set.")


def test_a_short_key_that_stands_in_the_address_too_is_not_repeated() -> None:
    for variable in ("OPENAI_API_KEY", "ASSISTANT_TOKEN"):
        loaded = load_settings({variable: "sk-short-1", "OPENAI_BASE_URL": "sk-short-1"})
        assert loaded.problems
        assert not any("sk-short-1" in problem.message for problem in loaded.problems)


@pytest.mark.parametrize("variable", BAD)
@pytest.mark.parametrize("text", [KEY, "http://me:hunter2@/v1"])
def test_a_key_in_the_wrong_variable_is_not_repeated(variable: str, text: str) -> None:
    for problem in load_settings({variable: text}).problems:
        assert text not in problem.message
        assert "hunter2" not in problem.message


def test_one_wrong_setting_does_not_spoil_the_others() -> None:
    loaded = load_settings({"LLM_MAX_STEPS": "lots", "LLM_MAX_RULES": "3"})
    assert loaded.settings == Settings(max_rules=3)
    assert len(loaded.problems) == 1


@pytest.mark.parametrize("variable", FIELDS)
def test_an_empty_value_means_unset(variable: str) -> None:
    assert load_settings({variable: ""}) == Loaded(Settings(), ())
    assert load_settings({variable: "  "}) == Loaded(Settings(), ())


def test_the_environment_beats_the_file(tmp_path: Path) -> None:
    file = dotenv(tmp_path, "OPENAI_MODEL=of-the-file\nLLM_MAX_STEPS=7\n")
    loaded = load_settings({"OPENAI_MODEL": "of-the-environment"}, file)
    assert loaded.settings.openai_model == "of-the-environment"
    assert loaded.settings.max_steps == 7


def test_an_empty_variable_leaves_the_files_value(tmp_path: Path) -> None:
    file = dotenv(tmp_path, "OPENAI_MODEL=of-the-file\n")
    assert load_settings({"OPENAI_MODEL": ""}, file).settings.openai_model == "of-the-file"


def test_a_file_with_a_byte_order_mark_keeps_its_first_line(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"\xef\xbb\xbfOPENAI_MODEL=first\r\nLLM_MAX_STEPS=7\r\n")
    assert load_settings({}, file).settings == Settings(openai_model="first", max_steps=7)


def test_a_missing_file_is_no_problem(tmp_path: Path) -> None:
    assert load_settings({}, tmp_path / ".env") == Loaded(Settings(), ())


def test_a_file_that_is_no_text_is_reported_and_nothing_else_fails(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"OPENAI_API_KEY=\xff\xfe")
    loaded = load_settings({"LLM_MAX_STEPS": "7"}, file)
    assert loaded.settings == Settings(max_steps=7)
    (problem,) = loaded.problems
    assert problem.message == (
        ".env could not be read (it is not UTF-8 text); its settings are not used."
    )


def test_a_file_that_may_not_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    file = dotenv(tmp_path, "LLM_MAX_STEPS=7\n")
    monkeypatch.setattr(Path, "open", refuse)
    loaded = load_settings({}, file)
    assert loaded.settings == Settings()
    assert "Permission denied" in loaded.problems[0].message


@pytest.mark.parametrize(
    ("text", "message", "variable", "hides"),
    [
        (
            'OPENAI_BASE_URL="http://host/v1',
            ".env, line 1 (OPENAI_BASE_URL), could not be read: a quote is not closed; it is not "
            "used.",
            "OPENAI_BASE_URL",
            True,
        ),
        (
            "LLM_MAX_STEPS 7",
            ".env, line 1 (LLM_MAX_STEPS), could not be read: it is not of the form NAME=value; it "
            "is not used.",
            "LLM_MAX_STEPS",
            False,
        ),
        (
            "http://host/v1",
            ".env, line 1, could not be read: it is not of the form NAME=value; it is not used.",
            None,
            True,
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_a_problem_with_its_number(
    tmp_path: Path, text: str, message: str, variable: str | None, hides: bool
) -> None:
    (problem,) = load_settings({}, dotenv(tmp_path, text)).problems
    assert (problem.message, problem.variable) == (message, variable)
    assert problem.hides_provider is hides


@pytest.mark.parametrize(
    ("environ", "text", "hides"),
    [
        ({}, "OPENAI_BASE_URL=http://a/v1\nOPENAI_API_KEY sk-1", True),
        ({}, "OPENAI_BASE_URL=http://a/v1\nOPENAI_MODEL m", True),
        ({}, "OPENAI_BASE_URL=http://a/v1\nsome words", False),
        ({"OPENAI_BASE_URL": "http://a/v1"}, "OPENAI_BASE_URL http://b/v1", False),
        ({"OPENAI_API_KEY": "sk-1"}, "OPENAI_BASE_URL http://b/v1", True),
        ({"OPENAI_API_KEY": "sk-1"}, "LLM_GGUF /a/b.gguf", False),
        ({}, "LLM_GGUF /a/b.gguf", True),
        ({"OPENAI_BASE_URL": "http://a/v1"}, "ASSISTANT_USER_DIR /a", True),
    ],
)
def test_a_lost_line_hides_the_provider_where_it_may_have_named_it(
    tmp_path: Path, environ: dict[str, str], text: str, hides: bool
) -> None:
    (problem,) = load_settings(environ, dotenv(tmp_path, text)).problems
    assert problem.hides_provider is hides


@pytest.mark.parametrize("variable", sorted(PROVIDER_VARIABLES & set(BAD)))
def test_nothing_takes_the_place_of_a_provider_that_cannot_be_used(variable: str) -> None:
    (problem,) = load_settings({variable: BAD[variable][0]}).problems
    assert problem.hides_provider
    assert problem.message.endswith("; nothing else is used in its place.")


@pytest.mark.parametrize("name", ["OPENAI_API_BASE", "OPENAI_BASEURL", "OPENAI_HOST"])
def test_an_address_under_another_name_is_told_where_it_matters(tmp_path: Path, name: str) -> None:
    (problem,) = load_settings({name: "http://a/v1", "OPENAI_API_KEY": KEY}).problems
    assert problem.hides_provider and problem.message.startswith(f"{name} is not read")
    (problem,) = load_settings({}, dotenv(tmp_path, f"{name}=http://a/v1")).problems
    assert problem.hides_provider
    assert load_settings({name: "http://a/v1"}).problems == ()
    ours = {name: "http://a/v1", "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://b/v1"}
    assert load_settings(ours).problems == ()


def test_a_path_of_windows_is_read_as_it_stands(tmp_path: Path) -> None:
    file = dotenv(tmp_path, r'''ASSISTANT_USER_DIR="C:\Users\tom\new"''' + "\n")
    assert load_settings({}, file) == Loaded(Settings(user_dir=Path(r"C:\Users\tom\new")), ())


@pytest.mark.parametrize("quoted", ['"data"', "'data'", ' "data" '])
def test_quotes_that_a_shell_left_around_a_value_are_no_part_of_it(quoted: str) -> None:
    loaded = load_settings({"ASSISTANT_USER_DIR": quoted, "OPENAI_API_KEY": f'"{KEY}"'})
    assert loaded.settings == Settings(user_dir=Path("data"), openai_api_key=KEY)


@pytest.mark.parametrize("text", ["da\tta", "da\nta", "da\x00ta", "da\x7fta"])
def test_a_control_character_is_a_problem(text: str) -> None:
    loaded = load_settings({"ASSISTANT_USER_DIR": text})
    assert loaded.settings == Settings()
    (problem,) = loaded.problems
    assert "must be without control characters" in problem.message
    assert problem.message.isprintable()


def dotenv(folder: Path, text: str) -> Path:
    file = folder / ".env"
    file.write_text(text, encoding="utf-8")
    return file
