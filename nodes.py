"""Nodes for use inside a workflow.

*Assistant Prompt*: text in, text out, through the assistant's provider and settings. ComfyUI runs a
workflow in a thread and an event loop of its own; the assistant lives in the server's. So the work
is handed over, and the node watches whether the user cancelled the run. Its inputs are all that the
answer depends on, so ComfyUI's own cache keeps the answer until one of them changes: the seed is
the input that is there to be changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .assistant.app import Assistant
from .assistant.errors import AssistantError

NAME = "AssistantPrompt"
DISPLAY_NAME = "Assistant Prompt"
LOOK_SECONDS = 0.2
"""How often a waiting node looks whether the run was cancelled."""
LARGEST_SEED = 0x7FFFFFFF
"""31 bits, which every server takes; larger seeds of other nodes are folded into them."""

Look = Callable[[], None]
"""Raises when the user cancelled the run."""


def node_mappings(
    assistant: Assistant, raise_if_cancelled: Look | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """ComfyUI's two mappings: classes and display names. `raise_if_cancelled` is ComfyUI's own by
    default."""
    look = raise_if_cancelled or _raise_if_comfyui_cancelled

    class AssistantPrompt:
        """Asks the assistant's language model and gives its answer as text."""

        CATEGORY = "text"
        DESCRIPTION = (
            "Asks the assistant's language model and gives its answer as text. The answer is kept"
            " until the prompt, the system text or the seed changes."
        )
        FUNCTION = "run"
        RETURN_TYPES = ("STRING",)
        RETURN_NAMES = ("text",)

        @classmethod
        def INPUT_TYPES(cls) -> dict[str, Any]:  # noqa: N802 (ComfyUI's name)
            return _input_types()

        async def run(self, prompt: str, seed: int, system: str = "") -> tuple[str]:
            if not prompt.strip():
                raise ValueError("Assistant Prompt has no prompt: write one or connect a text.")
            work = assistant.complete(prompt, system=system, seed=seed & LARGEST_SEED)
            try:
                text = await _until_done(assistant.hand_over(work), look)
            except AssistantError as error:
                # ComfyUI logs an error with all that led to it, and a server's own words may hold
                # a key: the sentence is what the user needs.
                raise RuntimeError(error.message) from None
            if not text:
                raise RuntimeError(
                    "The model gave no text. If it thinks before it answers, it may have reached"
                    " its output limit (LLM_MAX_OUTPUT_TOKENS)."
                )
            return (text,)

    return {NAME: AssistantPrompt}, {NAME: DISPLAY_NAME}


def _input_types() -> dict[str, Any]:
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
                    "tooltip": "The same seed keeps the answer; a new one asks again.",
                },
            ),
        },
        "optional": {
            "system": (
                "STRING",
                {
                    "multiline": True,
                    "default": "",
                    "tooltip": "How to answer, such as: Give one image prompt and nothing else.",
                },
            ),
        },
    }


async def _until_done(work: asyncio.Future[str], look: Look) -> str:
    """The result of `work`. When `look` raises, or this task is cancelled because another node
    ended the run, `work` is cancelled too."""
    try:
        while not work.done():
            look()
            await asyncio.wait([work], timeout=LOOK_SECONDS)
        return work.result()
    finally:
        work.cancel()


def _raise_if_comfyui_cancelled() -> None:
    # Imported here, because it loads ComfyUI's engine.
    from comfy.model_management import throw_exception_if_processing_interrupted

    throw_exception_if_processing_interrupted()
