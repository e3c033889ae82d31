"""The workflow tool: it shows the turn's workflow, and takes no arguments."""

from pathlib import Path

from plugin.assistant.tools.tool import ToolContext
from plugin.assistant.tools.toolset import standard_toolset
from plugin.assistant.user_context.skills import SkillLibrary
from plugin.assistant.user_context.sources import SourceCache
from plugin.assistant.workflow.view import Snapshot


async def info(folder: Path, workflow: Snapshot) -> str:
    tool = standard_toolset().get("getWorkflowInfo")
    assert tool is not None
    assert tool.run is not None
    scene = ToolContext(SkillLibrary(folder, folder, SourceCache()), workflow)
    return str(await tool.run(tool.parse({}), scene))


async def test_the_open_workflow_is_described(tmp_path: Path) -> None:
    graph = {"nodes": [{"id": 3, "type": "KSampler"}], "links": []}
    shown = await info(tmp_path, Snapshot(name="mine", graph=graph))
    assert shown.splitlines() == ['workflow "mine": 1 nodes, 0 links', "#3 KSampler"]


async def test_without_a_workflow_the_model_is_told(tmp_path: Path) -> None:
    assert (await info(tmp_path, Snapshot())).startswith("No workflow is open")
