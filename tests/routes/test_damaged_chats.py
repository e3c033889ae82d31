"""A chat whose rows are damaged: the list, the search and the turns of the others go on."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from plugin.tests.chatting import Chatting, chatting

SPOIL = """
UPDATE chats SET params = '{', state = 'wild', created = x'00ff' WHERE id = 'bad';
UPDATE messages SET body = CAST(x'7bff' AS TEXT) WHERE chat_id = 'bad' AND "row" = 1;
PRAGMA foreign_keys = OFF;
INSERT INTO running (chat_id, message_id, parent_row, started, body, owner, beat)
    VALUES ('bad', 7, 'x', 5, '[', '{"pid": "x"}', x'00');
"""


async def get(chat: Chatting, path: str) -> tuple[int, dict[str, object]]:
    async with chat.client.get(f"/api{path}") as response:
        return response.status, await response.json()


async def test_a_damaged_chat_hides_no_other_and_health_names_it(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.provider.queue("A walrus.", "Another walrus.")
        await chat.say("Which animal?", chat="bad")
        await chat.say("Which animal?", chat="good")
    (file,) = await asyncio.to_thread(lambda: list(tmp_path.rglob("assistant.db")))
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(SPOIL)
    async with chatting(tmp_path) as chat:
        status, listed = await get(chat, "/chats")
        assert status == 200
        chats = {entry["id"]: entry for entry in listed["chats"]}  # type: ignore[attr-defined]
        assert chats["bad"]["damaged"] is True
        assert "damaged" not in chats["good"]
        status, found = await get(chat, "/chats/search?q=walrus")
        assert status == 200
        assert {"good"} <= {hit["chat_id"] for hit in found["results"]}  # type: ignore[attr-defined]
        status, opened = await get(chat, "/chats/bad")
        assert status == 200 and len(opened["messages"]) >= 2  # type: ignore[arg-type]
        status, _ = await get(chat, "/chats/good")
        assert status == 200
        chat.provider.queue("A seal.", "It goes on.")
        assert (await chat.say("And now?", chat="good")).text == "A seal."
        assert (await chat.say("And here?", chat="bad")).text == "It goes on."
        _, health = await get(chat, "/assistant/health")
        codes = [problem["code"] for problem in health["problems"]]  # type: ignore[attr-defined]
        assert codes == ["damaged_rows"]
        assert health["saving"] == {"ok": True}
