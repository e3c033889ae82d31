"""A scripted LLM server: real HTTP on loopback, the OpenAI chat API, answers from a queue. (For a
scripted model without HTTP see `models.py`.)

In a test, in the same process::

    from plugin.tests.providers import ScriptedProvider, Script, text, tool_call

    async with ScriptedProvider() as provider:
        provider.queue(text("Hello"), Script([tool_call("getWorkflowInfo", {"level": "normal"})]))
        ...                                     # point the code under test at provider.base_url
        assert provider.requests[0].messages[-1]["content"] == "Hi"

Leaving the block fails the test when scripts are left over, or when more was asked than scripted
(unless `provider.long_answer()` was switched on). A script is a list of steps, each a JSON object:

    {"text": "..."}                        {"reasoning": "...", "field": "reasoning_content"}
    {"tool": {"id", "name", "arguments"}}  {"chunk": {...}} a chunk's JSON as it is
    {"raw": "..."} text on the wire as it is
    {"cut": true} the connection breaks
    {"wait": "name"} until `provider.release("name")`; `await provider.reached("name")` meets it
    {"pause": seconds} for people who watch; a test waits for something instead

After its steps a script sends the finish reason, the usage and `[DONE]`, unless `complete=False`.
`Script(status=429, headers={"Retry-After": "1"}, body={...})` answers without a stream.

On its own, for a browser (prints one line of JSON with `base_url` when it is ready)::

    python tests/providers.py --port 0 --script FILE [--long] [--key KEY]

FILE holds a JSON list of scripts. `POST /script` adds to it, `POST /release/NAME` lets a wait go
on, `GET /requests` shows what was asked. Imports nothing of the plugin.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

Step = Mapping[str, Any]
CHARACTERS_PER_TOKEN = 4
WORDS_IN_A_LONG_ANSWER = 400


@dataclass(frozen=True)
class Script:
    """One answer. With `body`, it is that body and no stream; `as_json` folds the steps to one."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    complete: bool = True
    finish: str | None = None
    usage: Mapping[str, Any] | None = None
    as_json: bool = False


@dataclass(frozen=True)
class SeenRequest:
    """What the server was asked: the parsed body, and the headers with lower-case names."""

    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages


def text(*pieces: str, **script: Any) -> Script:
    """An answer of text, one chunk for each piece."""
    return Script([{"text": piece} for piece in pieces], **script)


def tool_call(name: str, arguments: Any = None, id: str | None = None) -> Step:
    """A step that calls a tool; `arguments` is an object, or text to be sent as it is."""
    sent = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"tool": {"name": name, "arguments": sent, **({"id": id} if id else {})}}


def failure(status: int, message: str, *, headers: Mapping[str, str] | None = None) -> Script:
    """An error in the usual shape, `{"error": {"message"}}`."""
    return Script(status=status, headers=headers or {}, body={"error": {"message": message}})


class ScriptedProvider:
    """The server; `base_url` ends in `/v1`. `gone` counts clients that left in mid-answer."""

    def __init__(self, *, models: Sequence[str] = ("scripted",), key: str | None = None) -> None:
        self.models = list(models)
        self.key = key
        self.requests: list[SeenRequest] = []
        self.unexpected = 0
        self.gone = 0
        self.base_url = ""
        self._scripts: deque[Script] = deque()
        self._long_pause: float | None = None
        self._released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._reached: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._left = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._answers = 0
        self._last_prompt = ""

    async def __aenter__(self) -> ScriptedProvider:
        await self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        await self.stop()
        if kind is None:
            assert not self._scripts, f"{len(self._scripts)} scripted answers were not asked for"
            assert not self.unexpected, f"{self.unexpected} requests came without a script"

    async def start(self, port: int = 0) -> None:
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_post("/script", self._add_scripts)
        app.router.add_post("/release/{name}", self._release)
        app.router.add_get("/requests", self._show_requests)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def queue(self, *scripts: Script | str) -> None:
        """Answers for the next requests, in this order; a string is an answer of that text."""
        self._scripts.extend(text(s) if isinstance(s, str) else s for s in scripts)

    def forget(self) -> None:
        """Drops the scripts that are left: their requests were refused."""
        self._scripts.clear()

    def long_answer(self, pause: float = 0.02) -> None:
        """From now on, a request without a script gets a long answer, a word every `pause`
        seconds."""
        self._long_pause = pause

    def release(self, name: str) -> None:
        """Let the step `{"wait": name}` go on, now or when it is reached."""
        self._released[name].set()

    async def reached(self, name: str) -> None:
        """Wait until a script has come to the step `{"wait": name}`."""
        await asyncio.wait_for(self._reached[name].wait(), 10)

    async def client_left(self) -> None:
        """Wait until a client has gone away in mid-answer."""
        await asyncio.wait_for(self._left.wait(), 10)

    async def _list_models(self, request: web.Request) -> web.Response:
        if not self._allowed(request):
            return self._refuse_key()
        data = [{"id": name, "object": "model"} for name in self.models]
        return web.json_response({"object": "list", "data": data})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(SeenRequest(body, headers))
        if not self._allowed(request):
            return self._refuse_key()
        script = self._next_script()
        if script is None:
            self.unexpected += 1
            message = "The scripted provider has no answer left."
            return web.json_response({"error": {"message": message}}, status=500)
        if script.body is not None or script.status != 200:
            return _plain_answer(script)
        self._answers += 1
        usage = dict(script.usage) if script.usage is not None else self._usage(body, script)
        if script.as_json or not body.get("stream"):
            return web.json_response(self._folded(script, usage), headers=script.headers)
        return await self._stream(request, script, usage)

    def _allowed(self, request: web.Request) -> bool:
        return self.key is None or request.headers.get("Authorization") == f"Bearer {self.key}"

    def _refuse_key(self) -> web.Response:
        error = {"message": "Incorrect API key provided.", "code": "invalid_api_key"}
        return web.json_response({"error": error}, status=401)

    def _next_script(self) -> Script | None:
        if self._scripts:
            return self._scripts.popleft()
        if self._long_pause is None:
            return None
        steps: list[Step] = []
        for number in range(1, WORDS_IN_A_LONG_ANSWER + 1):
            steps.append({"text": f"word {number} " if number % 40 else f"word {number}.\n\n"})
            steps.append({"pause": self._long_pause})
        return Script(steps)

    async def _stream(
        self, request: web.Request, script: Script, usage: Mapping[str, Any]
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers=dict(script.headers))
        response.content_type = script.headers.get("Content-Type", "text/event-stream")
        await response.prepare(request)
        try:
            async for piece in self._pieces(script, usage):
                if piece is None:
                    assert request.transport is not None
                    request.transport.abort()
                    return response
                await response.write(piece.encode())
        except (asyncio.CancelledError, ConnectionResetError):
            self.gone += 1
            self._left.set()
            raise
        await response.write_eof()
        return response

    async def _pieces(self, script: Script, usage: Mapping[str, Any]) -> AsyncIterator[str | None]:
        """The wire text of one answer; None where the connection breaks."""
        calls = 0
        for step in script.steps:
            if "wait" in step:
                self._reached[step["wait"]].set()
                await self._released[step["wait"]].wait()
            elif "pause" in step:
                await asyncio.sleep(step["pause"])
            elif "cut" in step:
                yield None
            elif "raw" in step:
                yield step["raw"]
            elif "chunk" in step:
                yield _event(step["chunk"])
            elif "tool" in step:
                for delta in self._tool_deltas(step["tool"], calls):
                    yield self._delta(delta)
                calls += 1
            else:
                yield self._delta(_text_delta(step))
        if script.complete:
            finish = script.finish or ("tool_calls" if calls else "stop")
            yield self._delta({}, finish)
            yield _event({**self._envelope(), "choices": [], "usage": usage})
            yield "data: [DONE]\n\n"

    def _tool_deltas(self, tool: Mapping[str, Any], index: int) -> list[dict[str, Any]]:
        """The call's beginning, then its arguments in two halves, as OpenAI sends them."""
        arguments = str(tool.get("arguments", "{}"))
        half = len(arguments) // 2
        function = {"name": tool["name"], "arguments": ""}
        call_id = tool.get("id") or f"call_{self._answers}_{index}"
        first = {"index": index, "id": call_id, "type": "function", "function": function}
        rest = [
            {"index": index, "function": {"arguments": piece}}
            for piece in (arguments[:half], arguments[half:])
        ]
        return [{"tool_calls": [call]} for call in (first, *rest)]

    def _envelope(self) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._answers}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": self.models[0] if self.models else "scripted",
        }

    def _delta(self, delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _event({**self._envelope(), "choices": [choice]})

    def _folded(self, script: Script, usage: Mapping[str, Any]) -> dict[str, Any]:
        """The same answer as one JSON object."""
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        calls: list[dict[str, Any]] = []
        for step in script.steps:
            if "tool" in step:
                function = {k: step["tool"][k] for k in ("name", "arguments")}
                call_id = step["tool"].get("id") or f"call_{self._answers}_{len(calls)}"
                calls.append({"id": call_id, "type": "function", "function": function})
                message["tool_calls"] = calls
            elif "text" in step or "reasoning" in step:
                for name, value in _text_delta(step).items():
                    message[name] = message.get(name, "") + value
        finish = script.finish or ("tool_calls" if calls else "stop")
        choice = {"index": 0, "message": message, "finish_reason": finish}
        envelope = {**self._envelope(), "object": "chat.completion"}
        return {**envelope, "choices": [choice], "usage": usage}

    def _usage(self, body: Mapping[str, Any], script: Script) -> dict[str, Any]:
        """The usage, at four characters a token; the beginning that the last request had too counts
        as cached."""
        prompt = json.dumps([body.get("tools", []), body.get("messages", [])])
        pairs = enumerate(zip(prompt, self._last_prompt, strict=False))
        shorter = min(len(prompt), len(self._last_prompt))
        same = next((place for place, (one, other) in pairs if one != other), shorter)
        self._last_prompt = prompt
        answer = sum(len(str(value)) for step in script.steps for value in step.values())
        sent, answered = len(prompt) // CHARACTERS_PER_TOKEN, answer // CHARACTERS_PER_TOKEN
        return {
            "prompt_tokens": sent,
            "completion_tokens": answered,
            "total_tokens": sent + answered,
            "prompt_tokens_details": {"cached_tokens": same // CHARACTERS_PER_TOKEN},
        }

    async def _add_scripts(self, request: web.Request) -> web.Response:
        self.queue(*(Script(**script) for script in await request.json()))
        return web.json_response({"waiting": len(self._scripts)})

    async def _release(self, request: web.Request) -> web.Response:
        self.release(request.match_info["name"])
        return web.json_response({})

    async def _show_requests(self, request: web.Request) -> web.Response:
        seen = [{"body": r.body, "headers": dict(r.headers)} for r in self.requests]
        return web.json_response({"requests": seen, "waiting": len(self._scripts)})


def _event(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _text_delta(step: Step) -> dict[str, Any]:
    if "reasoning" in step:
        return {step.get("field", "reasoning_content"): step["reasoning"]}
    return {"content": step["text"]}


def _plain_answer(script: Script) -> web.Response:
    headers = dict(script.headers)
    if isinstance(script.body, str):
        content_type = headers.pop("Content-Type", "text/plain")
        return web.Response(
            text=script.body, status=script.status, headers=headers, content_type=content_type
        )
    return web.json_response(script.body, status=script.status, headers=headers)


async def _serve(arguments: argparse.Namespace, scripts: Sequence[Script]) -> None:
    provider = ScriptedProvider(key=arguments.key)
    provider.queue(*scripts)
    if arguments.long:
        provider.long_answer()
    await provider.start(arguments.port)
    print(json.dumps({"base_url": provider.base_url}), flush=True)  # noqa: T201
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A scripted OpenAI-compatible server.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path, help="a JSON file with a list of scripts")
    parser.add_argument("--long", action="store_true", help="answer at length without a script")
    parser.add_argument("--key", help="the key that clients must send")
    arguments = parser.parse_args()
    told = json.loads(arguments.script.read_text(encoding="utf-8")) if arguments.script else []
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(arguments, [Script(**script) for script in told]))


if __name__ == "__main__":
    main()
