"""A provider's address: its normal form, and whether it is on this machine."""

from __future__ import annotations

import pytest
from plugin.assistant.llm.provider import Provider, normal_base_url


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("  http://127.0.0.1:11434/ ", "http://127.0.0.1:11434/v1"),
        ("https://API.Example.com/v1/", "https://api.example.com/v1"),
        ("https://openrouter.ai/api/v1/chat/completions", "https://openrouter.ai/api/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_an_address_is_kept_in_one_form_however_it_is_typed(typed: str, kept: str) -> None:
    assert normal_base_url(typed) == kept


@pytest.mark.parametrize(
    ("base_url", "local"),
    [
        ("http://127.0.0.1:1234/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://localhost:1234/v1", True),
        ("http://[::1]:1234/v1", True),
        ("http://192.168.1.5:1234/v1", False),
        ("http://127.0.0.1.example.com/v1", False),
        ("http://localhost.example.com/v1", False),
        ("https://api.openai.com/v1", False),
        ("", False),
    ],
)
def test_only_loopback_is_local(base_url: str, local: bool) -> None:
    assert Provider("p", base_url, "m").local is local


def test_what_we_serve_ourselves_is_local_before_it_has_an_address() -> None:
    assert Provider("p", "", "m", source="demo").local
    assert Provider("p", "", "m", source="gguf").local


def test_a_provider_is_named_by_host_and_port_without_credentials() -> None:
    assert Provider("p", "http://user:word@host:80/v1", "m").host == "http://host:80"
    assert Provider("Demo", "", "m", source="demo").host == "Demo"


def test_the_key_is_not_in_the_repr() -> None:
    assert "sk-secret" not in repr(Provider("p", "http://host/v1", "m", "sk-secret"))
