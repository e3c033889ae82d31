"""One prompt, one text, through the same provider as the chat."""

from pathlib import Path

import pytest
from plugin.assistant.errors import ProviderError
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, failure


async def test_the_text_comes_without_reasoning_and_blanks(chat: Chatting) -> None:
    chat.provider.queue(Script([{"reasoning": "hm"}, {"text": " A red "}, {"text": "fox.\n"}]))
    assert await chat.assistant.complete("Describe a fox") == "A red fox."


async def test_the_request_has_the_prompt_the_system_text_and_the_seed_alone(
    chat: Chatting,
) -> None:
    chat.provider.queue("ok", "ok")
    await chat.assistant.complete("Describe a fox", system="Be brief.", seed=7)
    await chat.assistant.complete("Describe a fox", system=" ")
    first, second = (request.body for request in chat.provider.requests)
    assert first["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Describe a fox"},
    ]
    assert first["seed"] == 7
    assert "tools" not in first
    assert second["messages"] == [{"role": "user", "content": "Describe a fox"}]
    assert "seed" not in second


async def test_the_settings_of_the_chat_hold(tmp_path: Path) -> None:
    environ = {"LLM_TEMPERATURE": "0.5", "LLM_MAX_OUTPUT_TOKENS": "99"}
    async with chatting(tmp_path, environ) as chat:
        chat.provider.queue("ok")
        await chat.assistant.complete("Hi")
        body = chat.provider.requests[0].body
        assert (body["temperature"], body["max_tokens"]) == (0.5, 99)


async def test_a_failure_is_raised_with_its_sentence(chat: Chatting) -> None:
    chat.provider.queue(failure(401, "no"))
    with pytest.raises(ProviderError) as caught:
        await chat.assistant.complete("Hi")
    assert caught.value.code == "key_refused"


async def test_without_a_provider_it_says_what_to_do(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"OPENAI_BASE_URL": "", "OPENAI_MODEL": ""}) as chat:
        with pytest.raises(ProviderError) as caught:
            await chat.assistant.complete("Hi")
        assert caught.value.code == "no_provider"
