"""The token is traded for a cookie, and requests with the cookie are served."""

from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.routes.credentials import COOKIE
from plugin.tests.routes.site import error_of, site

TOKEN = "correct horse battery"
ROUTE = "/api/assistant/session"


async def test_the_right_token_opens_every_route_to_the_browser(tmp_path: Path) -> None:
    async with site(tmp_path, Settings(token=TOKEN), local=False) as ours:
        assert (await ours.client.get("/api/user-context/rules")).status == 401
        opened = await ours.client.post(ROUTE, json={"token": TOKEN})
        assert opened.status == 204
        cookie = SimpleCookie(opened.headers["Set-Cookie"])[COOKIE]
        assert cookie["httponly"] and cookie["samesite"] == "Strict" and cookie["path"] == "/"
        assert TOKEN not in opened.headers["Set-Cookie"]
        headers = {"Cookie": f"{COOKIE}={cookie.value}"}
        assert (await ours.client.get("/api/user-context/rules", headers=headers)).status == 200


async def test_behind_tls_the_cookie_never_travels_in_the_clear(tmp_path: Path) -> None:
    settings = Settings(token=TOKEN, allowed_origins=("https://nas.example",))
    async with site(tmp_path, settings, local=False) as ours:
        headers = {"Origin": "https://nas.example"}
        opened = await ours.client.post(ROUTE, json={"token": TOKEN}, headers=headers)
        assert SimpleCookie(opened.headers["Set-Cookie"])[COOKIE]["secure"]


@pytest.mark.parametrize("token", ["wrong", TOKEN + " ", TOKEN.upper(), "\ud800"])
async def test_a_wrong_token_is_a_401_without_a_cookie(tmp_path: Path, token: str) -> None:
    async with site(tmp_path, Settings(token=TOKEN), local=False) as ours:
        answer = await ours.client.post(ROUTE, json={"token": token})
        assert answer.status == 401 and "Set-Cookie" not in answer.headers
        assert error_of(await answer.json())["code"] == "token_required"


async def test_a_foreign_page_cannot_open_a_session(tmp_path: Path) -> None:
    async with site(tmp_path, Settings(token=TOKEN), local=False) as ours:
        headers = {"Origin": "https://evil.example"}
        answer = await ours.client.post(ROUTE, json={"token": TOKEN}, headers=headers)
        assert answer.status == 403 and "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("local", [True, False])
async def test_without_a_token_there_is_no_session(tmp_path: Path, local: bool) -> None:
    async with site(tmp_path, local=local) as ours:
        answer = await ours.client.post(ROUTE, json={"token": "anything"})
        assert answer.status == 403 and "Set-Cookie" not in answer.headers
        assert error_of(await answer.json())["code"] == "token_not_set"


async def test_a_token_that_is_no_text_is_a_400(tmp_path: Path) -> None:
    async with site(tmp_path, Settings(token=TOKEN)) as ours:
        for body in ({}, {"token": 5}, {"token": ""}, {"token": "x", "more": 1}):
            assert (await ours.client.post(ROUTE, json=body)).status == 400
