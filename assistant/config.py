"""The settings: one frozen object, made once when ComfyUI starts.

Each setting is a field of `Settings`; those of the provider are in `provider_settings`. Its
metadata holds the variable that sets it, its meaning and its format;
`scripts/make_config_docs.py` makes `.env.example` and `docs/configuration.md` from that.
`environment` reads them. Providers that the user enters in the panel are stored by `llm/book.py`.

The value 0 switches a limit off, for every setting whose unit is characters, messages, rounds or
steps. A comment beside a field names its row in `docs/requirements.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .formats import (
    CONTEXT,
    INSTALLATION,
    MOST,
    NAMES,
    PATH,
    PRICES,
    SWITCH,
    TEXT,
    Rates,
    choice,
    integer,
    limit,
    mode,
    number,
    share,
)
from .formats import setting as _setting
from .provider_settings import REASONING_EFFORTS, TEMPERATURES, ProviderSettings

__all__ = ["REASONING_EFFORTS", "TEMPERATURES", "Settings"]


@dataclass(frozen=True)
class Settings(ProviderSettings):
    """All settings with their defaults."""

    context_window: int | None = _setting(
        CONTEXT,
        "LLM_CONTEXT_WINDOW",
        None,
        integer(1024, MOST),
        "The model's context window. Empty: the window that a local server reports, else 32768.",
        "tokens",
    )
    system_context_max_chars: int = limit(  # R4
        "LLM_SYSTEM_CONTEXT_MAX_CHARS",
        12_000,
        "The longest text of system_context/ (shipped facts about ComfyUI) in a system message.",
        "characters",
    )
    user_context_max_chars: int = limit(  # R6
        "LLM_USER_CONTEXT_MAX_CHARS",
        2_500,
        "The longest text of your rules, SOUL.md, goals.md and preferences together.",
        "characters",
    )
    narrative_max_chars: int = limit(  # R6
        "LLM_NARRATIVE_MAX_CHARS",
        1_200,
        "The longest text of SOUL.md and goals.md together.",
        "characters",
    )
    max_rules: int = limit(  # R6
        "LLM_MAX_RULES", 12, "How many of your rules are sent.", "rules"
    )
    max_skills_full_chars: int = limit(  # R11
        "MAX_SKILLS_FULL_CHARS",
        1_500,
        "The longest text of skills in use that later turns have in full; longer ones become "
        "a line each.",
        "characters",
    )
    continuation_max_chars: int = limit(  # R2
        "LLM_CONTINUATION_MAX_CHARS",
        1_500,
        "The longest system message of later turns; 0: its first sentence alone.",
        "characters",
    )
    tool_result_keep_last_rounds: int = limit(  # R14
        "LLM_TOOL_RESULT_KEEP_LAST_ROUNDS",
        2,
        "How many of the newest rounds keep full tool results; older results become one line.",
        "rounds",
    )
    history_max_messages: int = limit(  # R15
        "LLM_HISTORY_MAX_MESSAGES",
        24,
        "How many messages of the chat a request has at most, the system message not counted.",
        "messages",
    )
    tool_output_trim_chars: int = limit(  # R17
        "LLM_TOOL_OUTPUT_TRIM_CHARS",
        2_000,
        "The longest tool result outside the newest round; a longer result loses its middle.",
        "characters",
    )
    repeat_min_chars: int = limit(  # R18
        "LLM_REPEAT_MIN_CHARS",
        400,
        "A tool result or skill of at least this length that a request has twice is sent once.",
        "characters",
    )
    summary: str = _setting(  # R21
        CONTEXT,
        "LLM_SUMMARY",
        "auto",
        choice("auto", "extractive", "model", "off"),
        "How cut messages are summarised: auto (by rule at once, by a model when a chat is idle), "
        "extractive (by rule), model (the next request waits for the model), off (no summary).",
    )
    summary_model: str = _setting(  # R25
        CONTEXT,
        "LLM_SUMMARY_MODEL",
        "",
        TEXT,
        "The model that summarises. Empty: the chat's model.",
    )
    summary_trigger: float = share(  # R21
        "LLM_SUMMARY_TRIGGER",
        0.70,
        0.1,
        1,
        "Old messages are summarised when the prompt fills more than this share of its room.",
    )
    summary_target: float = share(  # R21
        "LLM_SUMMARY_TARGET",
        0.40,
        0.05,
        0.95,
        "The share of the prompt's room that is filled after a summary.",
    )
    summary_max_tokens: int = limit(  # R21
        "LLM_SUMMARY_MAX_TOKENS",
        128_000,
        "Old messages are summarised over this number of tokens, in any window.",
        "tokens",
    )
    summary_max_messages: int = limit(  # R21
        "LLM_SUMMARY_MAX_MESSAGES",
        30,
        "A summary is made when more messages than this came since the last one; not where prompts "
        "are cached, and LLM_HISTORY_MAX_MESSAGES comes first unless it is 0 or larger.",
        "messages",
    )
    summary_max_turns: int = limit(  # R21
        "LLM_SUMMARY_MAX_TURNS",
        20,
        "A summary is made when more turns than this came since the last one; not where prompts "
        "are cached, and LLM_HISTORY_MAX_MESSAGES comes first unless it is 0 or larger.",
        "turns",
    )
    summary_share: float = share(  # R20
        "LLM_SUMMARY_SHARE",
        0.30,
        0.05,
        0.9,
        "The most that a summary has of the room that system message and tools leave.",
    )
    summary_timeout: float = _setting(  # R21
        CONTEXT,
        "LLM_SUMMARY_TIMEOUT",
        20.0,
        number(1, 600),
        "How long a cut waits for the model's summary, with LLM_SUMMARY=model.",
        "seconds",
    )
    keep_last_turns: int = limit(  # R22
        "LLM_KEEP_LAST_TURNS",
        2,
        "How many of the newest turns a summary leaves whole, as far as the other limits allow.",
        "turns",
    )
    response_reserve: int = limit(  # R20
        "LLM_RESPONSE_RESERVE",
        4_096,
        "What is kept free for the answer: at most a quarter of the window, and never less than "
        "LLM_MAX_OUTPUT_TOKENS.",
        "tokens",
    )
    min_recent_messages: int = _setting(  # R20
        CONTEXT,
        "LLM_MIN_RECENT_MESSAGES",
        6,
        integer(0, 1000),
        "How many of the newest messages a summary leaves as they are.",
        "messages",
    )
    max_steps: int = limit(
        "LLM_MAX_STEPS",
        25,
        "How many requests to the model one turn has at most.",
        "steps",
    )
    wrap_up_share: float = share(  # R30
        "LLM_WRAP_UP_SHARE",
        0.90,
        0,
        1,
        "The model is asked to finish when its turn fills this share of the window; 0: never.",
    )
    recall_tokens: int = limit(
        "LLM_RECALL_TOKENS",
        1_600,
        "The longest text of cut messages that is sent again to fit your new message; 0: none.",
        "tokens",
    )
    tail_tokens: int | None = _setting(  # R56
        CONTEXT,
        "LLM_TAIL_TOKENS",
        None,
        integer(0, MOST),
        "The most that one turn adds to its requests: events, recalled messages and the like. "
        "Empty: an eighth of the window, from 800 to 2,400, and at most a quarter of its room.",
        "tokens",
    )
    prices: Mapping[str, Rates] | None = _setting(
        CONTEXT,
        "LLM_PRICES",
        None,
        PRICES,
        "The price of a million tokens in USD. Empty: the shipped price list.",
    )
    prompt_cache: str = _setting(  # R50
        CONTEXT,
        "LLM_PROMPT_CACHE",
        "none",
        choice("none", "auto"),
        "auto: the full system message stays in front on every turn, for servers that cache "
        "prompts; none: shorter requests, for servers that cache nothing.",
    )

    user_dir: Path | None = _setting(
        INSTALLATION,
        "ASSISTANT_USER_DIR",
        None,
        PATH,
        "The folder of chats, skills and provider settings. Empty: in ComfyUI's user folder.",
    )
    token: str = _setting(
        INSTALLATION,
        "ASSISTANT_TOKEN",
        "",
        TEXT,
        "The text that a browser on another machine must enter once. Empty: none is let in.",
    )
    allowed_hosts: tuple[str, ...] = _setting(
        INSTALLATION,
        "ASSISTANT_ALLOWED_HOSTS",
        (),
        NAMES,
        "Names or addresses of ComfyUI besides localhost, such as nas.local.",
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
    allow_link_local: bool = _setting(
        INSTALLATION,
        "ASSISTANT_ALLOW_LINK_LOCAL",
        False,
        SWITCH,
        "Allow providers at link-local addresses (169.254.x.x, fe80::), where clouds hand out a "
        "machine's keys.",
    )
    demo_model: bool = _setting(
        INSTALLATION,
        "ASSISTANT_DEMO_MODEL",
        False,
        SWITCH,
        "Serve the demo model when there is no other model. scripts/run.py sets this.",
    )
    titles: str = mode(
        "ASSISTANT_TITLES",
        ("rule", "model"),
        "How a chat gets its title: rule (from its first message), model (one short request when "
        "the chat is idle after its first answer). Your own title stays.",
    )
    memory: str = mode(  # R43
        "ASSISTANT_MEMORY",
        ("auto", "manual", "off"),
        "What is kept across chats: auto (also what is noticed), manual (what you ask for), off.",
    )
    memory_after: int = _setting(  # R43
        INSTALLATION,
        "ASSISTANT_MEMORY_AFTER",
        5,
        integer(1, 1000),
        "After how many messages that may hold something to remember a model is asked what to "
        "keep; also when the chat is idle.",
        "messages",
    )
    memory_limit: int = _setting(  # R43
        INSTALLATION,
        "ASSISTANT_MEMORY_LIMIT",
        10,
        integer(0, 100),
        "How many memories one answer is given at most; 0: none.",
        "memories",
    )
    max_turns: int = _setting(
        INSTALLATION,
        "ASSISTANT_MAX_TURNS",
        128,
        integer(1, 10_000),
        "How many answers are given at the same time; further ones wait.",
        "answers",
    )
    max_streams: int = _setting(
        INSTALLATION,
        "ASSISTANT_MAX_STREAMS",
        64,
        integer(1, 10_000),
        "How many event streams may be open at a time, in all browsers together.",
        "streams",
    )
    max_temporary_chats: int = _setting(
        INSTALLATION,
        "ASSISTANT_MAX_TEMPORARY_CHATS",
        32,
        integer(1, 10_000),
        "How many temporary chats a user may have at a time; beyond it the one ends that was used "
        "the longest ago, of those that no panel shows.",
        "chats",
    )
    stalled_seconds: float = _setting(
        INSTALLATION,
        "ASSISTANT_STALLED_SECONDS",
        30.0,
        number(1, 3600),
        "How long a client may neither read nor send; then its connection is closed.",
        "seconds",
    )
    max_json_values: int = _setting(
        INSTALLATION,
        "ASSISTANT_MAX_JSON_VALUES",
        2_000_000,
        integer(1000, 10**9),
        "How many values the JSON of a request may hold; a list counts as four.",
    )
