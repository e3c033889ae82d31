"""The settings of the provider and of its model: the first fields of `config.Settings`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .formats import MOST, PATH, PROVIDER, TEXT, URL, cap, choice, integer, number
from .formats import setting as _setting

TEMPERATURES = (0, 2)
REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


@dataclass(frozen=True)
class ProviderSettings:
    """Which model answers, how it is asked, and how much of an answer is read."""

    openai_api_key: str = _setting(
        PROVIDER,
        "OPENAI_API_KEY",
        "",
        TEXT,
        "The provider's API key, if it needs one. It is sent to OPENAI_BASE_URL and nowhere else.",
    )
    openai_base_url: str = _setting(
        PROVIDER, "OPENAI_BASE_URL", "", URL, "The provider's address. Empty, with a key: OpenAI."
    )
    openai_model: str = _setting(
        PROVIDER, "OPENAI_MODEL", "", TEXT, "The model. Empty: the first model of the server."
    )
    temperature: float | None = _setting(
        PROVIDER,
        "LLM_TEMPERATURE",
        None,
        number(*TEMPERATURES),
        "Sampling temperature. Empty: the server's default.",
    )
    max_output_tokens: int | None = _setting(
        PROVIDER,
        "LLM_MAX_OUTPUT_TOKENS",
        None,
        integer(1, MOST),
        "The longest answer. Empty: the server's default.",
        "tokens",
    )
    reasoning_effort: str | None = _setting(
        PROVIDER,
        "LLM_REASONING_EFFORT",
        None,
        choice(*REASONING_EFFORTS),
        "How long the model may think. Empty: the server's default.",
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
        "How long to wait for the provider's next data, before and within an answer.",
        "seconds",
    )
    max_line_bytes: int = cap(
        "LLM_MAX_LINE_BYTES", 16 * 1024**2, "The longest line of an answer that is read."
    )
    max_calls_per_round: int = cap(
        "LLM_MAX_CALLS_PER_ROUND", 64, "How many tools a model may call at once.", "calls"
    )
    max_argument_bytes: int = cap(
        "LLM_MAX_ARGUMENT_BYTES", 1024**2, "The longest arguments of a round's calls, together."
    )
    max_answer_bytes: int = cap(
        "LLM_MAX_ANSWER_BYTES", 2 * 1024**2, "The longest text of an answer, which ends there."
    )
    max_reasoning_bytes: int = cap(
        "LLM_MAX_REASONING_BYTES", 2 * 1024**2, "The longest reasoning; the answer ends there."
    )
