"""Imports chats of any length into a server, and opens them in the panel."""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.request import Request, urlopen

from plugin.tests.e2e.panel import Panel

SEED = 834_021_557_019
"""A value that one early message names, far before the messages of later requests."""
NAMED = 7  # the turn that names the value
FIRST_SEED = 100_000_000_000
EVERY = 5  # turns between two looks at the workflow
THINGS = ("fox", "lighthouse", "teapot", "glass city", "harbour", "meadow", "raven", "violin")
SAMPLERS = ("euler", "dpmpp_2m", "res_multistep", "uni_pc", "heun")
OPEN_LAST = "chat => sessionStorage.setItem('comfyui-assistant.chat', chat)"


def import_chat(url: str, chat: str, messages: Sequence[dict[str, Any]]) -> None:
    """Sends a whole chat that the server does not have; the server answers its last message."""
    body = json.dumps({"id": chat, "messages": list(messages)}).encode()
    request = Request(f"{url}/api/chat", body, {"Content-Type": "application/json", "Origin": url})
    with urlopen(request) as response:
        assert b"[DONE]" in response.read()


def open_chat(panel: Panel, chat: str) -> None:
    """Opens the chat as a reload does: the panel opens the chat that was open in its tab."""
    panel.evaluate(OPEN_LAST, chat)
    panel.reload()


def picture_session(turns: int) -> list[dict[str, Any]]:
    """A session at one workflow, up to the question of its last turn; now and then the assistant
    looks at the workflow before it answers."""
    messages = [message for turn in range(1, turns + 1) for message in _turn(turn)]
    return messages[:-1]


def _turn(turn: int) -> Iterator[dict[str, Any]]:
    thing, sampler = THINGS[turn % len(THINGS)], SAMPLERS[turn % len(SAMPLERS)]
    asked = f"Picture {turn}: a {thing} with {sampler}, {20 + turn % 9} steps. What should change?"
    seed = SEED if turn == NAMED else FIRST_SEED + turn * turn
    asked = f"{asked} Its seed is {seed}."
    if turn == NAMED:
        asked = f"Now the portrait of the violin player. {asked}"
    said = (
        f"For picture {turn} keep {sampler} and lower cfg to {3 + turn % 4}.5; the {thing} stays."
    )
    yield _message(f"q{turn}", "user", {"type": "text", "text": asked})
    looked = (_look(turn, sampler),) if turn % EVERY == 0 else ()
    yield _message(f"a{turn}", "assistant", *looked, {"type": "text", "text": said})


def _look(turn: int, sampler: str) -> dict[str, Any]:
    nodes = [
        {"id": node, "type": "KSampler", "widgets": {"sampler_name": sampler, "steps": 20 + node}}
        for node in range(3, 9)
    ]
    return {
        "type": "dynamic-tool",
        "toolName": "getWorkflowInfo",
        "toolCallId": f"look{turn}",
        "title": "Read the workflow",
        "state": "output-available",
        "input": {},
        "output": {"name": f"picture {turn}", "nodes": nodes},
    }


def _message(identity: str, role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"id": identity, "role": role, "parts": list(parts)}
