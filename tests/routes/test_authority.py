"""Hosts, origins and addresses: which are equal, which are loopback, which are refused."""

import pytest
from plugin.assistant.routes.authority import (
    Authority,
    Origin,
    is_loopback_address,
    parse_allowed_host,
    parse_authority,
    parse_origin,
)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost", "localhost", None),
        ("LocalHost:8188", "localhost", 8188),
        ("localhost.:8188", "localhost", 8188),
        ("localhost:", "localhost", None),
        ("127.0.0.1:8188", "127.0.0.1", 8188),
        ("[::1]:8188", "::1", 8188),
        ("[0:0:0:0:0:0:0:1]", "::1", None),
        ("my_container:80", "my_container", 80),
        ("xn--bcher-kva.example", "xn--bcher-kva.example", None),
    ],
)
def test_a_host_is_read_with_and_without_its_port(text: str, host: str, port: int | None) -> None:
    assert parse_authority(text) == Authority(host, port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        ":80",
        "a b",
        "a/b",
        "user@host",
        "::1",
        "[::1",
        "[127.0.0.1]",
        "[fe80::1%eth0]",
        "localhost:99999",
        "localhost:8a",
        "localhost:123456",
        "*",
        "a,b",
        "a\x00",
        "a#b",
        "ö",
    ],
)
def test_what_is_no_host_is_none(text: str) -> None:
    assert parse_authority(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "localhost",
        "LOCALHOST.",
        "comfy.localhost:8188",
        "127.0.0.1",
        "127.255.0.9",
        "[::1]:1",
        "[::ffff:127.0.0.1]:8188",
    ],
)
def test_loopback_names_and_addresses_are_loopback(text: str) -> None:
    host = parse_authority(text)
    assert host is not None and host.loopback


@pytest.mark.parametrize(
    "text",
    [
        "localhost.example.com",
        "notlocalhost",
        "127.0.0.1.nip.io",
        "0.0.0.0",
        "192.168.1.5",
        "[::]:8188",
        "[::ffff:10.0.0.1]",
        "[fe80::1]",
        "2130706433",
        "127.1",
    ],
)
def test_what_only_looks_like_loopback_is_not(text: str) -> None:
    host = parse_authority(text)
    assert host is not None and not host.loopback


@pytest.mark.parametrize("text", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_loopback_peers(text: str) -> None:
    assert is_loopback_address(text)


@pytest.mark.parametrize("text", ["10.0.0.2", "::ffff:10.0.0.2", "fe80::1%eth0", "", "localhost"])
def test_other_peers(text: str) -> None:
    assert not is_loopback_address(text)


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("http://localhost:8188", Origin("http", "localhost", 8188)),
        ("HTTP://LOCALHOST", Origin("http", "localhost", 80)),
        ("https://nas.example", Origin("https", "nas.example", 443)),
        ("https://nas.example:443/", Origin("https", "nas.example", 443)),
        ("http://[::1]:8188", Origin("http", "::1", 8188)),
    ],
)
def test_an_origin_has_its_default_port(text: str, origin: Origin) -> None:
    assert parse_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "",
        "*",
        "localhost:8188",
        "file://",
        "chrome-extension://abc",
        "http://",
        "http://a/b",
        "http://user@localhost:8188",
        "http://localhost:8188?x",
        "ftp://localhost",
        "http://a b",
    ],
)
def test_what_is_no_web_page_has_no_origin(text: str) -> None:
    assert parse_origin(text) is None


def test_an_origin_is_written_as_browsers_send_it() -> None:
    for text in ("http://localhost:8188", "https://nas.example", "http://[::1]:8188"):
        assert str(parse_origin(text)) == text


def test_an_allowed_host_may_be_an_ipv6_address_alone() -> None:
    assert parse_allowed_host("fd00::5") == Authority("fd00::5")
    assert parse_allowed_host("[fd00::5]:8188") == Authority("fd00::5", 8188)
    assert parse_allowed_host("nas.local") == Authority("nas.local")
    assert parse_allowed_host("*") is None
    assert parse_allowed_host("http://nas.local") is None
