"""Kills the server at random moments of running turns, and checks the stored chat:

    python bench/crash.py [--kills 200] [--seed 1] [--folder FOLDER]

Each time a real server process is killed while it answers over HTTP, and started again. Then the
chat must hold all that the server had acknowledged: the user's message, if the answer's stream had
begun; the answer up to its last checkpoint, or whole, if its end was sent; a queued message, if it
was accepted. The log must be valid, no turn may be running, and the next turn must work: the server
is killed during that turn next.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import asyncio  # noqa: E402
import contextlib  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import random  # noqa: E402
import sqlite3  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from collections import Counter  # noqa: E402
from contextlib import closing  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from typing import Any  # noqa: E402

import aiohttp  # noqa: E402
from plugin.tests.providers import Script, ScriptedProvider, text, tool_call  # noqa: E402

SERVER = Path(__file__).with_name("crash_server.py")
CHAT = "c1"
WORDS = 30
WORD_SECONDS = 0.004
MOST_CHUNKS = 55
"""More chunks than a turn has, so some kills come after the turn's end, or in the turn of the
queued message."""
AT_ONCE_SHARE = 0.1
"""Share of the kills that come after a random time instead of a chunk, most of them before the
message is stored."""
AT_ONCE_SECONDS = 0.1
LITTLE_SECONDS = 0.02
QUEUED_SHARE = 0.3
START_SECONDS = 60


@dataclass
class Told:
    """The data of a turn that the client has received. `said` is the text of the answer so far."""

    user: str
    stored: bool = False
    answer: str | None = None
    said: str = ""
    ended: bool = False
    queued: str | None = None
    over: bool = False
    chunks: int = 0
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def reach(self, chunks: int) -> None:
        """Waits until the client has read `chunks` chunks, or the turn is over."""
        while self.chunks < chunks and not self.over:
            self.moved.clear()
            await self.moved.wait()


@dataclass
class Result:
    """The result of all kills. `lost` has a sentence for each acknowledged thing that the chat no
    longer has."""

    kills: int = 0
    moments: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)


class Server:
    """The server's process, which can be started again after it was killed."""

    def __init__(self, folder: Path, provider: str) -> None:
        self._command = [sys.executable, str(SERVER), str(folder), provider]
        self._process: asyncio.subprocess.Process | None = None
        self.url = ""

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), START_SECONDS)
        self.url = f"http://127.0.0.1:{int(line)}/api"

    async def kill(self) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


async def crash(kills: int, folder: Path, seed: int) -> Result:
    """Kills the server `kills` times, each time in another turn of one chat."""
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # each kill logs errors
    pick, result = random.Random(seed), Result()
    provider = ScriptedProvider()
    await provider.start()
    server = Server(folder, provider.base_url)
    history: list[Told] = []
    try:
        await server.start()
        for number in range(kills):
            provider._scripts.clear()
            provider.queue(*_scripts(number))
            told = Told(f"u{number}")
            history.append(told)
            await _killed_turn(server, told, pick)
            result.kills += 1
            result.moments[_moment(told)] += 1
            await server.start()
            result.lost += await _missing(server.url, history, folder)
        provider._scripts.clear()
        provider.queue("Still here")
        last = Told("last")
        async with aiohttp.ClientSession() as client:
            await _say(client, server.url, last)
        if last.said != "Still here":
            result.lost.append(f"the last turn said {last.said!r}")
    finally:
        await server.kill()
        await provider.stop()
    return result


def _scripts(number: int) -> list[Script]:
    """The scripts of a turn of two requests (words and a call, then words), and of the queued
    message's turn."""
    words = [f"{number}.{word} " for word in range(WORDS)]
    steps: list[dict[str, Any]] = []
    for word in words[: WORDS // 2]:
        steps += [{"text": word}, {"pause": WORD_SECONDS}]
    again: list[dict[str, Any]] = []
    for word in words[WORDS // 2 :]:
        again += [{"text": word}, {"pause": WORD_SECONDS}]
    return [Script([*steps, tool_call("listUserSkills")]), Script(again), text("One more")]


async def _killed_turn(server: Server, told: Told, pick: random.Random) -> None:
    """Starts a turn and kills the server at a random moment: a short time after any chunk."""
    at_once, queues = pick.random() < AT_ONCE_SHARE, pick.random() < QUEUED_SHARE
    chunks = 0 if at_once else pick.randint(1, MOST_CHUNKS)
    seconds = pick.uniform(0, AT_ONCE_SECONDS if at_once else LITTLE_SECONDS)
    async with aiohttp.ClientSession() as client:
        turn = asyncio.create_task(_say(client, server.url, told))
        queueing = asyncio.create_task(_queue(client, server.url, told)) if queues else None
        await told.reach(chunks)
        await asyncio.sleep(seconds)
        await server.kill()
        for task in filter(None, (turn, queueing)):
            with contextlib.suppress(aiohttp.ClientError, ConnectionError):
                await task


async def _say(client: aiohttp.ClientSession, url: str, told: Told) -> None:
    """Sends a message and reads its answer into `told`."""
    try:
        await _read(client, url, told)
    finally:
        told.over = True
        told.moved.set()


async def _read(client: aiohttp.ClientSession, url: str, told: Told) -> None:
    body = {"id": CHAT, "message": _message(told.user)}
    async with client.post(f"{url}/chat", json=body) as response:
        if response.status != 200:
            raise AssertionError(f"{told.user}: {response.status} {await response.text()}")
        async for line in response.content:
            if not line.startswith(b"data: "):
                continue
            if line.strip() == b"data: [DONE]":
                continue
            chunk = json.loads(line[6:])
            told.stored = True
            if chunk["type"] == "start":
                told.answer = chunk["messageId"]
            elif chunk["type"] == "text-delta":
                told.said += chunk["delta"]
            elif chunk["type"] == "finish":
                told.ended = True
            told.chunks += 1
            told.moved.set()


async def _queue(client: aiohttp.ClientSession, url: str, told: Told) -> None:
    """Queues a message during the turn."""
    await told.reach(1)
    identity = f"{told.user}-queued"
    command = {"type": "user_message", "message": _message(identity)}
    async with client.post(f"{url}/chats/{CHAT}/commands", json=command) as response:
        if response.status == 202:
            told.queued = identity


def _message(identity: str) -> dict[str, Any]:
    return {"id": identity, "role": "user", "parts": [{"type": "text", "text": f"I am {identity}"}]}


def _moment(told: Told) -> str:
    if told.ended:
        return "after the end"
    if told.said:
        return "in the answer"
    return "before the first word" if told.stored else "before the message was stored"


async def _missing(url: str, history: list[Told], folder: Path) -> list[str]:
    """A sentence for each acknowledged thing that the chat no longer has."""
    async with aiohttp.ClientSession() as client:
        chat = await _chat(client, url)
        if chat is None:
            return ["the chat"] if any(told.stored for told in history) else []
        messages = {message["id"]: message for message in chat["messages"]}
        waiting = await _waiting(client, url)
        wrong = _lost(history, messages, waiting)
        for identity in waiting:
            command = {"type": "cancel_queued", "id": identity}
            async with client.post(f"{url}/chats/{CHAT}/commands", json=command) as response:
                if response.status != 202:
                    wrong.append(f"{identity} cannot be taken out of the queue")
    if chat["state"] not in ("idle", "completed", "error"):
        wrong.append(f"the chat is {chat['state']}")
    return wrong + _invalid(folder)


def _lost(
    history: list[Told], messages: dict[str, dict[str, Any]], waiting: dict[str, str]
) -> list[str]:
    wrong = []
    last = history[-1]
    for told in history:
        if told.stored and told.user not in messages:
            wrong.append(f"the message {told.user}")
        if told.answer is not None and told.answer not in messages:
            wrong.append(f"the answer to {told.user}")
        elif told.answer is not None:
            answer = messages[told.answer]
            text_of = "".join(p["text"] for p in answer["parts"] if p["type"] == "text")
            cut = answer.get("metadata", {}).get("cut")
            if told.ended and text_of != told.said:
                wrong.append(f"{told.user}: {told.said!r} became {text_of!r}")
            if not told.ended and not cut and not text_of.startswith(told.said):
                wrong.append(f"the answer to {told.user} is neither whole nor marked as cut")
    if last.queued is not None and last.queued not in (*messages, *waiting.values()):
        wrong.append(f"the queued message {last.queued}")
    return wrong


async def _chat(client: aiohttp.ClientSession, url: str) -> dict[str, Any] | None:
    """The chat with all its messages."""
    messages: list[dict[str, Any]] = []
    before = ""
    while True:
        async with client.get(f"{url}/chats/{CHAT}?limit=200{before}") as response:
            if response.status == 404:
                return None
            chat: dict[str, Any] = await response.json()
        messages = chat["messages"] + messages
        if not chat.get("has_more"):
            return {**chat, "messages": messages}
        before = f"&before={messages[0]['id']}"


async def _waiting(client: aiohttp.ClientSession, url: str) -> dict[str, str]:
    """The queue: ids of its entries, and of their messages."""
    async with client.get(f"{url}/chats/subscribe?chat_id={CHAT}") as response:
        async for line in response.content:
            if line.startswith(b"data: "):
                queue = json.loads(line[6:])["queue"]
                return {entry["id"]: entry["message"]["id"] for entry in queue}
    return {}


def _invalid(folder: Path) -> list[str]:
    """A sentence for each fault of the database file."""
    path = next(folder.glob("user/*/assistant.db"))
    with closing(sqlite3.connect(path)) as connection:
        wrong = [
            f"integrity: {text}"
            for (text,) in connection.execute("PRAGMA integrity_check")
            if text != "ok"
        ]
        orphans = connection.execute(
            'SELECT "row" FROM messages AS m WHERE parent_row IS NOT NULL AND NOT EXISTS'
            ' (SELECT 1 FROM messages AS p WHERE p.chat_id = m.chat_id AND p."row" = m.parent_row'
            ' AND p."row" < m."row" AND p.depth = m.depth - 1)'
        ).fetchall()
        running = connection.execute("SELECT count(*) FROM running").fetchone()[0]
    if orphans:
        wrong.append(f"rows without their parents: {orphans}")
    return [*wrong, f"{running} answers in progress"] if running else wrong


def main() -> None:
    parser = argparse.ArgumentParser(description="Kills the server in the middle of turns.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the chats are kept (a new folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = arguments.folder or Path(own)
        result = asyncio.run(crash(arguments.kills, folder, arguments.seed))
    moments = ", ".join(f"{count} {moment}" for moment, count in sorted(result.moments.items()))
    print(f"{result.kills} kills: {moments}; {len(result.lost)} things lost")
    for what in result.lost:
        print(f"  lost: {what}")
    sys.exit(1 if result.lost else 0)


if __name__ == "__main__":
    main()
