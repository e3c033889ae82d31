"""Answers of the real backend over HTTP, as bytes, with the message that the log keeps of each."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugin.tests.chatting import Chatting, chatting
from plugin.tests.chatting import Stream as Answer
from plugin.tests.providers import Script, Step, failure, text, tool_call

from .scenarios import UNICODE

SKILL = {"name": "Moon light", "description": "Blue light", "instructions": "Use blue."}
MOST_STEPS = 5


@dataclass(frozen=True)
class Recording:
    """One answer: its bytes, the message that they continue, if any, and the stored message."""

    body: bytes
    stored: dict[str, Any]
    base: dict[str, Any] | None = None
    fails: bool = False


Scene = Callable[[Chatting], Awaitable[Recording]]


async def _recorded(
    chat: Chatting, answer: Answer, base: dict[str, Any] | None = None, *, fails: bool = False
) -> Recording:
    await chat.idle()
    return Recording(answer.raw, (await chat.stored())["messages"][-1], base, fails)


def _says(*scripts: Script | str, fails: bool = False, words: str = "Hi") -> Scene:
    """A scene: one question, which these scripts answer."""

    async def scene(chat: Chatting) -> Recording:
        chat.provider.queue(*scripts)
        return await _recorded(chat, await chat.say(words), fails=fails)

    return scene


async def _asked(chat: Chatting, *later: Script | str) -> tuple[Recording, dict[str, Any]]:
    """A turn that waits for the user's decision, and its message."""
    chat.provider.queue(Script([{"text": "Shall I?"}, tool_call("createUserSkill", SKILL)]), *later)
    recording = await _recorded(chat, await chat.say("Remember moon light"))
    return recording, recording.stored


async def _asks(chat: Chatting) -> Recording:
    return (await _asked(chat))[0]


def _decided(approved: bool) -> Scene:
    """A scene with the AI SDK's way: the client sends the list of messages again, with the decision
    in it."""

    async def scene(chat: Chatting) -> Recording:
        _, asked = await _asked(chat, "Well then.")
        (part,) = (part for part in asked["parts"] if part["type"] == "dynamic-tool")
        part["state"] = "approval-responded"
        part["approval"]["approved"] = approved
        messages = (await chat.stored())["messages"]
        answer = await chat.post({"id": "c1", "messages": [*messages[:-1], asked]})
        return await _recorded(chat, answer, asked)

    return scene


async def _commanded(chat: Chatting) -> Recording:
    """A scene with the panel's way: a command has the decision, and the panel joins the stream."""
    _, asked = await _asked(chat, Script([{"wait": "go"}, {"text": "Saved."}]))
    (part,) = (part for part in asked["parts"] if part["type"] == "dynamic-tool")
    await chat.command(type="approve_tools", ids=[part["toolCallId"]])
    part["state"] = "approval-responded"
    part["approval"]["approved"] = True
    await chat.provider.reached("go")
    joining = asyncio.create_task(chat.join())
    chat.provider.release("go")
    return await _recorded(chat, await joining, asked)


async def _joined(chat: Chatting) -> Recording:
    chat.provider.queue(Script([{"text": "Be"}, {"wait": "go"}, {"text": "gun"}]))
    first = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    joining = asyncio.create_task(chat.join())
    chat.provider.release("go")
    await first
    return await _recorded(chat, await joining)


async def _stopped(chat: Chatting) -> Recording:
    """A scene: the user stops the turn within the arguments of a call."""
    call = {"index": 0, "id": "c", "function": {"name": "getUserSkill", "arguments": '{"sl'}}
    begun = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}
    chat.provider.queue(Script([{"text": "So"}, {"chunk": begun}, {"wait": "never"}]))
    first = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("never")
    await chat.command(type="abort")
    return await _recorded(chat, await first)


def _escaped(piece: str) -> Step:
    """A piece of text as ASCII JSON, since only so half a surrogate pair can be sent."""
    choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
    return {"raw": f"data: {json.dumps({'choices': [choice]})}\n\n"}


def _delta(**fields: Any) -> Step:
    return {"chunk": {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}}


SCENES: dict[str, Scene] = {
    "text": _says(text("Hello", ", ", UNICODE)),
    "half a surrogate pair from the server": _says(
        Script([_escaped("a\ud83d"), _escaped("\ude00b"), _escaped("\ud83d")])
    ),
    "reasoning before text": _says(
        Script([{"reasoning": "Hm, "}, {"reasoning": "well."}, {"text": "Yes."}])
    ),
    "reasoning in tags": _says(text("<thi", "nk>Hm", "</think>", "\n\nYes.")),
    "a tool's round": _says(
        Script([{"text": "Let me see."}, tool_call("listSystemSkills")]), "I know these."
    ),
    "parallel calls": _says(
        Script([tool_call("listUserSkills"), tool_call("getSystemSkill", {"slug": "no"})]), "Done."
    ),
    "the same id in each round": _says(
        Script([tool_call("listUserSkills", id="call_0")]),
        Script([tool_call("listSystemSkills", id="call_0")]),
        "Done.",
    ),
    "a tool that does not exist": _says(Script([tool_call("fly", {"to": "Mars"})]), "Sorry."),
    "arguments that are no JSON": _says(Script([tool_call("getUserSkill", "{oops")]), "Sorry."),
    "arguments that JSON readers disagree on": _says(
        Script([tool_call("getUserSkill", '{"slug": [1e999, NaN]}')]),
        Script([tool_call("getUserSkill", '{"slug": ' + "[" * 300 + "]" * 300 + "}")]),
        "Sorry.",
    ),
    "a question before acting": _asks,
    "a tool that was allowed": _decided(True),
    "a tool that was declined": _decided(False),
    "a tool that was allowed by command": _commanded,
    "a joined stream": _joined,
    "a stopped turn": _stopped,
    "an answer that was too long": _says(text("So lo", finish="length")),
    "an answer that was filtered": _says(text("Well", finish="content_filter"), fails=True),
    "the step limit": _says(
        *(Script([tool_call("getSystemSkill", {"slug": f"no-{n}"})]) for n in range(MOST_STEPS))
    ),
    "an unknown skill": _says(words="/skill nowhere"),
    "a connection that breaks": _says(Script([{"text": "So far"}, {"cut": True}]), fails=True),
    "a stream without its end": _says(Script([{"text": "So far"}], complete=False), fails=True),
    "a refused key": _says(failure(401, "Incorrect API key provided."), fails=True),
    "sources, pictures and blocks of the provider": _says(
        Script(
            [
                {"text": "Look"},
                _delta(server_blocks=[{"type": "web_search", "id": "a", "status": "searching"}]),
                {"text": " here:"},
                _delta(server_blocks=[{"type": "web_search", "id": "a", "status": "completed"}]),
                _delta(images=[{"image_url": {"url": "data:image/png;base64,AAAA"}}]),
                {"text": "There."},
                _delta(annotations=[{"url_citation": {"url": "https://a.example", "title": "A"}}]),
                _delta(annotations=[{"url_citation": {"url": "https://b.example"}}]),
                tool_call("listUserSkills"),
            ]
        ),
        Script([{"text": "Done."}, _delta(annotations=[{"url": "https://c.example"}])]),
    ),
    "a server without tools": _says(
        failure(400, "scripted does not support tools"), "Without them."
    ),
}


async def _record(folder: Path) -> dict[str, Recording]:
    recordings = {}
    for number, (name, scene) in enumerate(SCENES.items()):
        async with chatting(folder / str(number), {"LLM_MAX_STEPS": str(MOST_STEPS)}) as chat:
            recordings[name] = await scene(chat)
    return recordings


def record(folder: Path) -> dict[str, Recording]:
    """Plays all scenes, each with a backend of its own below `folder`."""
    return asyncio.run(_record(folder))
