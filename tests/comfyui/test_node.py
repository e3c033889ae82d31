"""*Assistant Prompt* in workflows that a real ComfyUI executes, against the scripted provider."""

import pytest
from plugin.tests.comfyui.runner import Runner
from plugin.tests.providers import Script, ScriptedProvider, failure

pytestmark = pytest.mark.comfyui


async def test_the_answer_reaches_the_next_node(runner: Runner, provider: ScriptedProvider) -> None:
    provider.queue("A fox in the snow")
    run = await runner.queue("Describe a fox.", 1)
    assert (await runner.ended(run))[0] == "execution_success"
    assert await runner.text(run) == "A fox in the snow"
    assert await runner.text(run, node="1") == "A fox in the snow"
    assert provider.requests[0].messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Describe a fox."},
    ]


async def test_the_same_seed_keeps_the_answer_and_a_new_one_asks_again(
    runner: Runner, provider: ScriptedProvider
) -> None:
    provider.queue("First")
    first = await runner.queue("Name an animal.", 11)
    assert (await runner.ended(first))[0] == "execution_success"
    again = await runner.queue("Name an animal.", 11)
    assert (await runner.ended(again))[0] == "execution_success"
    assert await runner.text(again) == "First"
    assert len(provider.requests) == 1

    provider.queue("Second")
    other = await runner.queue("Name an animal.", 12)
    assert (await runner.ended(other))[0] == "execution_success"
    assert await runner.text(other) == "Second"


async def test_a_failure_is_the_nodes_error_in_one_sentence(
    runner: Runner, provider: ScriptedProvider
) -> None:
    provider.queue(failure(401, "Incorrect API key provided."))
    run = await runner.queue("Describe a hare.", 1)
    kind, error = await runner.ended(run)
    assert kind == "execution_error"
    assert (error["node_id"], error["node_type"]) == ("1", "AssistantPrompt")
    assert "does not accept the key" in error["exception_message"]
    assert len(error["exception_message"].strip().splitlines()) == 1


async def test_cancelling_the_run_closes_the_stream(
    runner: Runner, provider: ScriptedProvider
) -> None:
    provider.queue(Script([{"text": "A bear"}, {"wait": "cancel"}]))
    run = await runner.queue("Describe a bear.", 1)
    await provider.reached("cancel")
    await runner.cancel()
    assert (await runner.ended(run))[0] == "execution_interrupted"
    await provider.client_left()
