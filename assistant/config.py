"""The settings: one frozen object, read once from the environment and `.env`.

Each setting is a field of `Settings` whose metadata says which variable sets it and what it takes.
An
invalid value never stops anything: the default holds, and `Problem` says which variable was wrong,
what it got and what it takes. What the user sets in the panel (providers) is not here but in `llm`.

A limit of 0 is switched off, for every setting whose unit is characters, messages, rounds or steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dotenv import dotenv_values


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with the configuration, in words for the user."""

    code: str
    message: str
    variable: str | None = None


class _Invalid(ValueError):
    """What a value should have been."""


Parser = Callable[[str], Any]


def _integer(low: int, high: int) -> Parser:
    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise _Invalid(f"a whole number from {low} to {high}") from None
        if not low <= value <= high:
            raise _Invalid(f"a whole number from {low} to {high}")
        return value

    return parse


def _number(low: float, high: float) -> Parser:
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise _Invalid(f"a number from {low:g} to {high:g}") from None
        if not low <= value <= high:
            raise _Invalid(f"a number from {low:g} to {high:g}")
        return value

    return parse


def _choice(*allowed: str) -> Parser:
    def parse(text: str) -> str:
        if text.lower() not in allowed:
            raise _Invalid("one of " + ", ".join(allowed))
        return text.lower()

    return parse


def _switch(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise _Invalid("1 or 0")


def _text(text: str) -> str:
    return text


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _Invalid("a URL such as http://127.0.0.1:11434/v1")
    return text.rstrip("/")


def _list(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _setting(variable: str, default: Any, parse: Parser, about: str) -> Any:
    return field(default=default, metadata={"variable": variable, "parse": parse, "about": about})


MOST = 10_000_000
"""The upper bound of limits that have no natural one."""


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults; each field's metadata has its variable and meaning."""

    # The provider
    openai_api_key: str = _setting(
        "OPENAI_API_KEY", "", _text, "The provider's key, if it wants one."
    )
    openai_base_url: str = _setting(
        "OPENAI_BASE_URL", "", _url, "The provider's address; empty with a key means OpenAI."
    )
    openai_model: str = _setting("OPENAI_MODEL", "", _text, "The model; empty: the server's first.")
    temperature: float | None = _setting(
        "LLM_TEMPERATURE", None, _number(0, 2), "Sampling temperature; empty: the server's own."
    )
    max_output_tokens: int | None = _setting(
        "LLM_MAX_OUTPUT_TOKENS", None, _integer(1, MOST), "Longest answer; empty: the server's own."
    )
    reasoning_effort: str | None = _setting(
        "LLM_REASONING_EFFORT",
        None,
        _choice("none", "minimal", "low", "medium", "high", "xhigh"),
        "How long the model may think; empty: the server's own.",
    )
    gguf: Path | None = _setting(
        "LLM_GGUF", None, _path, "A GGUF file to serve with llama.cpp (package xllamacpp)."
    )
    timeout_seconds: float = _setting(
        "LLM_TIMEOUT_SECONDS",
        120.0,
        _number(1, 3600),
        "Longest silence of the provider, before and within an answer.",
    )

    # The context
    context_window: int | None = _setting(
        "LLM_CONTEXT_WINDOW",
        None,
        _integer(1024, MOST),
        "The model's window in tokens; empty: what the server says, else 32768.",
    )
    system_context_max_chars: int = _setting(
        "LLM_SYSTEM_CONTEXT_MAX_CHARS", 12_000, _integer(0, MOST), "Most of system_context/ (R4)."
    )
    user_context_max_chars: int = _setting(
        "LLM_USER_CONTEXT_MAX_CHARS", 2_500, _integer(0, MOST), "Most of the user context (R6)."
    )
    narrative_max_chars: int = _setting(
        "LLM_NARRATIVE_MAX_CHARS", 1_200, _integer(0, MOST), "Most of SOUL.md and goals.md (R6)."
    )
    max_rules: int = _setting("LLM_MAX_RULES", 12, _integer(0, MOST), "Most rules sent (R6).")
    max_skills_full_chars: int = _setting(
        "MAX_SKILLS_FULL_CHARS",
        1_500,
        _integer(0, MOST),
        "Most skill text that may stand in full where skills are aggregated (R11).",
    )
    continuation_max_chars: int = _setting(
        "LLM_CONTINUATION_MAX_CHARS",
        1_500,
        _integer(0, MOST),
        "Most of the system message of later turns; 0: its first sentence alone (R2).",
    )
    tool_result_keep_last_rounds: int = _setting(
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS",
        2,
        _integer(0, MOST),
        "Rounds whose tool results are sent in full (R14).",
    )
    history_max_messages: int = _setting(
        "LLM_HISTORY_MAX_MESSAGES", 24, _integer(0, MOST), "Most non-system messages sent (R15)."
    )
    tool_output_trim_chars: int = _setting(
        "LLM_TOOL_OUTPUT_TRIM_CHARS",
        2_000,
        _integer(0, MOST),
        "Longest tool result outside the newest round (R17).",
    )
    max_steps: int = _setting(
        "LLM_MAX_STEPS", 25, _integer(0, MOST), "Most requests to the model in one turn."
    )
    prompt_cache: str = _setting(
        "LLM_PROMPT_CACHE",
        "none",
        _choice("none", "auto"),
        "auto: the full system message stays in front on every turn, for servers that cache (R50).",
    )

    # The installation
    user_dir: Path | None = _setting(
        "ASSISTANT_USER_DIR", None, _path, "Where chats, settings and skills are kept."
    )
    token: str = _setting(
        "ASSISTANT_TOKEN", "", _text, "What a client on another machine must know to get in."
    )
    allowed_hosts: tuple[str, ...] = _setting(
        "ASSISTANT_ALLOWED_HOSTS", (), _list, "Host names besides loopback, separated by commas."
    )
    allowed_origins: tuple[str, ...] = _setting(
        "ASSISTANT_ALLOWED_ORIGINS", (), _list, "Origins besides our own, separated by commas."
    )
    discover: bool = _setting(
        "ASSISTANT_DISCOVER", True, _switch, "Look for a local LLM server on its usual port."
    )
    demo_model: bool = _setting(
        "ASSISTANT_DEMO_MODEL", False, _switch, "Serve the demo model when nothing else is there."
    )
    max_streams: int = _setting(
        "ASSISTANT_MAX_STREAMS", 64, _integer(1, 10_000), "Most streams open at a time."
    )


@dataclass(frozen=True, slots=True)
class Loaded:
    settings: Settings
    problems: tuple[Problem, ...]


def load_settings(environ: Mapping[str, str], dotenv: Path | None = None) -> Loaded:
    """The settings from `environ`, then from the file `dotenv`; an empty value means unset.

    Raises nothing: what cannot be read is a `Problem`, and the default holds.
    """
    problems: list[Problem] = []
    values: dict[str, str] = {}
    if dotenv is not None and dotenv.is_file():
        try:
            values.update({k: v for k, v in dotenv_values(dotenv).items() if v})
        except (OSError, UnicodeDecodeError) as error:
            reason = f"{dotenv.name} could not be read ({error}); its settings are not used."
            problems.append(Problem("invalid_setting", reason))
    values.update({name: value for name, value in environ.items() if value})
    chosen: dict[str, Any] = {}
    for setting in dataclasses.fields(Settings):
        variable = setting.metadata["variable"]
        text = values.get(variable, "").strip()
        if not text:
            continue
        try:
            chosen[setting.name] = setting.metadata["parse"](text)
        except _Invalid as allowed:
            got = "a value" if "KEY" in variable or "TOKEN" in variable else repr(text)
            message = (
                f"{variable} is {got} and must be {allowed}; {_words(setting.default)} is used."
            )
            problems.append(Problem("invalid_setting", message, variable))
    return Loaded(Settings(**chosen), tuple(problems))


def _words(default: Any) -> str:
    return "nothing" if default in (None, "", ()) else str(default)
