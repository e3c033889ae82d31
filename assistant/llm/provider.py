"""A provider: one LLM server with the model to use there, wherever it was configured.

`book` stores the providers of the panel, `resolver` chooses a provider, `client` sends requests to
it.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from .addresses import is_link_local, normal_host

Source = Literal["settings", "environment", "local", "gguf", "demo"]

_SOURCE = re.compile(r"\s*\([^()]*\)$")
"""What stands behind the name of a provider that nobody named."""
OPENAI_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Provider:
    """`context_window` is in tokens, None if not configured. `model` is empty until one is chosen.

    `vision` is what the user set about the models' sight, None if nothing.
    `base_url` of a model that we serve ourselves (sources gguf and demo) is empty until its server
    runs. `tools` is False if the model is known not to take tools.
    """

    name: str
    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    context_window: int | None = None
    source: Source = "settings"
    tools: bool = True
    vision: bool | None = None

    @property
    def demo(self) -> bool:
        return self.source == "demo"

    @property
    def local(self) -> bool:
        """True when requests to this provider do not leave the machine."""
        return self.source in ("gguf", "demo") or is_loopback(self.base_url)

    @property
    def host(self) -> str:
        """Scheme, host and port for error messages, such as `http://127.0.0.1:11434`."""
        return host_of(self.base_url) or self.name

    @property
    def title(self) -> str:
        """The name as people know it, without the source that we add: `Ollama`; the host of a
        provider without a name."""
        return _SOURCE.sub("", self.name) or self.host

    @property
    def place(self) -> str:
        """Host and name, for a fault of the address: `http://127.0.0.1:11434 (Ollama)`."""
        return self.host if self.title in self.host else f"{self.host} ({self.title})"


def normal_base_url(text: str) -> str:
    """A base URL in the form that we store: without a slash at its end, `/v1` if it has no path.

    Users paste whole endpoints and bare hosts. Raises ValueError with a sentence about the fault.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        hostname = parts.hostname
    except ValueError:
        raise ValueError("it must look like http://127.0.0.1:11434/v1") from None
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise ValueError("its port is no number from 1 to 65535")
    if parts.scheme not in ("http", "https") or not hostname:
        raise ValueError("it must look like http://127.0.0.1:11434/v1")
    if parts.username or parts.password:
        raise ValueError("a user name or password cannot stand in it; a key has its own field")
    if parts.query or parts.fragment or not text.isprintable() or " " in text:
        raise ValueError("it must end with its path, without `?`, `#` or spaces")
    host = normal_host(hostname)
    host = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "") + path


def host_of(base_url: str) -> str:
    """The URL up to its path, without user name and password; "" if it has no host."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.hostname else ""


def hostname_of(base_url: str) -> str:
    return urlsplit(base_url).hostname or ""


def check_link_local(base_url: str, *, allowed: bool) -> None:
    """Raises ValueError with a sentence if the URL has a link-local address, unless `allowed`."""
    if not allowed and is_link_local(hostname_of(base_url)):
        raise ValueError(
            "it is a link-local address, where clouds hand out a machine's keys; "
            "ASSISTANT_ALLOW_LINK_LOCAL=1 allows it"
        )


def is_loopback(base_url: str) -> bool:
    hostname = hostname_of(base_url)
    if hostname == "localhost" or hostname.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(hostname).is_loopback
    except ValueError:
        return False


def usable_key(key: str) -> bool:
    """Whether a key can stand in a header: printable ASCII without spaces, or nothing."""
    return all("!" <= character <= "~" for character in key)
