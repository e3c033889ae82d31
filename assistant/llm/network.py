"""How providers are reached: certificates, proxies and the addresses that are never asked.

Chats go by the openai client, lists of models by aiohttp. Both take their rules from one `Network`:
otherwise a provider could chat and have no list, since the two libraries trust different
certificates by default.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Literal

import aiohttp
from aiohttp.abc import ResolveResult

from ..config import Settings
from .addresses import address_in, is_link_local, normal_host
from .provider import Provider, hostname_of

NetworkFault = Literal["link_local", "no_host", "certificate", "no_https", "tls", "no_answer"]
"""Why no connection was made."""
OS_VERIFIES = ("win32", "darwin")
"""Systems whose own certificates are not in files that OpenSSL could read."""
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL")
"""OpenSSL's names for an answer that is no TLS at all."""

Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]


class LinkLocalRefused(OSError):
    """The host is a link-local address, or a name that leads to one."""


class Network:
    """One for each installation."""

    def __init__(self, settings: Settings) -> None:
        self._allow_link_local = settings.allow_link_local
        self._tls: ssl.SSLContext | None = None
        self._making = asyncio.Lock()

    async def tls(self, provider: Provider) -> ssl.SSLContext:
        """The certificates that every request trusts. Made in a thread: it reads many files.

        A plain address on this machine needs none, and gets a context that trusts nobody."""
        if provider.local and not provider.base_url.startswith("https:"):
            return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        async with self._making:
            if self._tls is None:
                self._tls = await asyncio.to_thread(tls_context)
            return self._tls

    def check(self, provider: Provider) -> None:
        """Raises `LinkLocalRefused` for an address; names are checked when they are resolved."""
        host = hostname_of(provider.base_url)
        with contextlib.suppress(ValueError):
            host = normal_host(host)
        self._refuse(host)

    async def session(self, provider: Provider, seconds: float) -> aiohttp.ClientSession:
        """A session for requests to `provider` that end after `seconds`. Raises
        `LinkLocalRefused`."""
        self.check(provider)
        connector = aiohttp.TCPConnector(
            ssl=await self.tls(provider),
            resolver=_CheckedResolver(hostname_of(provider.base_url), self._refuse),
        )
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=seconds),
            trust_env=not provider.local,
        )

    def trace_of(self, provider: Provider) -> Trace:
        """A hook of httpcore that refuses a connection to `provider` whose name leads to a
        link-local address, before the connection is made and again when it is made. A proxy may be
        at any address."""
        host = hostname_of(provider.base_url)
        checked = False

        async def trace(event: str, info: Mapping[str, Any]) -> None:
            nonlocal checked
            if event == "connection.connect_tcp.started":
                checked = info["host"] == host and address_in(host) is None
                if checked and not self._allow_link_local:
                    await self._refuse_name(host)
            elif event == "connection.connect_tcp.complete" and checked:
                peer = info["return_value"].get_extra_info("server_addr")
                try:
                    self._refuse(str(peer[0]) if peer else "")
                except LinkLocalRefused:
                    await info["return_value"].aclose()
                    raise

        return trace

    async def _refuse_name(self, name: str) -> None:
        with contextlib.suppress(socket.gaierror, UnicodeError):  # the connection will say so
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(name, None, type=socket.SOCK_STREAM)
            for *_, address in found:
                self._refuse(str(address[0]))

    def _refuse(self, host: str) -> None:
        if not self._allow_link_local and is_link_local(host):
            raise LinkLocalRefused(f"{host} is a link-local address")


class _CheckedResolver(aiohttp.ThreadedResolver):
    """Resolves names; calls `refuse` for each address of the name `host`."""

    def __init__(self, host: str, refuse: Callable[[str], None]) -> None:
        super().__init__()
        self._host = host
        self._refuse = refuse

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await super().resolve(host, port, family)
        if host == self._host:
            for each in found:
                self._refuse(each["host"])
        return found


def tls_context() -> ssl.SSLContext:
    """The certificates of SSL_CERT_FILE or SSL_CERT_DIR, if set; else those that the operating
    system trusts, and those of the packages that openai brings: Python for macOS has none of its
    own, and a new Windows has only those that it used."""
    if file := os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=file)
    if folder := os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=folder)
    if sys.platform in OS_VERIFIES:
        with contextlib.suppress(ImportError):
            context = importlib.import_module("truststore").SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            assert isinstance(context, ssl.SSLContext)
            return context
    context = ssl.create_default_context()
    with contextlib.suppress(ImportError, OSError):
        context.load_verify_locations(importlib.import_module("certifi").where())
    return context


def fault_of(error: BaseException) -> NetworkFault:
    """Why no connection was made, by the types of the exceptions behind `error`. Their texts differ
    between systems, languages and libraries."""
    kinds = tuple(_behind(error))
    if any(isinstance(each, LinkLocalRefused) for each in kinds):
        return "link_local"
    if any(isinstance(each, socket.gaierror) for each in kinds):
        return "no_host"
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in kinds):
        return "certificate"
    if any(getattr(each, "reason", None) in _NO_TLS for each in kinds):
        return "no_https"
    return "tls" if any(isinstance(each, ssl.SSLError) for each in kinds) else "no_answer"


def _behind(error: BaseException) -> Iterator[BaseException]:
    """`error` and the exceptions that it was raised from or holds."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if not isinstance(each, BaseException) or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        waiting += [each.__cause__, each.__context__, getattr(each, "os_error", None)]
        waiting += [getattr(each, "certificate_error", None), *getattr(each, "exceptions", ())]
