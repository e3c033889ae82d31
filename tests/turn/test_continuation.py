"""The system message of later turns, as a provider gets it (R2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from plugin.agent_prompts import CONTINUATION
from plugin.tests.chatting import chatting


async def continuation(folder: Path, environ: Mapping[str, str]) -> str:
    """The system message of a chat's second turn."""
    async with chatting(folder, environ) as chat:
        chat.provider.queue("Hello.", "Fine.")
        await chat.say("Hello")
        await chat.say("Go on")
        text: str = chat.provider.requests[-1].messages[0]["content"]
        return text


@pytest.mark.parametrize(("steps", "said"), [("4", True), ("0", False)])
async def test_a_later_turn_knows_how_many_steps_it_has(
    tmp_path: Path, steps: str, said: bool
) -> None:
    text = await continuation(tmp_path, {"LLM_MAX_STEPS": steps})
    assert text.startswith(CONTINUATION + "\n")
    assert ("# ITERATION BUDGET" in text) == ("at most 4 steps" in text) == said
    assert len(text) <= 1_500


async def test_without_a_digest_the_required_sentence_stands_alone(tmp_path: Path) -> None:
    environ = {"LLM_MAX_STEPS": "4", "LLM_CONTINUATION_MAX_CHARS": "0"}
    assert await continuation(tmp_path, environ) == CONTINUATION
