"""A provider: one LLM server with the model to use there, wherever it was configured.

A value only. `book` keeps the user's own, `resolver` chooses one, `client` talks to it.
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
    """`context_window` is in tokens, None where nobody said. `model` is empty until one is chosen.

    `base_url` of a model that we serve ourselves (sources gguf and demo) is empty until its server
    runs. `tools` is False where the model is known not to take any.
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
        """True when nothing that is sent there leaves the machine."""
        return self.source in ("gguf", "demo") or is_loopback(self.base_url)

    @property
    def host(self) -> str:
        """Scheme, host and port, for sentences: `http://127.0.0.1:11434`."""
        return host_of(self.base_url) or self.name


def host_of(base_url: str) -> str:
    """The URL up to its path, without a user name or password."""
    parts = urlsplit(base_url)
    if not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


def is_loopback(base_url: str) -> bool:
    hostname = urlsplit(base_url).hostname or ""
    if hostname == "localhost" or hostname.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(hostname).is_loopback
    except ValueError:
        return False
