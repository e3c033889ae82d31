"""The model of `soak.py`, in a process of its own:

    python bench/soak_provider.py

It prints one line of JSON with its `url`, and ends when its standard input closes. A message that
begins with a `Task` says what to answer, so the provider keeps nothing between two requests: some
rounds of tool calls first, then words. Any other request gets a short sentence. Imports nothing of
the plugin.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

MARK = re.compile(r"\[turn (\S+) rounds=(\d+) words=(\d+) pause=([\d.]+)\]")
TOOLS = ("listSystemSkills", "listUserSkills", "getWorkflowInfo")
OTHER_ANSWER = "Nothing needs to be added."
LARGEST_REQUEST = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Task:
    """What the model shall do in a turn: `rounds` of one tool call each, then `words`, with `pause`
    seconds between two words. `name` stands in each word, so that no two turns say the same."""

    name: str
    rounds: int = 0
    words: int = 20
    pause: float = 0.0

    @property
    def mark(self) -> str:
        """The beginning of the message that asks for this."""
        return f"[turn {self.name} rounds={self.rounds} words={self.words} pause={self.pause}]"

    def before_call(self, number: int) -> str:
        return f"{self.name} looks, {number}. "

    def last_words(self) -> Iterator[str]:
        for number in range(self.words):
            yield f"{self.name}.{number} "
        yield f"end of {self.name}"

    @property
    def answer(self) -> str:
        """All text of the turn's answer."""
        looks = map(self.before_call, range(self.rounds))
        return "".join((*looks, *self.last_words()))


def task_of(messages: Sequence[Mapping[str, Any]]) -> tuple[Task | None, int]:
    """The task of the last user message that has one, and the tool results that came after it."""
    results = 0
    for message in reversed(messages):
        if message.get("role") == "tool":
            results += 1
        elif message.get("role") == "user" and (match := MARK.match(_text(message))):
            name, rounds, words, pause = match.groups()
            return Task(name, int(rounds), int(words), float(pause)), results
    return None, results


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


async def complete(request: web.Request) -> web.StreamResponse:
    """`POST /v1/chat/completions`."""
    body = await request.json()
    task, results = task_of(body["messages"])
    if not body.get("stream"):
        message = {"role": "assistant", "content": task.answer if task else OTHER_ANSWER}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({**_envelope("chat.completion"), "choices": [choice]})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    offered = [tool["function"]["name"] for tool in body.get("tools") or ()]
    try:
        if task is not None and results < task.rounds:
            await _call(response, task, results, offered)
        else:
            await _speak(response, task)
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
    except ConnectionResetError:
        pass  # The turn was stopped.
    return response


async def _call(
    response: web.StreamResponse, task: Task, number: int, offered: Sequence[str]
) -> None:
    await response.write(_delta({"content": task.before_call(number)}))
    known = [name for name in TOOLS if name in offered] or list(offered)
    function = {"name": known[number % len(known)], "arguments": "{}"}
    call = {"index": 0, "id": f"call-{task.name}-{number}", "type": "function"}
    await response.write(_delta({"tool_calls": [{**call, "function": function}]}))
    await response.write(_delta({}, "tool_calls"))


async def _speak(response: web.StreamResponse, task: Task | None) -> None:
    for word in (OTHER_ANSWER,) if task is None else task.last_words():
        await response.write(_delta({"content": word}))
        if task is not None and task.pause:
            await asyncio.sleep(task.pause)
    await response.write(_delta({}, "stop"))


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-soak", "object": kind, "created": 0, "model": "soak"}


def _delta(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {**_envelope("chat.completion.chunk"), "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def list_models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "soak", "object": "model"}]})


def end_with_parent() -> None:
    """Ends this process when its standard input closes, however the parent ended."""

    def wait() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


async def main() -> None:
    app = web.Application(client_max_size=LARGEST_REQUEST)
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/v1/models", list_models)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    end_with_parent()
    print(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}/v1"}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
