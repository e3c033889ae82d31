"""Error texts of all known servers, and the sentence that the user reads."""

# ruff: noqa: E501 (servers' wordings stand on one line, as they are sent)

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from plugin.assistant.errors import ContextOverflow, ProviderError, ToolsRefused
from plugin.assistant.llm import failures
from plugin.assistant.llm.network import NetworkFault
from plugin.assistant.llm.provider import Provider

PROVIDER = Provider("mine", "http://127.0.0.1:11434/v1", "qwen3", "sk-very-secret-key")
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def refused(status: int, body: Any, *, had_tools: bool = True) -> ProviderError:
    refusal = failures.refusal_in(body, status)
    return failures.refused(PROVIDER, refusal, had_tools=had_tools)


def openai_error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


OVERFLOWS = [
    # OpenAI
    (
        400,
        openai_error(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in "
            "9001 tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
        ),
    ),
    (400, openai_error("Your input exceeds the context window of this model. Please adjust it.")),
    # llama.cpp (as xllamacpp's server answers it)
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (8031 tokens) exceeds the available context size (4096 tokens), "
                "try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 8031,
                "n_ctx": 4096,
            }
        },
    ),
    # Ollama
    (400, {"error": {"message": "prompt too long; exceeded max context length by 22 tokens"}}),
    (400, {"error": "the input length exceeds the context length"}),
    # vLLM: older, newer, and with a prompt that leaves no room at all
    (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 16384 tokens. However, you requested "
            "122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the "
            "length of the messages or completion.",
            "code": 400,
        },
    ),
    (
        400,
        openai_error(
            "This model's maximum context length is 128000 tokens. However, you requested 65535 "
            "output tokens and your prompt contains at least 62466 input tokens, for a total of at "
            "least 128001 tokens."
        ),
    ),
    (
        400,
        {
            "message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096"
        },
    ),
    (400, {"object": "error", "message": "max_tokens must be at least 1, got -186."}),
    # LM Studio
    (
        400,
        {
            "error": "Trying to keep the first 15857 tokens when context the overflows. However, the "
            "model is loaded with context length of only 4096 tokens, which is not enough."
        },
    ),
    (400, {"error": "Cannot truncate prompt with n_keep (11378) >= n_ctx (4096)"}),
    # Anthropic-compatible
    (
        400,
        {
            "type": "error",
            "error": {
                "type": "invalid_request_error",
                "message": "prompt is too long: 213462 tokens > 200000 maximum",
            },
        },
    ),
    (
        400,
        openai_error("input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000"),
    ),
    # OpenRouter, Google, xAI, Mistral, SGLang, Groq
    (
        400,
        openai_error(
            "This endpoint's maximum context length is 131072 tokens. However, you requested about "
            "140000 tokens (139000 of text input, 1000 in the output)."
        ),
    ),
    (
        400,
        [{"error": {"message": "The input token count (1196265) exceeds the maximum (1048575)."}}],
    ),
    (400, {"error": "This model's maximum prompt length is 131072 but the request has 537812."}),
    (
        400,
        {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context"},
    ),
    (
        400,
        {
            "message": "The input (5000 tokens) is longer than the model's context length (4096 tokens)."
        },
    ),
    (400, openai_error("Please reduce the length of the messages or completion.")),
]


@pytest.mark.parametrize(("status", "body"), OVERFLOWS)
def test_an_overflow_is_recognised(status: int, body: Any) -> None:
    error = refused(status, body)
    assert isinstance(error, ContextOverflow)
    assert "window" in error.message


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, "
        "whereas you provided 100000.",
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context "
        "length is 32768 tokens and your request has 6000 input tokens (32000 > 32768 - 6000).",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
        "This model's maximum context length is 16384 tokens. However, you requested 20100 tokens "
        "(100 in the messages, 20000 in the completion). Please reduce the length of the messages "
        "or completion.",
        "This model's maximum context length is 32768 tokens. However, you requested 32000 output "
        "tokens and your prompt contains at least 769 input tokens, for a total of at least 32769.",
        "Field 'max_tokens': Value must be between -1 <= value <= 2147483647, but got 3147483647",
    ],
)
def test_a_limit_of_the_answer_is_not_taken_for_an_overflow(message: str) -> None:
    error = refused(400, openai_error(message))
    assert not isinstance(error, ContextOverflow)
    assert error.code == "output_limit"
    assert "LLM_MAX_OUTPUT_TOKENS" in error.message


@pytest.mark.parametrize(
    ("status", "body"),
    [
        # OpenAI, Ollama new and old, vLLM, LM Studio twice, OpenRouter twice, DeepSeek, Google
        (
            404,
            openai_error(
                "The model `qwen3` does not exist or you do not have access to it.",
                code="model_not_found",
            ),
        ),
        (404, {"error": {"message": "model 'qwen3' not found", "type": "not_found_error"}}),
        (404, {"error": 'model "qwen2.5:7b" not found, try pulling it first'}),
        (404, {"object": "error", "message": "The model `qwen3` does not exist.", "code": 404}),
        (
            400,
            openai_error(
                'Invalid model identifier "qwen3". Please specify a valid downloaded model',
                code="model_not_found",
            ),
        ),
        (400, {"error": "No models loaded. Please load a model in the developer page."}),
        (400, {"error": {"message": "qwen3 is not a valid model ID", "code": 400}}),
        (404, {"error": {"message": "No endpoints found for qwen3.", "code": 404}}),
        (400, openai_error("Model Not Exist")),
        (404, [{"error": {"message": "models/qwen3 is not found for API version v1main"}}]),
    ],
)
def test_an_unknown_model_is_named_and_another_offered(status: int, body: Any) -> None:
    error = refused(status, body)
    assert error.code == "unknown_model"
    assert "qwen3" in error.message
    assert error.actions[0] == "choose-model"


TOOL_REFUSALS = [
    (400, openai_error("registry.ollama.ai/library/gemma:2b does not support tools")),
    (
        400,
        {
            "message": '"auto" tool choice requires --enable-auto-tool-choice and '
            "--tool-call-parser to be set"
        },
    ),
    (404, {"error": {"message": "No endpoints found that support tool use. To learn more ..."}}),
    (500, {"error": {"message": "tools param requires --jinja flag", "code": 500}}),
    (400, openai_error("deepseek-reasoner does not support Function Calling")),
    (400, openai_error("`tool calling` is not supported with this model")),
    (400, openai_error("Unrecognized request argument supplied: tools")),
    (422, {"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]}),
]


@pytest.mark.parametrize(("status", "body"), TOOL_REFUSALS)
def test_a_server_that_takes_no_tools_is_recognised(status: int, body: Any) -> None:
    assert isinstance(refused(status, body), ToolsRefused)


@pytest.mark.parametrize(("status", "body"), TOOL_REFUSALS)
def test_no_tools_can_have_been_refused_where_none_were_sent(status: int, body: Any) -> None:
    assert not isinstance(refused(status, body, had_tools=False), ToolsRefused)


@pytest.mark.parametrize(
    "body",
    [
        openai_error("image input is not supported - hint: you may need to provide the mmproj"),
        {"error": {"message": "No endpoints found that support image input"}},
        {"object": "error", "message": "qwen3 is not a multimodal model"},
        openai_error("Invalid content type. image_url is only supported by certain models."),
    ],
)
def test_a_model_that_cannot_see_is_told_from_a_broken_server(body: Any) -> None:
    error = refused(500, body)
    assert error.code == "bad_request"
    assert "cannot see" in error.message
    assert "retry" not in error.actions


@pytest.mark.parametrize(
    "body",
    [
        openai_error("You uploaded an unsupported image. Please make sure it is a png."),
        {"type": "error", "error": {"message": "image exceeds 5 MB maximum: 6291456 bytes"}},
        {"type": "error", "error": {"message": "Could not process image"}},
        [{"error": {"code": 400, "message": "Unable to process input image. Please retry."}}],
        openai_error("Unsupported MIME type: image/tiff"),
    ],
)
def test_an_attachment_of_a_wrong_kind_is_to_be_removed(body: Any) -> None:
    error = refused(400, body)
    assert error.code == "bad_request"
    assert error.actions[0] == "remove-attachment"


@pytest.mark.parametrize(
    ("status", "body", "code", "action"),
    [
        (401, openai_error("Incorrect API key provided: sk-very-secret-key."), "key_refused", 0),
        (401, "Unauthorized", "key_refused", 0),
        (403, openai_error("Country not supported"), "key_refused", 0),
        (400, [{"error": {"message": "API key not valid. Please pass one."}}], "key_refused", 0),
        (402, openai_error("Payment required"), "no_credit", 0),
        (429, openai_error("Rate limit reached for requests"), "rate_limited", "retry"),
        (429, openai_error("Request too large: reduce the length of it"), "rate_limited", "retry"),
        (500, "<html>oops</html>", "provider_error", "retry"),
        (529, {"error": {"message": "Overloaded"}}, "provider_error", "retry"),
        (503, {"error": {"message": "Loading model", "code": 503}}, "provider_error", "retry"),
        (404, "404 page not found", "unreachable", "open-settings"),
        (405, "", "unreachable", "open-settings"),
        (413, "", "bad_request", 0),
        (400, openai_error("messages: at least one message is required"), "bad_request", 0),
        (
            400,
            openai_error("The response was filtered", code="content_filter"),
            "content_filter",
            0,
        ),
    ],
)
def test_what_a_status_or_wording_means(
    status: int, body: Any, code: str, action: str | int
) -> None:
    error = refused(status, body)
    assert error.code == code
    assert "mine" in error.message
    assert ("http://127.0.0.1:11434" in error.message) == (code == "unreachable")
    if isinstance(action, str):
        assert error.actions[0] == action


def test_an_account_without_credit_is_not_asked_again() -> None:
    body = openai_error("You exceeded your current quota.", code="insufficient_quota")
    error = refused(429, body)
    assert error.code == "no_credit"
    assert "retry" not in error.actions


@pytest.mark.parametrize("reason", ["All connection attempts failed", "[Errno 111] refused"])
def test_a_local_server_that_is_off_is_to_be_started(reason: str) -> None:
    error = failures.unreachable(PROVIDER, reason)
    assert error.code == "unreachable"
    assert error.message == (
        "Nothing answers at http://127.0.0.1:11434 (mine): start the server (such as Ollama) or "
        "check the address."
    )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no_host", "no host by the name"),
        ("certificate", "certificate"),
        ("no_https", "does not speak https"),
        ("tls", "encrypted connection"),
        ("link_local", "ASSISTANT_ALLOW_LINK_LOCAL=1"),
    ],
)
def test_why_there_is_no_connection_is_told(fault: NetworkFault, words: str) -> None:
    assert words in failures.unreachable(PROVIDER, "anything", fault).message


@pytest.mark.parametrize(
    "reason",
    [
        "Cannot connect to host 127.0.0.1:11434 ssl:default [Connect call failed]",
        "es konnte keine Verbindung hergestellt werden: ssl certificate getaddrinfo",
    ],
)
def test_the_words_of_a_library_decide_nothing(reason: str) -> None:
    message = failures.unreachable(PROVIDER, reason).message
    assert message.startswith("Nothing answers at http://127.0.0.1:11434")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": format_datetime(NOW + timedelta(seconds=20), usegmt=True)}, 20.0),
        ({"retry-after": format_datetime(NOW - timedelta(seconds=20), usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert failures.read_refusal(429, headers, "{}", NOW).retry_after == seconds


def test_a_long_wait_is_told_in_human_words() -> None:
    refusal = failures.Refusal(429, "slow down", retry_after=600.0)
    error = failures.refused(PROVIDER, refusal)
    assert error.retry_after == 600.0
    assert "wait 10 min" in error.message


def test_the_upstream_s_own_words_behind_a_router_are_kept() -> None:
    body = {"error": {"message": "Provider returned error", "metadata": {"raw": "too long: x"}}}
    assert refused(400, body).detail == "Provider returned error: too long: x"


@pytest.mark.parametrize("body", [None, 7, "", [], [[]], {"error": None}, {"error": {}}, {}])
@pytest.mark.parametrize("status", [0, 399, 400, 418, 500, 999])
def test_every_status_and_body_gives_an_error(status: int, body: Any) -> None:
    assert refused(status, body).message.startswith("mine ")


def test_an_error_names_the_provider_and_a_fault_of_the_address_both() -> None:
    found = Provider("Ollama (local)", PROVIDER.base_url, "qwen3", source="local")
    refusal = failures.refusal_in("no", 401)
    assert failures.refused(found, refusal).message.startswith("Ollama does not accept the key")
    where = "http://127.0.0.1:11434 (Ollama)"
    assert where in failures.unreachable(found, "refused").message
    hosted = Provider("127.0.0.1:11434 (environment)", PROVIDER.base_url, "qwen3")
    assert "Nothing answers at http://127.0.0.1:11434:" in failures.unreachable(hosted, "").message


@pytest.mark.parametrize(
    ("status", "body"),
    [(402, "pay"), (429, {"error": {"message": "You exceeded your current quota"}})],
)
def test_an_empty_account_is_no_matter_of_too_many_requests(status: int, body: Any) -> None:
    error = refused(status, body)
    assert error.code == "no_credit" and error.actions == ("open-settings", "choose-model")


def test_a_message_against_the_content_rules_is_edited_and_not_sent_again() -> None:
    error = refused(400, openai_error("flagged by the content_filter"))
    assert (error.code, error.actions) == ("content_filter", ("edit", "choose-model"))


def test_the_key_is_taken_out_of_the_server_s_words() -> None:
    error = refused(401, openai_error("Incorrect API key provided: sk-very-secret-key."))
    assert "secret" not in error.detail + error.message + repr(error)


def test_a_key_that_the_server_masked_is_taken_out_too() -> None:
    error = refused(401, openai_error("Incorrect API key provided: sk-ver********-key."))
    assert "sk-ver" not in error.detail
    assert "-key" not in error.detail
