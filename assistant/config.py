"""The settings: one frozen object, read once from the environment and `.env`.

Each setting is a field of `Settings` whose metadata says which variable sets it, what it is and
what it takes; `.env.example` and `docs/configuration.md` are made from that. An invalid value never
stops anything: the default holds, and `Problem` says which variable was wrong, what it got and what
it takes. What the user sets in the panel (providers) is not here but in `llm`.

A limit of 0 is switched off, for every setting whose unit is characters, messages, rounds or steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from .formats import (
    NAMES,
    PATH,
    PRICES,
    SWITCH,
    TEXT,
    URL,
    Format,
    Rates,
    choice,
    integer,
    number,
    shown,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with the configuration, in words for the user."""

    code: str
    message: str
    variable: str | None = None


PROVIDER = "The provider"
CONTEXT = "What the model is sent"
INSTALLATION = "The installation"
TEMPERATURES = (0, 2)
REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


def _setting(
    section: str, variable: str, default: Any, format: Format, about: str, unit: str = ""
) -> Any:
    """A field with its metadata; `unit` is of the number, where it is one."""
    metadata = {"section": section, "variable": variable, "format": format, "about": about}
    return field(default=default, metadata={**metadata, "unit": unit})


MOST = 10_000_000
"""The upper bound of limits that have no natural one."""


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults; each field's metadata has its variable and meaning."""

    openai_api_key: str = _setting(
        PROVIDER,
        "OPENAI_API_KEY",
        "",
        TEXT,
        "The provider's key, if it wants one. It is sent to OPENAI_BASE_URL and nowhere else.",
    )
    openai_base_url: str = _setting(
        PROVIDER, "OPENAI_BASE_URL", "", URL, "The provider's address. Empty with a key: OpenAI."
    )
    openai_model: str = _setting(
        PROVIDER, "OPENAI_MODEL", "", TEXT, "The model. Empty: the first that the server has."
    )
    temperature: float | None = _setting(
        PROVIDER,
        "LLM_TEMPERATURE",
        None,
        number(*TEMPERATURES),
        "Sampling temperature. Empty: the server's own.",
    )
    max_output_tokens: int | None = _setting(
        PROVIDER,
        "LLM_MAX_OUTPUT_TOKENS",
        None,
        integer(1, MOST),
        "The longest answer. Empty: the server's own.",
        "tokens",
    )
    reasoning_effort: str | None = _setting(
        PROVIDER,
        "LLM_REASONING_EFFORT",
        None,
        choice(*REASONING_EFFORTS),
        "How long the model may think. Empty: the server's own.",
    )
    gguf: Path | None = _setting(
        PROVIDER,
        "LLM_GGUF",
        None,
        PATH,
        "A GGUF file to serve with llama.cpp (needs the package xllamacpp).",
    )
    timeout_seconds: float = _setting(
        PROVIDER,
        "LLM_TIMEOUT_SECONDS",
        120.0,
        number(1, 3600),
        "The longest silence of the provider, before and within an answer.",
        "seconds",
    )

    context_window: int | None = _setting(
        CONTEXT,
        "LLM_CONTEXT_WINDOW",
        None,
        integer(1024, MOST),
        "The model's window. Empty: what a local server says, else 32768.",
        "tokens",
    )
    system_context_max_chars: int = _setting(
        CONTEXT,
        "LLM_SYSTEM_CONTEXT_MAX_CHARS",
        12_000,
        integer(0, MOST),
        "The most of what we ship about ComfyUI (system_context/) in a system message (R4).",
        "characters",
    )
    user_context_max_chars: int = _setting(
        CONTEXT,
        "LLM_USER_CONTEXT_MAX_CHARS",
        2_500,
        integer(0, MOST),
        "The most of your rules, SOUL.md, goals.md and preferences together (R6).",
        "characters",
    )
    narrative_max_chars: int = _setting(
        CONTEXT,
        "LLM_NARRATIVE_MAX_CHARS",
        1_200,
        integer(0, MOST),
        "The most of SOUL.md and goals.md together (R6).",
        "characters",
    )
    max_rules: int = _setting(
        CONTEXT, "LLM_MAX_RULES", 12, integer(0, MOST), "The most of your rules (R6).", "rules"
    )
    max_skills_full_chars: int = _setting(
        CONTEXT,
        "MAX_SKILLS_FULL_CHARS",
        1_500,
        integer(0, MOST),
        "The most text of pinned skills that may stand in full; above it their summaries (R11).",
        "characters",
    )
    continuation_max_chars: int = _setting(
        CONTEXT,
        "LLM_CONTINUATION_MAX_CHARS",
        1_500,
        integer(0, MOST),
        "The most of the system message of later turns; 0: its first sentence alone (R2).",
        "characters",
    )
    tool_result_keep_last_rounds: int = _setting(
        CONTEXT,
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS",
        2,
        integer(0, MOST),
        "The newest rounds whose tool results are sent in full; older ones become one line (R14).",
        "rounds",
    )
    history_max_messages: int = _setting(
        CONTEXT,
        "LLM_HISTORY_MAX_MESSAGES",
        24,
        integer(0, MOST),
        "The most messages of the chat in a request, the system message not counted (R15).",
        "messages",
    )
    tool_output_trim_chars: int = _setting(
        CONTEXT,
        "LLM_TOOL_OUTPUT_TRIM_CHARS",
        2_000,
        integer(0, MOST),
        "The longest tool result outside the newest round; longer ones lose their middle (R17).",
        "characters",
    )
    repeat_min_chars: int = _setting(
        CONTEXT,
        "LLM_REPEAT_MIN_CHARS",
        400,
        integer(0, MOST),
        "A tool result or skill of so many characters that a request has twice is sent once (R18).",
        "characters",
    )
    summary: str = _setting(
        CONTEXT,
        "LLM_SUMMARY",
        "auto",
        choice("auto", "extractive", "model", "off"),
        "Who summarises what is cut: auto (at once by rule, then a model when the chat is idle), "
        "extractive (by rule), model, off (R21).",
    )
    summary_model: str = _setting(
        CONTEXT, "LLM_SUMMARY_MODEL", "", TEXT, "Who summarises; empty: the chat's model (R25)."
    )
    summary_trigger: float = _setting(
        CONTEXT,
        "LLM_SUMMARY_TRIGGER",
        0.70,
        number(0.1, 1),
        "Share of the prompt's room from which on old messages are summarised (R21).",
    )
    summary_target: float = _setting(
        CONTEXT,
        "LLM_SUMMARY_TARGET",
        0.40,
        number(0.05, 0.95),
        "Share of the prompt's room that a summary aims at (R21).",
    )
    summary_max_tokens: int = _setting(
        CONTEXT,
        "LLM_SUMMARY_MAX_TOKENS",
        128_000,
        integer(0, MOST),
        "Tokens from which on old messages are summarised in any window (R21).",
        "tokens",
    )
    summary_max_messages: int = _setting(
        CONTEXT,
        "LLM_SUMMARY_MAX_MESSAGES",
        30,
        integer(0, MOST),
        "Messages since the last summary from which on the next one is made (R21).",
        "messages",
    )
    summary_max_turns: int = _setting(
        CONTEXT,
        "LLM_SUMMARY_MAX_TURNS",
        20,
        integer(0, MOST),
        "Turns since the last summary from which on the next one is made (R21).",
        "turns",
    )
    min_recent_messages: int = _setting(
        CONTEXT,
        "LLM_MIN_RECENT_MESSAGES",
        6,
        integer(0, 1000),
        "Newest messages that a summary leaves as they are (R20).",
        "messages",
    )
    max_steps: int = _setting(
        CONTEXT,
        "LLM_MAX_STEPS",
        25,
        integer(0, MOST),
        "The most requests to the model in one turn.",
        "steps",
    )
    wrap_up_share: float = _setting(
        CONTEXT,
        "LLM_WRAP_UP_SHARE",
        0.90,
        number(0, 1),
        "Share of the window's room at which a turn's model is told to finish; 0: never (R30).",
    )
    recall_tokens: int = _setting(
        CONTEXT,
        "LLM_RECALL_TOKENS",
        0,
        integer(0, MOST),
        "The most of what was cut that is shown again because it fits your message; 0: nothing.",
        "tokens",
    )
    prices: Mapping[str, Rates] | None = _setting(
        CONTEXT, "LLM_PRICES", None, PRICES, "What a million tokens costs in USD. Empty: our list."
    )
    prompt_cache: str = _setting(
        CONTEXT,
        "LLM_PROMPT_CACHE",
        "none",
        choice("none", "auto"),
        "auto: the full system message stays in front on every turn, for servers that cache (R50).",
    )

    user_dir: Path | None = _setting(
        INSTALLATION,
        "ASSISTANT_USER_DIR",
        None,
        PATH,
        "Where chats, skills and provider settings are kept. Empty: in ComfyUI's user folder.",
    )
    token: str = _setting(
        INSTALLATION,
        "ASSISTANT_TOKEN",
        "",
        TEXT,
        "What a browser on another machine must enter once to get in. Empty: nobody gets in there.",
    )
    allowed_hosts: tuple[str, ...] = _setting(
        INSTALLATION,
        "ASSISTANT_ALLOWED_HOSTS",
        (),
        NAMES,
        "Names or addresses besides localhost by which ComfyUI is opened, such as nas.local.",
    )
    allowed_origins: tuple[str, ...] = _setting(
        INSTALLATION,
        "ASSISTANT_ALLOWED_ORIGINS",
        (),
        NAMES,
        "Addresses of ComfyUI's page behind a TLS proxy, such as https://nas.example.",
    )
    discover: bool = _setting(
        INSTALLATION,
        "ASSISTANT_DISCOVER",
        True,
        SWITCH,
        "Look for an LLM server on this machine: Ollama, LM Studio, llama.cpp, vLLM.",
    )
    demo_model: bool = _setting(
        INSTALLATION,
        "ASSISTANT_DEMO_MODEL",
        False,
        SWITCH,
        "Serve the demo model when nothing else is there. scripts/run.py sets it by itself.",
    )
    titles: str = _setting(
        INSTALLATION,
        "ASSISTANT_TITLES",
        "rule",
        choice("rule", "model"),
        "Who names a chat: rule (its first message, at once, no call), model (one short request "
        "when the chat is idle after its first answer). A name that you give stays.",
    )
    max_streams: int = _setting(
        INSTALLATION,
        "ASSISTANT_MAX_STREAMS",
        64,
        integer(1, 10_000),
        "The most answers, chats and lists that may be followed at a time, by all together.",
        "streams",
    )


@dataclass(frozen=True, slots=True)
class Loaded:
    settings: Settings
    problems: tuple[Problem, ...]


def load_settings(environ: Mapping[str, str], dotenv: Path | None = None) -> Loaded:
    """The settings from `environ`, then from the file `dotenv`; an empty value means unset.

    Raises nothing: what cannot be read is a `Problem`, and the default holds.
    """
    values, problems = _read(dotenv) if dotenv is not None else ({}, [])
    values.update({name: value for name, value in environ.items() if value})
    chosen: dict[str, Any] = {}
    for setting in dataclasses.fields(Settings):
        variable, format = setting.metadata["variable"], setting.metadata["format"]
        text = values.get(variable, "").strip()
        if not text:
            continue
        try:
            chosen[setting.name] = format.parse(text)
        except (ValueError, RuntimeError):
            message = (
                f"{variable} is {shown(text)} and must be {format.takes};"
                f" {_instead(setting.default)}."
            )
            problems.append(Problem("invalid_setting", message, variable))
    return Loaded(Settings(**chosen), tuple(problems))


def _read(dotenv: Path) -> tuple[dict[str, str], list[Problem]]:
    """The values in a `.env` file; editors of Windows begin it with a byte order mark."""
    try:
        if not dotenv.is_file():
            return {}, []
        found = dotenv_values(dotenv, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"{dotenv.name} could not be read ({reason}); its settings are not used."
        return {}, [Problem("invalid_setting", message)]
    return {name: value for name, value in found.items() if value}, []


def _instead(default: Any) -> str:
    return "it counts as not set" if default in (None, "", ()) else f"{default} is used"
