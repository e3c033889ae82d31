"""Hosts in one form, and link-local addresses in all forms."""

from __future__ import annotations

import pytest
from plugin.assistant.llm.addresses import is_link_local, normal_host


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("API.Example.com", "api.example.com"),
        ("example.com.", "example.com"),
        ("my_service", "my_service"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("192.168.1.5", "192.168.1.5"),
        ("::1", "::1"),
        ("FE80::1%25eth0", "fe80::1%eth0"),
    ],
)
def test_a_host_is_kept_in_one_form(typed: str, kept: str) -> None:
    assert normal_host(typed.lower() if ":" in typed else typed) == kept


@pytest.mark.parametrize(
    "host",
    [
        *("⒈", "１２７.0.0.1", "ﬁ.de", "ß.de", "a\u200bb.de", "a..b", ".", "-a", "a b", "a\\b"),
        *("a" * 64, "a." * 127 + "a", "256.1.1.1", "1.2.3.4.5", "4294967296", "09.1.1.1", "a.0x"),
        *("1:2", "::1::", "fe80::%"),
    ],
)
def test_a_host_that_is_none_is_refused_with_a_sentence(host: str) -> None:
    with pytest.raises(ValueError, match=r"^its (host|IPv6 address) "):
        normal_host(host)


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "169.254.0.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376"),
        *("169.254.43518", "fe80::1", "fe80::1%eth0", "febf::1", "::ffff:169.254.169.254"),
        *("::169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "fd00:ec2::254"),
        "::ffff:a9fe:a9fe%1",
    ],
)
def test_a_link_local_address_is_known_in_every_form(host: str) -> None:
    assert is_link_local(normal_host(host))


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "192.168.1.5", "10.0.0.1", "169.253.1.1", "::1", "fd00::1", "2001:db8::1"),
        *("api.openai.com", "169.254.169.254.example.com", ""),
    ],
)
def test_other_hosts_are_not_link_local(host: str) -> None:
    assert not is_link_local(host)
