"""The provider that answers: order of sources, choice by name, window."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.errors import NotFound, ProviderError
from plugin.assistant.llm.book import ProviderBook
from plugin.assistant.llm.client import Client
from plugin.assistant.llm.discovery import Discovery, UsualPort
from plugin.assistant.llm.gguf import DEMO_NAME
from plugin.assistant.llm.resolver import Resolver, silently_cut
from plugin.assistant.llm.stream_events import Usage
from plugin.tests.providers import ScriptedProvider

from .conftest import ASK, answer_of

SAVED = {"base_url": "http://127.0.0.1:5/v1", "model": "saved"}

MakeResolver = Callable[..., Awaitable[Resolver]]


@pytest.fixture
def book(tmp_path: Path) -> ProviderBook:
    return ProviderBook(tmp_path / "providers.json")


@pytest.fixture
async def make_resolver(book: ProviderBook) -> AsyncIterator[MakeResolver]:
    made: list[Resolver] = []

    async def make(*ports: UsualPort, **settings: Any) -> Resolver:
        resolver = Resolver(book, Settings(**settings), discovery=Discovery(ports))
        made.append(resolver)
        return resolver

    yield make
    for resolver in made:
        await resolver.close()


def port_of(server: ScriptedProvider, name: str = "Ollama") -> UsualPort:
    return UsualPort(name, int(server.base_url.split(":")[2].split("/")[0]))


async def refusal_of(resolver: Resolver) -> str:
    """The sentence of the error that asks for another choice."""
    with pytest.raises(ProviderError) as failure:
        await resolver.current()
    assert failure.value.code == "no_provider"
    assert {"choose-model", "open-settings"} <= set(failure.value.actions)
    return failure.value.message


async def test_without_anything_the_user_is_told_what_to_do(make_resolver: MakeResolver) -> None:
    resolver = await make_resolver()
    with pytest.raises(ProviderError) as failure:
        await resolver.current()
    assert failure.value.code == "no_provider"
    assert failure.value.actions[0] == "open-settings"
    assert "Ollama" in failure.value.message


async def test_the_order_is_panel_environment_local_demo(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    async with ScriptedProvider(models=["nomic-embed-text", "qwen3"]) as server:
        everything = {
            "openai_base_url": "http://127.0.0.1:6/v1",
            "openai_model": "told",
            "demo_model": True,
        }
        resolver = await make_resolver(port_of(server), **everything)
        assert (await resolver.current()).source == "environment"
        resolver = await make_resolver(port_of(server), demo_model=True)
        local = await resolver.current()
        assert (local.source, local.name, local.model) == ("local", "Ollama (local)", "qwen3")
        assert (await (await make_resolver(demo_model=True)).current()).source == "demo"
        book.put("Mine", SAVED)
        resolver = await make_resolver(port_of(server), **everything)
        assert (await resolver.current()).source == "settings"


async def test_a_file_comes_before_a_local_server(
    make_resolver: MakeResolver, tmp_path: Path
) -> None:
    file = tmp_path / "some.gguf"
    file.write_bytes(b"GGUF")
    async with ScriptedProvider() as server:
        resolver = await make_resolver(port_of(server), gguf=file)
        found = await resolver.current()
    assert (found.source, found.model, found.base_url) == ("gguf", "some", "")


async def test_a_missing_file_is_a_problem_and_nothing_else_serves(
    make_resolver: MakeResolver, tmp_path: Path
) -> None:
    resolver = await make_resolver(gguf=tmp_path / "gone.gguf", demo_model=True)
    assert await refusal_of(resolver) == (
        "The provider that you set cannot be used because of LLM_GGUF: correct it and restart "
        "ComfyUI, or choose another provider."
    )
    assert await resolver.in_use(await resolver.providers()) is None
    (problem,) = resolver.problems()
    assert (problem.code, problem.variable) == ("gguf_missing", "LLM_GGUF")


async def test_the_demo_model_serves_only_when_it_is_switched_on(
    make_resolver: MakeResolver,
) -> None:
    resolver = await make_resolver(demo_model=True)
    provider = await resolver.current()
    assert (provider.name, provider.context_window, provider.tools) == (DEMO_NAME, 4096, False)
    assert await resolver.window(provider) == 4096


async def test_the_environment_s_key_without_an_address_is_openai_s(
    make_resolver: MakeResolver,
) -> None:
    resolver = await make_resolver(openai_api_key="sk-env-01234567", openai_model="gpt-5")
    provider = await resolver.current()
    assert provider.base_url == "https://api.openai.com/v1"
    assert provider.api_key == "sk-env-01234567"
    assert provider.name == "api.openai.com (environment)"


async def test_the_environment_s_key_never_goes_to_a_provider_of_the_panel(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    book.put("Mine", SAVED)
    resolver = await make_resolver(openai_api_key="sk-env-01234567")
    assert (await resolver.current()).api_key == ""


async def test_an_address_in_the_environment_that_cannot_be_used_is_a_problem(
    make_resolver: MakeResolver,
) -> None:
    resolver = await make_resolver(openai_base_url="http://me:word@host/v1", demo_model=True)
    assert "OPENAI_BASE_URL" in await refusal_of(resolver)
    assert await resolver.in_use(await resolver.providers()) is None
    (problem,) = resolver.problems()
    assert problem.variable == "OPENAI_BASE_URL"


async def test_a_provider_without_a_model_gets_the_server_s_first_one_that_chats(
    make_resolver: MakeResolver,
) -> None:
    async with ScriptedProvider(models=["text-embedding-3", "chatty"]) as server:
        resolver = await make_resolver(openai_base_url=server.base_url)
        assert (await resolver.current()).model == "chatty"


async def test_a_provider_of_the_panel_without_a_model_gets_one_when_it_is_asked(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    async with ScriptedProvider(models=["chatty"]) as server:
        resolver = await make_resolver()
        server.queue("Hi")
        client = Client(Settings(), prepare=resolver.prepare)
        provider = book.put("Mine", {"base_url": server.base_url})
        answer = await answer_of(client, provider, ASK)
        await client.close()
    assert answer.error is None
    assert server.requests[0].body["model"] == "chatty"


async def test_a_server_without_a_model_that_chats_is_told(make_resolver: MakeResolver) -> None:
    async with ScriptedProvider(models=["text-embedding-3"]) as server:
        resolver = await make_resolver(openai_base_url=server.base_url)
        with pytest.raises(ProviderError) as failure:
            await resolver.current()
    assert failure.value.code == "unknown_model"


async def test_a_local_server_without_models_is_named_with_what_to_do(
    make_resolver: MakeResolver,
) -> None:
    async with ScriptedProvider(models=[]) as server:
        resolver = await make_resolver(port_of(server))
        with pytest.raises(ProviderError, match="ollama pull"):
            await resolver.current()


async def test_any_provider_can_be_chosen_by_name(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    book.put("Mine", SAVED)
    async with ScriptedProvider() as server:
        resolver = await make_resolver(port_of(server), demo_model=True)
        names = [provider.name for provider in await resolver.providers()]
        assert names == ["Mine", "Ollama (local)", DEMO_NAME]
        for name in reversed(names):
            await resolver.activate(name)
            assert (await resolver.current()).name == name


async def test_an_unknown_name_cannot_be_chosen(make_resolver: MakeResolver) -> None:
    resolver = await make_resolver(demo_model=True)
    with pytest.raises(NotFound):
        await resolver.activate("Nobody")


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("Ollama (local)", "does not run: start it, or choose another provider"),
        ("api.openai.com (environment)", "no provider named 'api.openai.com (environment)'"),
        ("Mine", "no provider named 'Mine' any more: choose another one"),
        ("gone.gguf (file)", "no file gone.gguf to serve: check the path, or choose another"),
    ],
)
async def test_a_choice_that_is_gone_is_an_error_and_nobody_answers(
    make_resolver: MakeResolver, book: ProviderBook, tmp_path: Path, chosen: str, words: str
) -> None:
    book.put("Other", SAVED)
    book.activate(chosen)
    async with ScriptedProvider() as server:
        others = {"openai_base_url": server.base_url, "gguf": tmp_path / "gone.gguf"}
        resolver = await make_resolver(
            port_of(server, "LM Studio"), **others, demo_model=True, openai_model="told"
        )
        assert words in await refusal_of(resolver)
        assert await resolver.in_use(await resolver.providers()) is None


async def test_a_chosen_local_server_without_models_is_told(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    book.activate("Ollama (local)")
    async with ScriptedProvider(models=[]) as server:
        resolver = await make_resolver(port_of(server), demo_model=True)
        assert "ollama pull" in await refusal_of(resolver)


async def test_the_environment_s_provider_that_cannot_be_used_is_told_by_its_variable(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    book.activate("host (environment)")
    resolver = await make_resolver(openai_base_url="http://me:word@host/v1")
    assert "because of OPENAI_BASE_URL" in await refusal_of(resolver)


async def test_a_choice_serves_whatever_the_settings_have(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    resolver = await make_resolver(openai_base_url="http://me:word@host/v1", demo_model=True)
    book.activate(DEMO_NAME)
    assert (await resolver.current()).source == "demo"
    assert await resolver.in_use(await resolver.providers()) == DEMO_NAME


async def test_the_panel_s_window_wins_over_the_environment_s(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    resolver = await make_resolver(context_window=50_000)
    with_window = book.put("Mine", {**SAVED, "context_window": 9_000})
    without = book.put("Other", SAVED)
    assert await resolver.window(with_window) == 9_000
    assert await resolver.window(without) == 50_000


async def test_a_window_that_is_neither_set_nor_reported_is_none(
    make_resolver: MakeResolver,
) -> None:
    resolver = await make_resolver(openai_api_key="sk-env-01234567", openai_model="gpt-5")
    assert await resolver.window(await resolver.current()) is None


async def test_models_of_the_demo_model_are_known_without_starting_it(
    make_resolver: MakeResolver,
) -> None:
    resolver = await make_resolver(demo_model=True)
    models = await resolver.models(await resolver.current())
    assert [model.context_window for model in models] == [4096]


async def test_preparing_another_s_server_changes_nothing(
    make_resolver: MakeResolver, book: ProviderBook
) -> None:
    provider = book.put("Mine", SAVED)
    resolver = await make_resolver(demo_model=True)
    assert await resolver.prepare(provider) is provider


@pytest.mark.parametrize(
    ("sent", "read", "window", "cut"),
    [
        (20_000, 4_096, None, True),
        (20_000, 4_096, 32_768, True),
        (20_000, 4_096, 4_096, True),
        (20_000, 2_000, 4_096, True),
        (3_000, 2_800, 4_096, False),
        (3_900, 3_000, 4_096, False),
        (20_000, 15_000, None, False),
        (20_000, 30, None, False),
        (20_000, None, 4_096, False),
    ],
)
def test_a_prompt_that_was_not_read_as_a_whole_is_noticed(
    sent: int, read: int | None, window: int | None, cut: bool
) -> None:
    assert silently_cut(sent, Usage(input_tokens=read), window) is cut
