"""Hosts, origins and addresses as values that can be compared. Pure; `guard` compares them.

`localhost.`, `LOCALHOST` and `localhost:8188` name one host; `[::1]`, `::1` and `0:0:0:0:0:0:0:1`
are one address. A text that cannot be parsed gives None, never a guess.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

DEFAULT_PORTS = {"http": 80, "https": 443}
HIGHEST_PORT = 65_535

# A host as browsers send it: a name in ASCII (other letters come as Punycode) or an address.
_AUTHORITY = re.compile(
    r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>[0-9]{0,5}))?"
)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#@\s]+)/?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Authority:
    """A host in lower case, without brackets and trailing dot; `port` is None when missing."""

    host: str
    port: int | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """True for `localhost`, names below it, and loopback addresses."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        return is_loopback_address(self.host)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port of a page; the scheme's default port is filled in."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        default = self.port == DEFAULT_PORTS[self.scheme]
        return f"{self.scheme}://{Authority(self.host, None if default else self.port)}"


def parse_authority(text: str) -> Authority | None:
    """`host`, `host:port` or `[IPv6]:port`, as in a Host header; None for anything else."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    port = int(match["port"]) if match["port"] else None
    if port is not None and port > HIGHEST_PORT:
        return None
    if match["ipv6"]:
        host = _canonical_address(match["ipv6"])
        return Authority(host, port) if host and ":" in host else None
    name = match["name"].lower().removesuffix(".")
    return Authority(_canonical_address(name) or name, port) if name else None


def parse_allowed_host(text: str) -> Authority | None:
    """An entry of ASSISTANT_ALLOWED_HOSTS: as in a Host header, or an IPv6 address alone."""
    address = _canonical_address(text)
    return Authority(address) if address else parse_authority(text)


def parse_origin(text: str) -> Origin | None:
    """`scheme://host[:port]`; None for `null` and any other text that is no web page's origin."""
    match = _ORIGIN.fullmatch(text)
    authority = parse_authority(match["authority"]) if match else None
    if match is None or authority is None:
        return None
    return origin_of(match["scheme"].lower(), authority)


def origin_of(scheme: str, authority: Authority) -> Origin:
    """The origin of a page that was loaded from `authority`; `scheme` is http or https."""
    port = DEFAULT_PORTS[scheme] if authority.port is None else authority.port
    return Origin(scheme, authority.host, port)


def is_loopback_address(text: str) -> bool:
    """True for 127.0.0.0/8, ::1, and 127.0.0.0/8 written as IPv6 (`::ffff:127.0.0.1`)."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _canonical_address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
