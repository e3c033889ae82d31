"""Nodes for use inside a workflow.

*Assistant Prompt*: text in, text out, through the assistant's provider and settings. A node's code
runs in ComfyUI's worker thread and loop; the assistant lives in the server's. So the work is handed
over, and the worker watches whether the user cancelled the run.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from .assistant.app import Assistant

LOOK_SECONDS = 0.2
"""How often a waiting node looks whether the run was cancelled."""
LARGEST_SEED = 0xFFFFFFFF
"""Servers take 32 bits."""


def node_mappings(
    assistant: Assistant, raise_if_cancelled: Callable[[], None] | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """ComfyUI's two mappings: classes and display names.

    `raise_if_cancelled` raises when the user cancelled the run; ComfyUI's own by default.
    """
    look = raise_if_cancelled or _comfyui_look()

    class AssistantPrompt:
        """Asks the assistant's language model and gives its answer as text."""

        CATEGORY = "text"
        DESCRIPTION = "Asks the assistant's language model and gives its answer as text."
        FUNCTION = "run"
        RETURN_TYPES = ("STRING",)
        RETURN_NAMES = ("text",)

        @classmethod
        def INPUT_TYPES(cls) -> dict[str, Any]:  # noqa: N802 (ComfyUI's name)
            return {
                "required": {
                    "prompt": ("STRING", {"multiline": True, "default": ""}),
                    "seed": (
                        "INT",
                        {
                            "default": 0,
                            "min": 0,
                            "max": LARGEST_SEED,
                            "control_after_generate": True,
                            "tooltip": "A new seed asks again; the same one keeps the answer.",
                        },
                    ),
                },
                "optional": {
                    "system": (
                        "STRING",
                        {
                            "multiline": True,
                            "default": "",
                            "tooltip": "How the model should answer, such as: only the prompt.",
                        },
                    ),
                },
            }

        async def run(self, prompt: str, seed: int, system: str = "") -> tuple[str]:
            if not prompt.strip():
                raise ValueError("Assistant Prompt has no prompt: write one or connect a text.")
            work = assistant.complete(prompt, system=system, seed=seed)
            return (await _until_done(assistant.hand_over(work), look),)

    return {"AssistantPrompt": AssistantPrompt}, {"AssistantPrompt": "Assistant Prompt"}


async def _until_done(work: asyncio.Future[str], look: Callable[[], None]) -> str:
    """The result of `work`; cancels it when `look` raises, and raises that."""
    try:
        while not work.done():
            look()
            await asyncio.wait([work], timeout=LOOK_SECONDS)
        return work.result()
    finally:
        if not work.done():
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await work


def _comfyui_look() -> Callable[[], None]:
    """ComfyUI's own check, looked up late: importing it loads the engine."""

    def look() -> None:
        from comfy.model_management import throw_exception_if_processing_interrupted

        throw_exception_if_processing_interrupted()

    return look
