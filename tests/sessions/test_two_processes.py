"""A second ComfyUI on the same chats, over HTTP: 409 and the place for a chat that the other
process answers; all other chats work."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import psutil
from plugin.assistant.chats import ChatStore, TurnStart
from plugin.assistant.database.lease import this_process
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.tests.chats.examples import answer as answer_message
from plugin.tests.chats.examples import user
from plugin.tests.chats.test_ownership import another_process
from plugin.tests.chatting import Chatting, chatting


async def status(chat: Chatting, method: str, path: str, **more: object) -> int:
    async with chat.client.request(method, f"/api{path}", **more) as response:
        return response.status


async def test_what_would_change_a_chat_that_runs_elsewhere_is_refused_with_the_place(
    tmp_path: Path,
) -> None:
    database = tmp_path / "user" / "default" / "assistant.db"
    await asyncio.to_thread(database.parent.mkdir, parents=True)
    with another_process(database) as process:
        async with chatting(tmp_path) as chat:
            refused = await chat.say("Hi", "theirs")
            assert (refused.status, refused.error["code"]) == (409, "runs_elsewhere")
            assert "127.0.0.1:8189" in refused.error["message"]
            assert f"process {process.pid}" in refused.error["message"]
            for command in ({"type": "abort"}, {"type": "compact"}):
                answer = await chat.command("theirs", **command)
                assert answer.status == 409, await answer.text()
                assert (await answer.json())["error"]["code"] == "runs_elsewhere"
            assert await status(chat, "DELETE", "/chats/theirs") == 409
            assert await status(chat, "PATCH", "/chats/theirs", json={"title": "Here"}) == 200
            assert len((await chat.stored("theirs"))["messages"]) == 1
            chat.provider.queue("Hello")
            assert (await chat.say("Hi", "quiet")).text == "Hello"


async def test_the_mark_of_an_answer_says_where_it_is_given(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.provider.queue("Hello")
        await chat.say("Hi")
        owner = chat.assistant.space_of("default").chats.owner
        assert owner.address == f"127.0.0.1:{chat.client.port}"


async def test_a_stop_of_an_answer_that_began_elsewhere_later_is_refused(tmp_path: Path) -> None:
    parent = psutil.Process(os.getppid())
    address = "127.0.0.1:8189"
    elsewhere = replace(this_process(address), pid=parent.pid, started=parent.create_time())
    async with chatting(tmp_path) as chat:
        chat.provider.queue("Hello")
        await chat.say("Hi")
        database = SqliteDatabase(tmp_path / "user" / "default" / "assistant.db")
        other = ChatStore(database, owner=elsewhere)
        await other.begin_turn("c1", TurnStart(answer_message("a9"), (user("u9"),)))
        stopped = await chat.command(type="abort")
        assert stopped.status == 409, await stopped.text()
        assert (await stopped.json())["error"]["code"] == "runs_elsewhere"
        await other.finish_answer("c1", answer_message("a9"))
        assert (await chat.command(type="abort")).status == 202
        await database.close()
