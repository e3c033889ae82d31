"""Laws of `POST /api/chat`: any list of messages is answered or refused, and nothing is a 500."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.parts import Message
from plugin.assistant.messages.ui import message_to_ui
from plugin.tests.chatting import Chatting, Stream, chatting, read_stream
from plugin.tests.messages.strategies import BROKEN, CHATS, JSON
from plugin.tests.turn.strict_server import StrictServer, faults

Result = TypeVar("Result")

ENDS = ("finish", "error", "abort")
REFUSALS = (400, 404, 409)
NUMBERS = itertools.count()


class Backend:
    """One backend for all examples of this file, in a loop of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop, chat: Chatting, server: StrictServer):
        self._loop = loop
        self.chat = chat
        self.server = server

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._loop.run_until_complete(work)

    def post(self, body: Any) -> Stream:
        return self.run(self._post("/api/chat?debug=context", json.dumps(body)))

    def command(self, chat_id: str, body: Any) -> int:
        return self.run(self._post(f"/api/chats/{chat_id}/commands", json.dumps(body))).status

    async def _post(self, path: str, body: str) -> Stream:
        headers = {"Content-Type": "application/json"}
        async with self.chat.client.post(path, data=body, headers=headers) as response:
            return await read_stream(response)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    loop = asyncio.new_event_loop()
    server = StrictServer()
    context = chatting(tmp_path_factory.mktemp("laws"), provider=server)
    chat = loop.run_until_complete(context.__aenter__())
    yield Backend(loop, chat, server)
    loop.run_until_complete(context.__aexit__(None, None, None))
    loop.close()


def check(stream: Stream, backend: Backend, sent: Sequence[Message] = ()) -> None:
    """Checks that a stream is whole or a refusal says why, and that providers accept the requests.

    `sent` are the client's messages; the answer may continue one of them.
    """
    refused, backend.server.refused = backend.server.refused, []
    assert refused == []
    if stream.status != 200:
        assert stream.status in REFUSALS, stream.raw
        assert stream.error["message"]
        return
    assert stream.types[0] == "start"
    assert stream.types[-1] in ENDS
    assert sum(kind in ENDS for kind in stream.types) == 1
    assert stream.types.count("start-step") == stream.types.count("finish-step")
    if stream.types[-1] == "error":
        assert stream.error["code"] != "internal", stream.error
    known = [message for message in sent if message.id == stream.chunks[0]["messageId"]]
    base = known[0] if known else Message("", "assistant", ())
    assert fold(base, stream.chunks).id == stream.chunks[0]["messageId"]


LAWS = settings(max_examples=60)


@pytest.mark.slow
@LAWS
@given(
    messages=CHATS,
    stored=st.booleans(),
    trigger=st.sampled_from(["submit-message", "regenerate-message"]),
)
def test_any_list_of_messages_is_answered_or_refused(
    backend: Backend, messages: Any, stored: bool, trigger: str
) -> None:
    chat_id = f"chat-{next(NUMBERS)}"
    body = {"messages": [message_to_ui(message) for message in messages], "trigger": trigger}
    if stored:
        body["id"] = chat_id
    stream = backend.post(body)
    check(stream, backend, messages)
    if stored and stream.status == 200:
        answer = backend.run(backend.chat.stored(chat_id))["messages"][-1]
        assert answer["id"] == stream.chunks[0]["messageId"]


@pytest.mark.slow
@LAWS
@given(first=CHATS, second=CHATS)
def test_any_list_after_any_other_of_a_chat_is_answered_or_refused(
    backend: Backend, first: Any, second: Any
) -> None:
    chat_id = f"chat-{next(NUMBERS)}"
    for messages in (first, second):
        body = {"id": chat_id, "messages": [message_to_ui(message) for message in messages]}
        check(backend.post(body), backend, messages)


VALID: dict[str, Any] = {
    "id": "valid",
    "trigger": "submit-message",
    "messageId": "u1",
    "client_id": "panel",
    "workflow": {
        "id": "w",
        "name": "mine",
        "revision": 1,
        "graph": {
            "nodes": [{"id": 3, "type": "KSampler", "inputs": [{"name": "model", "link": 1}]}],
            "links": [[1, 2, 0, 3, 0, "MODEL"]],
        },
        "selection": ["3"],
    },
    "message": {
        "id": "u1",
        "role": "user",
        "metadata": {"created": "now"},
        "parts": [
            {"type": "text", "text": "Hi"},
            {"type": "file", "mediaType": "text/plain", "url": "data:,x", "filename": "x.txt"},
        ],
    },
}


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each value within a JSON value."""
    yield before
    items = dict(enumerate(value)) if isinstance(value, list) else value
    for name, item in items.items() if isinstance(items, dict) else ():
        yield from paths(item, (*before, name))


PLACES = [path for path in paths(VALID) if path]
COMMAND_FIELDS = ("ids", "remember", "reason", "tool_call_id", "output", "error", "x")
BOUNDARIES = st.sampled_from(
    [
        "x" * 10_000,
        "../../etc/passwd",
        "a\x00b",
        -1,
        2**70,
        1e308,
        [[[[]]]] * 3,
        {"type": "text"},
        {"a": {"b": {}}},
        "\u202e",
    ]
)


@LAWS
@given(places=st.lists(st.sampled_from(PLACES), min_size=1, max_size=3), data=st.data())
def test_a_body_that_is_wrong_somewhere_is_never_a_500(
    backend: Backend, places: Any, data: st.DataObject
) -> None:
    body = copy.deepcopy(VALID)
    for *parents, last in places:
        target = body
        for name in parents:
            target = target[name] if isinstance(target, dict) and name in target else {}
        if isinstance(target, dict):
            # A copy: the next place may be inside, and the boundaries are the same objects again.
            target[last] = copy.deepcopy(data.draw(BROKEN | BOUNDARIES | JSON))
    if body.get("id") == "valid":
        body["id"] = f"chat-{next(NUMBERS)}"
    check(backend.post(body), backend)


@LAWS
@given(body=JSON | st.dictionaries(st.sampled_from(sorted(VALID)), JSON))
def test_random_json_is_never_a_500(backend: Backend, body: Any) -> None:
    check(backend.post(body), backend)


@LAWS
@given(
    body=JSON
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["abort", "approve_tools", "reject_tools", "tool_result"])},
        optional=dict.fromkeys(
            ("ids", "remember", "reason", "tool_call_id", "output", "error", "x"), JSON | BROKEN
        ),
    )
)
def test_a_random_command_is_never_a_500(backend: Backend, body: Any) -> None:
    backend.post({"id": "commands", "message": {"role": "user", "parts": [TEXT]}})
    assert backend.command("commands", body) in (202, *REFUSALS)


TEXT = {"type": "text", "text": "Hi"}


@pytest.mark.parametrize("depth", [50, 120, 5_000])
def test_deep_nesting_is_answered_or_refused(backend: Backend, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    for field in ("workflow", "metadata", "parts"):
        message = {"id": "u", "role": "user", "parts": [TEXT]}
        body = json.dumps({"message": {**message, "metadata": {}}, "workflow": {"graph": {}}})
        replaced = {
            "workflow": body.replace('"graph": {}', f'"graph": {{"nodes": {nested}}}'),
            "metadata": body.replace('"metadata": {}', f'"metadata": {{"a": {nested}}}'),
            "parts": body.replace(
                '"parts": [', f'"parts": [{{"type": "data-x", "data": {nested}}},'
            ),
        }[field]
        stream = backend.run(backend._post("/api/chat", replaced))
        check(stream, backend)
        assert stream.status == (200 if depth == 50 else 400)


def test_the_strict_server_does_refuse() -> None:
    user = {"role": "user", "content": "Hi"}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    calling = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c", "content": ""}
    assert faults({"messages": [user, calling, answer]}) == []
    for wrong in (
        [],
        [{"role": "system", "content": "x"}],
        [user, user],
        [user, calling],
        [user, calling, user],
        [user, answer],
        [user, calling, answer, answer],
        [user, calling, answer, calling, answer],
        [{"role": "user", "content": ""}],
        [{"role": "assistant", "content": "x"}, user],
    ):
        assert faults({"messages": wrong}), wrong
