"""The host in a provider's address: one form for each host, and the hosts that are not asked.

Link-local addresses (RFC 3927, RFC 4291) belong to the network interface, not to a server that a
user runs. On a rented machine the cloud's own service answers there and gives the machine's keys
to whoever asks, so no provider is asked there unless a setting allows it. Pure.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA_SERVICES = frozenset({ipaddress.IPv6Address("fd00:ec2::254")})
"""Addresses of such services that are not link-local: Amazon's over IPv6."""
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""An IPv4 address as an IPv6 network reaches it (RFC 6052)."""
LONGEST_NAME = 253
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")


def normal_host(host: str) -> str:
    """A host name in lower case and ASCII, or an address in its usual form, without brackets.

    `2852039166` and `0xa9.254.43518` are the address that the system makes of them. Raises
    ValueError with a sentence about the fault.
    """
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host.replace("%25", "%")))
        except ValueError:
            raise ValueError("its IPv6 address is none") from None
    name = host.lower().removesuffix(".")
    if unicodedata.normalize("NFKC", name) != name:
        raise ValueError("its host has characters that only look like those of a host")
    if not name.isascii():
        name = _in_ascii(name)
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return str(_ipv4(labels))
    if len(name) > LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("its host is no name and no address")
    return name


def _in_ascii(name: str) -> str:
    """The name as DNS has it. Names that older and newer rules turn into different hosts, such as
    those with an eszett, are refused. Raises ValueError."""
    try:
        encoded = name.encode("idna")
        if encoded.decode("idna") == name:
            return encoded.decode("ascii")
    except UnicodeError:
        pass
    raise ValueError("its host cannot be written in ASCII without doubt: write it as xn--...")


def _ipv4(parts: list[str]) -> ipaddress.IPv4Address:
    """The address of one to four numbers, the last of which fills the rest of the address."""
    try:
        *bytes_, rest = [_number(part) for part in parts]
        room = 4 - len(bytes_)
        if room < 1 or rest >= 256**room or any(byte > 255 for byte in bytes_):
            raise ValueError(parts)
        number = rest + sum(byte << 8 * (3 - place) for place, byte in enumerate(bytes_))
        return ipaddress.IPv4Address(number)
    except ValueError:
        raise ValueError("its host is a number, but no address") from None


def _number(text: str) -> int:
    if len(text) > 16 or not _NUMBER.fullmatch(text):
        raise ValueError(text)
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)


def address_in(host: str) -> Address | None:
    """The address that `host` is, or None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_link_local(host: str) -> bool:
    """Whether `host` is a link-local address, also inside an IPv6 address that stands for it, or
    that of a cloud's metadata service. False for a name."""
    address = address_in(host)
    if address is None:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_link_local
    plain = ipaddress.IPv6Address(int(address))  # without the name of an interface
    inner = plain.ipv4_mapped or plain.sixtofour
    if inner is None and (plain in NAT64 or int(plain) >> 32 == 0):
        inner = ipaddress.IPv4Address(int(plain) & 0xFFFFFFFF)
    if inner is not None and inner.is_link_local:
        return True
    return plain.is_link_local or plain in METADATA_SERVICES
