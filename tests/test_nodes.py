"""The node *Assistant Prompt* without ComfyUI, with a scripted provider.

As in ComfyUI, the assistant runs in the event loop of another thread than the node.
"""

import asyncio
import inspect
import threading
import traceback
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.app import Host, create_assistant
from plugin.assistant.startup import Startup
from plugin.nodes import LARGEST_SEED, POLL_SECONDS, node_mappings
from plugin.tests.hosts import NO_COMFYUI
from plugin.tests.providers import Script, ScriptedProvider, failure, text

KEY = "sk-Ab12Cd34Ef56Gh78Ij90Kl12"
LIMIT = 10.0  # seconds until an expected event counts as missing


class Cancelled(BaseException):
    """Stands for ComfyUI's own exception, which is no subclass of Exception either."""


@pytest.fixture
async def provider() -> AsyncIterator[ScriptedProvider]:
    async with ScriptedProvider() as scripted:
        yield scripted


@pytest.fixture
def server_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop in another thread. At its end it closes generators of the `openai` client that were
    not read to their end, as every loop of `asyncio.run` does."""
    running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stopping = asyncio.Event()
        running.set_result((asyncio.get_running_loop(), stopping))
        await stopping.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="server", daemon=True)
    thread.start()
    loop, stopping = running.result(LIMIT)
    yield loop
    loop.call_soon_threadsafe(stopping.set)
    thread.join(LIMIT)


@pytest.fixture
async def startup(
    tmp_path: Path, provider: ScriptedProvider, server_loop: asyncio.AbstractEventLoop
) -> AsyncIterator[Startup]:
    host = Host(
        root=tmp_path,
        user_directory=tmp_path / "user",
        user_of=lambda request: "default",
        comfyui=NO_COMFYUI,
        comfyui_version=None,
    )
    environ = {
        "OPENAI_BASE_URL": provider.base_url,
        "OPENAI_MODEL": "scripted",
        "OPENAI_API_KEY": KEY,
        "ASSISTANT_DISCOVER": "0",
    }
    startup = Startup(lambda: create_assistant(host, environ))
    server_loop.call_soon_threadsafe(startup.start)
    await in_loop(server_loop, startup.assistant())
    yield startup
    await in_loop(server_loop, startup.close())


async def in_loop(loop: asyncio.AbstractEventLoop, work: Any) -> Any:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


def node_of(startup: Startup, look: Any = lambda: None) -> Any:
    classes, _ = node_mappings(startup, look)
    return classes["AssistantPrompt"]()


def test_the_node_is_there_under_its_name(startup: Startup) -> None:
    classes, names = node_mappings(startup)
    assert names == {"AssistantPrompt": "Assistant Prompt"}
    node = classes["AssistantPrompt"]
    assert node.RETURN_TYPES == ("STRING",)
    assert inspect.iscoroutinefunction(getattr(node, node.FUNCTION))
    inputs = node.INPUT_TYPES()
    assert inputs["required"]["prompt"][0] == "STRING"
    assert inputs["required"]["seed"][1]["control_after_generate"] == "fixed"
    assert node.OUTPUT_NODE is True
    assert inputs["optional"]["system"][0] == "STRING"


async def test_text_in_text_out(startup: Startup, provider: ScriptedProvider) -> None:
    provider.queue(text("A fox ", "in the snow \n"))
    shown = await node_of(startup).run("Describe a fox.", 7)
    assert shown == {"ui": {"text": ["A fox in the snow"]}, "result": ("A fox in the snow",)}
    (request,) = provider.requests
    assert request.messages == [{"role": "user", "content": "Describe a fox."}]
    assert request.body["seed"] == 7


async def test_the_system_text_comes_first(startup: Startup, provider: ScriptedProvider) -> None:
    provider.queue("fox")
    await node_of(startup).run("A fox.", 0, "One word only.")
    assert provider.requests[0].messages[0] == {"role": "system", "content": "One word only."}


async def test_reasoning_is_not_part_of_the_text(
    startup: Startup, provider: ScriptedProvider
) -> None:
    provider.queue(Script([{"reasoning": "Hm."}, {"text": "A fox"}]))
    assert (await node_of(startup).run("A fox.", 0))["result"] == ("A fox",)


@pytest.mark.parametrize("seed", [LARGEST_SEED + 1, 0xFFFFFFFFFFFFFFFF])
async def test_a_linked_seed_of_64_bits_becomes_one_that_servers_take(
    startup: Startup, provider: ScriptedProvider, seed: int
) -> None:
    provider.queue("A fox")
    await node_of(startup).run("A fox.", seed)
    assert 0 <= provider.requests[0].body["seed"] <= LARGEST_SEED


async def test_an_empty_prompt_is_the_nodes_error(startup: Startup) -> None:
    with pytest.raises(ValueError, match="Assistant Prompt has no prompt"):
        await node_of(startup).run("  \n", 0)


async def test_a_failure_is_one_sentence_and_its_trace_holds_no_key(
    startup: Startup, provider: ScriptedProvider
) -> None:
    provider.queue(failure(401, f"Incorrect API key provided: {KEY}."))
    with pytest.raises(RuntimeError) as caught:
        await node_of(startup).run("A fox.", 0)
    assert "does not accept the key" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert KEY not in "".join(traceback.format_exception(caught.value))


async def test_thoughts_without_an_answer_are_the_nodes_error(
    startup: Startup, provider: ScriptedProvider
) -> None:
    provider.queue(Script([{"reasoning": "Hm, let me think."}], finish="length"))
    with pytest.raises(RuntimeError, match="The model gave no text"):
        await node_of(startup).run("A fox.", 0)


async def test_cancelling_the_run_closes_the_stream(
    startup: Startup, provider: ScriptedProvider
) -> None:
    provider.queue(Script([{"text": "A fox"}, {"wait": "cancel"}]))
    cancelled = threading.Event()

    def look() -> None:
        if cancelled.is_set():
            raise Cancelled

    run = asyncio.create_task(node_of(startup, look).run("A fox.", 0))
    await provider.reached("cancel")
    cancelled.set()
    with pytest.raises(Cancelled):
        await asyncio.wait_for(run, LIMIT)
    await provider.client_left()
    assert POLL_SECONDS <= 0.5  # so that the request is cancelled within a second


async def test_a_run_that_ended_elsewhere_closes_the_stream(
    startup: Startup, provider: ScriptedProvider
) -> None:
    """Another node of the workflow failed: ComfyUI ends its loop, which cancels our task."""
    provider.queue(Script([{"text": "A fox"}, {"wait": "end"}]))
    run = asyncio.create_task(node_of(startup).run("A fox.", 0))
    await provider.reached("end")
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await provider.client_left()


async def test_two_nodes_are_answered_at_the_same_time(
    startup: Startup, provider: ScriptedProvider
) -> None:
    provider.queue(Script([{"wait": "both"}, {"text": "one"}]), text("two"))
    node = node_of(startup)
    first = asyncio.create_task(node.run("A fox.", 0))
    await provider.reached("both")
    assert (await node.run("A hare.", 0))["result"] == ("two",)
    provider.release("both")
    assert (await first)["result"] == ("one",)
