"""A provider: one LLM server with the model to use there, wherever it was configured.

`book` stores the providers of the panel, `resolver` chooses a provider, `client` sends requests to
it.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

Source = Literal["settings", "environment", "local", "gguf", "demo"]

OPENAI_BASE_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Provider:
    """`context_window` is in tokens, None if not configured. `model` is empty until one is chosen.

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


def normal_base_url(text: str) -> str:
    """A base URL in the form that we store: without a slash at its end, `/v1` if it has no path.

    Users paste whole endpoints and bare hosts. Raises ValueError with a sentence about the fault.
    """
    parts = urlsplit(text.strip())
    try:
        port = parts.port
    except ValueError:
        raise ValueError("its port is no number from 1 to 65535") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must look like http://127.0.0.1:11434/v1")
    if parts.username or parts.password:
        raise ValueError("a user name or password cannot stand in it; a key has its own field")
    if parts.query or parts.fragment or any(c.isspace() for c in text.strip()):
        raise ValueError("it must end with its path, without `?`, `#` or spaces")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "") + path


def host_of(base_url: str) -> str:
    """The URL up to its path, without user name and password; "" if it has no host."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.hostname else ""


def is_loopback(base_url: str) -> bool:
    hostname = urlsplit(base_url).hostname or ""
    if hostname == "localhost" or hostname.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(hostname).is_loopback
    except ValueError:
        return False
