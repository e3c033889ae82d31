"""Certificates, names and link-local addresses, the same for chats and for lists of models.

`localhost.pem` is a certificate that signs itself, with its key, for 127.0.0.1 and `provider.test`.
"""

from __future__ import annotations

import importlib
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from plugin.assistant.config import Settings
from plugin.assistant.errors import InvalidRequest, ProviderError
from plugin.assistant.llm import network as network_module
from plugin.assistant.llm.book import ProviderBook
from plugin.assistant.llm.client import Client
from plugin.assistant.llm.models import list_models
from plugin.assistant.llm.network import Network, tls_context
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.resolver import environment_provider
from plugin.tests.providers import ScriptedProvider

from .conftest import ASK, answer_of

CERTIFICATE = Path(__file__).with_name("localhost.pem")
MODELS = {"data": [{"id": "m"}]}
CHUNK = 'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n'


async def both(base_url: str, network: Network | None = None) -> tuple[str, str]:
    """What a request for the models and a chat end with: `ok`, or the error's sentence."""
    ours = network or Network(Settings())
    provider = Provider("p", base_url, "m", "sk-planted-0123456789")
    try:
        assert [model.id for model in await list_models(provider, ours)]
        listed = "ok"
    except ProviderError as error:
        listed = error.message
    client = Client(Settings(), network=ours, sleep=no_wait)
    answer = await answer_of(client, provider, ASK)
    await client.close()
    return listed, answer.error.message if answer.error else "ok"


async def no_wait(_: float) -> None:
    pass


@pytest.fixture
async def secure() -> AsyncIterator[int]:
    """The port of a provider that speaks https only."""

    async def chat(_: web.Request) -> web.Response:
        return web.Response(text=f"{CHUNK}data: [DONE]\n\n", content_type="text/event-stream")

    async def models(_: web.Request) -> web.Response:
        return web.json_response(MODELS)

    app = web.Application()
    app.router.add_get("/v1/models", models)
    app.router.add_post("/v1/chat/completions", chat)
    runner = web.AppRunner(app)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    port: int = runner.addresses[0][1]
    yield port
    await runner.cleanup()


Names = Callable[[str, str], None]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Gives a name an address; a name with the address "" is unknown."""
    known: dict[str, str] = {}
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *rest: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name not in known:
            return real(host, *rest, **more)
        if not known[name]:
            raise socket.gaierror(socket.EAI_NONAME, "der Name ist nicht bekannt")
        return real(known[name], *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known.__setitem__


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_server_that_does_not_run_is_not_said_to_lack_https(scheme: str) -> None:
    for said in await both(f"{scheme}://127.0.0.1:{closed_port()}/v1"):
        assert said.startswith("Nothing answers at"), said


async def test_a_server_without_https_is_told() -> None:
    async with ScriptedProvider() as server:
        for said in await both(server.base_url.replace("http:", "https:")):
            assert "does not speak https" in said


async def test_a_certificate_that_nobody_signed_is_told(secure: int) -> None:
    for said in await both(f"https://127.0.0.1:{secure}/v1"):
        assert "certificate of https://127.0.0.1" in said


async def test_a_name_that_does_not_exist_is_told(names: Names) -> None:
    names("provider.test", "")
    for said in await both("https://provider.test/v1"):
        assert "no host by the name" in said


async def test_chats_and_lists_trust_the_same_certificates(
    secure: int, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ssl.SSLContext] = []

    def only_ours() -> ssl.SSLContext:
        made.append(ssl.create_default_context(cafile=CERTIFICATE))
        return made[-1]

    monkeypatch.setattr(network_module, "tls_context", only_ours)
    names("provider.test", "127.0.0.1")
    assert await both(f"https://provider.test:{secure}/v1") == ("ok", "ok")
    assert len(made) == 1


async def test_a_plain_address_on_this_machine_reads_no_certificates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(network_module, "tls_context")
    async with ScriptedProvider() as server:
        server.queue("Hi")
        assert await both(server.base_url) == ("ok", "ok")


def test_the_certificates_of_the_user_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert len(tls_context().get_ca_certs()) == 1
    monkeypatch.delenv("SSL_CERT_FILE")
    assert tls_context().verify_mode is ssl.CERT_REQUIRED


def test_where_openssl_has_no_files_the_system_verifies(monkeypatch: pytest.MonkeyPatch) -> None:
    class Truststore(ssl.SSLContext):
        pass

    def no_files(name: str) -> Any:
        if name != "truststore":
            raise ImportError(name)
        return type("truststore", (), {"SSLContext": Truststore})

    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(importlib, "import_module", no_files)
    assert isinstance(tls_context(), Truststore)


LINK_LOCAL = (
    "http://169.254.169.254/latest",
    "http://2852039166/v1",
    "http://[fe80::1]/v1",
    "http://[::ffff:169.254.169.254]/v1",
)


@pytest.mark.parametrize("base_url", LINK_LOCAL)
def test_a_link_local_address_is_not_saved(tmp_path: Path, base_url: str) -> None:
    with pytest.raises(InvalidRequest, match="ASSISTANT_ALLOW_LINK_LOCAL=1") as refusal:
        ProviderBook(tmp_path / "providers.json").put("p", {"base_url": base_url})
    assert refusal.value.where == "base_url"
    allowed = ProviderBook(tmp_path / "allowed.json", allow_link_local=True)
    assert allowed.put("p", {"base_url": base_url}).base_url
    # A file that was written while it was allowed is whole all the same.
    assert ProviderBook(tmp_path / "allowed.json").list()


@pytest.mark.parametrize("base_url", LINK_LOCAL)
def test_a_link_local_address_in_the_environment_is_a_problem(base_url: str) -> None:
    provider, problem = environment_provider(Settings(openai_base_url=base_url))
    assert provider is None and problem is not None and problem.hides_provider
    allowed = Settings(openai_base_url=base_url, allow_link_local=True)
    assert environment_provider(allowed)[0] is not None


@pytest.mark.parametrize("base_url", LINK_LOCAL)
async def test_a_link_local_address_is_never_asked(base_url: str) -> None:
    for said in await both(base_url):
        assert "leads to a link-local address" in said


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1"])
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_name_that_leads_to_a_link_local_address_is_never_asked(
    names: Names, address: str, scheme: str
) -> None:
    names("provider.test", address)
    for said in await both(f"{scheme}://provider.test/v1"):
        assert "leads to a link-local address" in said


async def test_a_name_that_changes_its_address_before_the_connection_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, names: Names
) -> None:
    """The connection is what counts: here every address of a connection counts as link-local."""
    names("provider.test", "127.0.0.1")
    async with ScriptedProvider() as server:
        monkeypatch.setattr(Network, "_refuse_name", no_check)
        monkeypatch.setattr(network_module, "is_link_local", lambda host: host == "127.0.0.1")
        base_url = server.base_url.replace("127.0.0.1", "provider.test")
        for said in await both(base_url):
            assert "leads to a link-local address" in said
        assert server.requests == []


async def no_check(*_: Any) -> None:
    pass


async def test_a_name_that_leads_elsewhere_is_asked(names: Names) -> None:
    names("provider.test", "127.0.0.1")
    async with ScriptedProvider() as server:
        server.queue("Hi")
        base_url = server.base_url.replace("127.0.0.1", "provider.test")
        assert await both(base_url) == ("ok", "ok")


async def test_a_provider_without_an_address_is_not_sent_to_the_client_s_own() -> None:
    client = Client(Settings(), sleep=no_wait)
    answer = await answer_of(client, Provider("p", "", "m", source="gguf"), ASK)
    await client.close()
    assert answer.failure.code == "unreachable"
