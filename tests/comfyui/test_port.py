"""The port to ComfyUI inside a real ComfyUI (`port_probe`), compared with ComfyUI's own routes."""

from typing import Any

import pytest
from plugin.tests.comfyui.conftest import MODEL
from plugin.tests.comfyui.instance import ComfyUI
from plugin.tests.comfyui.runner import Runner
from plugin.tests.providers import ScriptedProvider, failure

pytestmark = pytest.mark.comfyui

FIELDS = ("name", "display_name", "input", "input_order", "output", "output_name", "output_is_list")
"""Fields of a definition that every version of ComfyUI sends."""


def probed(comfyui: ComfyUI, run: str = "") -> dict[str, Any]:
    found: dict[str, Any] = comfyui.read_json(f"/port-probe?run={run}")
    return found


def test_definitions_and_models_are_those_of_comfyui(comfyui: ComfyUI) -> None:
    port = probed(comfyui)
    ours, theirs = port["definition"], comfyui.read_json("/object_info/KSampler")["KSampler"]
    assert {name: ours[name] for name in FIELDS} == {name: theirs[name] for name in FIELDS}
    assert port["files"] == comfyui.read_json("/models/checkpoints") == [MODEL]
    assert {*port["folders"], "configs", "custom_nodes"} >= set(comfyui.read_json("/models"))


async def test_runs_end_in_the_state_that_comfyui_says(
    comfyui: ComfyUI, runner: Runner, provider: ScriptedProvider
) -> None:
    provider.queue("A fox", failure(401, "No."))
    done = await runner.queue("Describe a fox.", 21)
    await runner.ended(done)
    failed = await runner.queue("Describe a fox.", 22)
    await runner.ended(failed)
    assert probed(comfyui, done)["run"]["state"] == "done"
    assert probed(comfyui, done)["run"]["outputs"]["2"] == {"text": ["A fox"]}
    assert probed(comfyui, failed)["run"]["state"] == "failed"
    assert probed(comfyui, "nothing")["run"] is None
    assert probed(comfyui)["waiting"] == probed(comfyui)["running"] == []


def test_the_log_has_comfyui_s_own_lines(comfyui: ComfyUI) -> None:
    assert any("To see the GUI go to" in line for line in probed(comfyui)["log"])
