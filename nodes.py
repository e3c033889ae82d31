"""Nodes for use inside a workflow.

*Assistant Prompt* sends a text to the assistant's provider and returns the model's text. ComfyUI
runs a workflow in a thread with an event loop of its own, while the assistant runs in the server's
loop. So the node runs its request in the server's loop, and checks meanwhile whether the user has
cancelled the workflow. ComfyUI keeps the answer until an input changes, so the seed is fixed unless
the user lets it change: each queue asks the model again then. The node shows its answer
(`web/services/prompt-node.js`), and runs without another node behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypedDict

from .assistant.errors import AssistantError
from .assistant.startup import Startup

NAME = "AssistantPrompt"
DISPLAY_NAME = "Assistant Prompt"
POLL_SECONDS = 0.2
"""Time between two checks of a waiting node whether the workflow was cancelled."""
SEED_CONTROL = "fixed"
"""What the seed does after each queue, until the user chooses otherwise. With ComfyUI's own
default, "randomize", each queue would ask the model again."""
LARGEST_SEED = 0x7FFFFFFF
"""31 bits, which every server accepts; of a larger seed the lowest 31 bits are used."""

CancelCheck = Callable[[], None]
"""Raises when the user has cancelled the workflow."""


class Shown(TypedDict):
    """What ComfyUI shows on the node, and what it passes on."""

    ui: dict[str, list[str]]
    result: tuple[str]


def node_mappings(
    startup: Startup, raise_if_cancelled: CancelCheck | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """ComfyUI's two mappings: node classes and display names.

    `raise_if_cancelled` is ComfyUI's own function if none is given.
    """
    check = raise_if_cancelled or _raise_if_comfyui_cancelled

    class AssistantPrompt:
        """Asks the assistant's language model and gives its answer as text."""

        CATEGORY = "text"
        DESCRIPTION = (
            "Asks the assistant's language model, shows its answer and gives it as text. The answer"
            " is kept until the prompt, the system text or the seed changes."
        )
        FUNCTION = "run"
        OUTPUT_NODE = True
        RETURN_TYPES = ("STRING",)
        RETURN_NAMES = ("text",)

        @classmethod
        def INPUT_TYPES(cls) -> dict[str, Any]:  # noqa: N802 (ComfyUI's name)
            return _input_types()

        async def run(self, prompt: str, seed: int, system: str = "") -> Shown:
            if not prompt.strip():
                raise ValueError("Assistant Prompt has no prompt: write one or connect a text.")
            work = startup.complete(prompt, system=system, seed=seed & LARGEST_SEED)
            try:
                text = await _until_done(startup.hand_over(work), check)
            except AssistantError as error:
                # Without the cause: ComfyUI logs it, and a server's error text may hold a key.
                raise RuntimeError(error.message) from None
            if not text:
                raise RuntimeError(
                    "The model gave no text. If it thinks before it answers, it may have reached"
                    " its output limit (LLM_MAX_OUTPUT_TOKENS)."
                )
            return {"ui": {"text": [text]}, "result": (text,)}

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
                    "control_after_generate": SEED_CONTROL,
                    "tooltip": (
                        "The same seed keeps the answer; a new one asks again. With the control"
                        " below at fixed, queueing the workflow again does not ask again."
                    ),
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


async def _until_done(work: asyncio.Future[str], check: CancelCheck) -> str:
    """The result of `work`.

    `work` is cancelled when `check` raises, or when this task is cancelled because another node
    failed.
    """
    try:
        while not work.done():
            check()
            await asyncio.wait([work], timeout=POLL_SECONDS)
        return work.result()
    finally:
        work.cancel()


def _raise_if_comfyui_cancelled() -> None:
    # Imported here, because it loads ComfyUI's engine.
    from comfy.model_management import throw_exception_if_processing_interrupted

    throw_exception_if_processing_interrupted()
