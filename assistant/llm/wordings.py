"""Tables for `failures`: patterns of servers' error texts, and the meaning of each.

Collected from the documentation and issue trackers of OpenAI, Azure, Anthropic-compatible servers,
OpenRouter, DeepSeek, Groq, Mistral, Google, xAI, vLLM, SGLang, LM Studio, Ollama and llama.cpp (of
which a real server was tried). The first match counts, so a special pattern stands before a general
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .network import NetworkFault

# Seconds between two tries while a server loads its model and answers 503.
LOADING_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Wording:
    """The error for texts that match `pattern`, unless the status is one of `not_with`.

    `sentence` has the fields `host` (the provider's name), `place` (with its address) and `model`.
    An error after which the request is tried again has its `advice` apart, which is given after the
    last try. `retry_after` is in seconds.
    """

    code: str
    pattern: re.Pattern[str]
    sentence: str
    actions: tuple[str, ...] = ()
    not_with: frozenset[int] = frozenset()
    retry_after: float | None = None
    advice: str = ""


@dataclass(frozen=True, slots=True)
class StatusMeaning:
    """The error for statuses from `first` to `last` whose text matches no `Wording`. `sentence` has
    the fields `status` and `size` (that of the request, in brackets), too."""

    first: int
    last: int
    code: str
    sentence: str
    actions: tuple[str, ...]
    advice: str = ""


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)


KEY_REFUSED = (
    "{host} does not accept the key: enter it again, or check that it is meant for this provider."
)
# A refusal for tokens per minute may say "too large" too; its status is 429.
RATE_LIMITED = frozenset({429})

WORDINGS: tuple[Wording, ...] = (
    Wording(
        "roles_refused",
        _any_of(
            r"roles? must alternate",
            r"alternate between .?user.? and .?assistant",
            r"must start with (a|the) user (message|role)",
            r"first message must use the .?user.? role",
            r"after the (optional )?system message",
        ),
        "{model} at {host} wants questions and answers strictly in turns: choose another model.",
        ("choose-model",),
    ),
    Wording(
        "no_credit",
        _any_of(
            r"insufficient_quota",
            r"exceeded your current quota",
            r"insufficient (credits|balance)",
            r"credit balance is too low",
            r"requires more credits",
        ),
        "The account at {host} has no credit left: add credit there, or choose another provider.",
        ("open-settings", "choose-model"),
    ),
    Wording(
        "provider_error",
        _any_of(r"loading model", r"model is loading", r"currently loading"),
        "{host} is still loading {model}",
        ("retry",),
        retry_after=LOADING_SECONDS,
        advice="try again in a moment",
    ),
    Wording(
        "tools_refused",
        _any_of(
            r"(does not|doesn't|not) support (the )?(tools?\b|tool[ _](us|call)|function[ _]call)",
            r"(tools?|tool[ _]calling|function[ _]calling|functions)`?'? (is|are) not supported",
            r"support(s)? tool use",
            r"requires --enable-auto-tool-choice",
            r"tools param requires",
            r"(unsupported|unrecognized|unknown|unexpected)[^.]{0,40}\b(tools|tool_choice)\b",
            r"\btools\b[^.]{0,60}(extra inputs are not permitted|extra_forbidden)",
        ),
        "{model} at {host} takes no tools, so it cannot look at the workflow or at skills: "
        "choose a model that does.",
        not_with=RATE_LIMITED,
    ),
    Wording(
        "bad_request",
        _any_of(
            r"image input is not supported",
            r"support image input",
            r"(does not|doesn't|not) support (image|vision)",
            r"image_url is only supported",
            r"image(_url)?s? (is|are) not supported",
            r"not a (multimodal|vision) model",
            r"at most 0 image",
            r"unknown variant `?image_url",
        ),
        "{model} at {host} cannot see pictures: send the message without, or choose a model "
        "that can.",
        ("choose-model", "remove-attachment"),
        not_with=RATE_LIMITED,
    ),
    Wording(
        "bad_request",
        _any_of(
            r"\bimage (size )?exceeds\b",
            r"unsupported (image|file|media|mime)\b",
            r"could not process (the )?image",
            r"unable to process input image",
            r"invalid image",
        ),
        "{host} does not take this attachment: its own words are below.",
        ("remove-attachment", "choose-model"),
        not_with=RATE_LIMITED,
    ),
    Wording(
        # vLLM's text for a prompt that alone fills the window.
        "context_overflow",
        _any_of(r"max_tokens must be at least 1, got -\d+"),
        "The chat is longer than the window of {model} at {host}.",
        not_with=RATE_LIMITED,
    ),
    Wording(
        # Similar to an overflow, but the prompt fits: the requested answer is too long.
        "output_limit",
        _any_of(
            r"max_(completion_|output_|new_)?tokens\W+(or '?max_completion_tokens'? )?is too large",
            r"supports at most \d+ completion tokens",
            r"valid range of max_tokens",
            r"max_(completion_|output_)?tokens: \d+ > \d+",
            r"max_(completion_|output_)?tokens'?:? (value )?must be (less|between|at most)",
            r"invalid (max_tokens|max_completion_tokens|max_output_tokens)",
            r"field 'max_tokens'",
            r"maximum allowed number of output tokens",
        ),
        "{host} allows no answer as long as LLM_MAX_OUTPUT_TOKENS asks for with {model}: set it "
        "lower, or leave it empty.",
        ("choose-model",),
        not_with=RATE_LIMITED,
    ),
    Wording(
        "context_overflow",
        _any_of(
            r"context_length_exceeded",
            r"exceed_context_size",
            r"maximum context length",
            r"exceeds? the (available )?context (size|window|length|limit)",
            r"exceeds? (the )?(maximum )?(model )?context (length|window|limit|size)",
            r"exceeded max(imum)? context length",
            r"prompt (is )?too long",
            r"input is too long",
            r"input length exceeds",
            r"exceed context limit",
            r"context length of only \d+",
            r"greater than the context length",
            r"reached context length",
            r"cannot truncate prompt with n_keep",
            r"longer than the (maximum )?model('s)?( maximum)? (length|context)",
            r"model's context length is only",
            r"maximum prompt length is \d+",
            r"input token count[^.]{0,200}exceeds",
            r"too large for model with \d+ maximum context",
            r"context window exceeds",
            r"context window is full",
            r"exceeded model token limit",
            r"reduce the length of the (messages|prompt|input)",
            r"`inputs` tokens \+ `max_new_tokens` must be",
        ),
        "The chat is longer than the window of {model} at {host}: start a new chat, or choose a "
        "model with a larger window.",
        not_with=RATE_LIMITED,
    ),
    Wording(
        "content_filter",
        _any_of(
            r"content_filter",
            r"content management policy",
            r"content_policy_violation",
            r"usage polic(y|ies)",
            r"flagged (by|for|as)",
        ),
        "{host} refused the message by its content rules: word it differently, or choose another "
        "model.",
        ("edit", "choose-model"),
    ),
    Wording(
        "key_refused",
        _any_of(
            r"invalid[_ ]api[_ ]key", r"incorrect api key", r"api key not valid", r"no api key"
        ),
        KEY_REFUSED,
        ("enter-key", "open-settings"),
    ),
    Wording(
        "unknown_model",
        _any_of(
            r"model_not_found",
            r"no models? (is )?loaded",
            r"invalid model( identifier|:|\b)",
            r"not a valid model",
            r"no endpoints found for",
            r"model\W.{0,200}(does not|doesn't|not) exist",
            r"model\W.{0,200}\bnot found",
            r"models/\S+ is not found",
            r"model is not found",
            r"unknown model",
            r"not_found_error.{0,400}\bmodel:",
        ),
        "{host} has no model named {model}: choose one that it has, or load it there.",
        ("choose-model", "open-settings"),
        not_with=RATE_LIMITED,
    ),
)

STATUS_MEANINGS: tuple[StatusMeaning, ...] = (
    StatusMeaning(
        401,
        401,
        "key_refused",
        KEY_REFUSED,
        ("enter-key", "open-settings"),
    ),
    StatusMeaning(
        402,
        402,
        "no_credit",
        "The account at {host} has no credit left: add credit there, or choose another provider.",
        ("open-settings", "choose-model"),
    ),
    StatusMeaning(
        403,
        403,
        "key_refused",
        "{host} does not allow this key to use {model}: check the key and its rights there.",
        ("enter-key", "choose-model", "open-settings"),
    ),
    StatusMeaning(
        404,
        405,
        "unreachable",
        "{place} answers, but has no chat API at this address: it usually ends in /v1.",
        ("open-settings",),
    ),
    StatusMeaning(
        408,
        408,
        "timeout",
        "{host} gave up waiting: try again.",
        ("retry",),
    ),
    StatusMeaning(
        413,
        413,
        "bad_request",
        "{host} does not take a request as large as this one{size}: send it with smaller or fewer "
        "attachments.",
        ("remove-attachment", "choose-model"),
    ),
    StatusMeaning(
        429,
        429,
        "rate_limited",
        "{host} gets more requests than it allows for this key",
        ("retry", "choose-model"),
        "try again later",
    ),
    StatusMeaning(
        500,
        599,
        "provider_error",
        "{host} failed with an error of its own (status {status})",
        ("retry", "choose-model"),
        "try again",
    ),
    StatusMeaning(
        400,
        499,
        "bad_request",
        "{host} refused the request (status {status}): its own words are below.",
        ("retry", "choose-model"),
    ),
    StatusMeaning(
        0,
        999,
        "provider_error",
        "{host} reported an error",
        ("retry", "choose-model"),
        "its own words are below",
    ),
)

NETWORK_FAULTS: dict[NetworkFault, str] = {
    "link_local": "{host} leads to a link-local address, where clouds hand out a machine's keys, "
    "so it is not asked: ASSISTANT_ALLOW_LINK_LOCAL=1 allows it.",
    "no_host": "There is no host by the name in {host}: check the address and the network.",
    "certificate": "The certificate of {host} cannot be checked: use its right name, or plain http "
    "for a server of your own.",
    "no_https": "{host} does not speak https: try the address with http.",
    "tls": "No encrypted connection to {host} could be made: check the address, and a proxy if "
    "there is one.",
    "no_answer": "Nothing answers at {host}: {start}check the address.",
}

# Each part has a longest length: patterns that could go on to the end of a text take time that
# grows with the square of a text that repeats their beginning.
_ASKED = (
    # OpenAI, older vLLM, OpenRouter: "maximum context length is W ... (P in the messages, ..."
    re.compile(
        r"maximum context length is (?P<window>\d{1,12})\D.{0,200}?"
        r"\(\D{0,40}(?P<prompt>\d{1,12}) \D{0,40}(messages|prompt|text input)",
        re.IGNORECASE | re.DOTALL,
    ),
    # newer vLLM: "... requested N output tokens and your prompt contains at least P input tokens"
    re.compile(
        r"maximum context length is (?P<window>\d{1,12})\D.{0,200}?requested \d{1,12} output "
        r"tokens and your prompt contains (?P<least>at least )?(?P<prompt>\d{1,12})\b",
        re.IGNORECASE | re.DOTALL,
    ),
    # Anthropic-compatible: "... exceed context limit: P + N > W"
    re.compile(
        r"exceed context limit: (?P<prompt>\d{1,12}) \+ \d{1,12} > (?P<window>\d{1,12})\b",
        re.IGNORECASE,
    ),
)
# A prompt below this share of the window is not the cause of an overflow.
ROOM = 0.75


def prompt_leaves_room(text: str) -> bool:
    """Whether an overflow's own numbers show that only the answer is too long."""
    for pattern in _ASKED:
        found = pattern.search(text)
        if found is None:
            continue
        # With "at least", vLLM stopped counting where the space of the answer begins, so the rest
        # of the window is that space; it is the cause only if it takes most of the window.
        share = 1 - ROOM if found.groupdict().get("least") else ROOM
        return int(found["prompt"]) < share * int(found["window"])
    return False
