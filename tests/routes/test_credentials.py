"""Which requests carry the token, and what the cookie reveals."""

import pytest
from plugin.assistant.routes.credentials import COOKIE, HEADER, cookie_value, presents, same

TOKEN = "correct horse"


@pytest.mark.parametrize(
    "headers",
    [
        {HEADER: TOKEN},
        {"Authorization": f"Bearer {TOKEN}"},
        {"Authorization": f"bearer   {TOKEN} "},
    ],
)
def test_the_token_in_a_header_is_enough(headers: dict[str, str]) -> None:
    assert presents(TOKEN, headers, {})


@pytest.mark.parametrize(
    ("headers", "cookies"),
    [
        ({}, {}),
        ({HEADER: "wrong"}, {}),
        ({HEADER: ""}, {}),
        ({"Authorization": f"Basic {TOKEN}"}, {}),
        ({"Authorization": TOKEN}, {}),
        ({HEADER: "\udcff"}, {}),
        ({}, {COOKIE: TOKEN}),
        ({}, {COOKIE: cookie_value("another token")}),
        ({HEADER: cookie_value(TOKEN)}, {}),
    ],
)
def test_anything_else_is_not(headers: dict[str, str], cookies: dict[str, str]) -> None:
    assert not presents(TOKEN, headers, cookies)


def test_the_cookie_is_enough_and_does_not_hold_the_token() -> None:
    value = cookie_value(TOKEN)
    assert presents(TOKEN, {}, {COOKIE: value})
    assert TOKEN not in value


def test_without_a_token_nothing_is_right() -> None:
    assert not same("", "")
    assert not presents("", {HEADER: ""}, {COOKIE: cookie_value("")})
