"""Which groups `loadTools` accepts."""

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.tools.tool import ToolContext
from plugin.assistant.tools.toolset import GROUPS, standard_toolset

CONTEXT = ToolContext(skills=None)  # type: ignore[arg-type]
TOOLSET = standard_toolset()
WITH_TOOLS = {tool.group for tool in TOOLSET}


@pytest.mark.parametrize("group", GROUPS)
async def test_only_a_group_that_has_tools_is_loaded(group: str) -> None:
    loader = TOOLSET.get("loadTools")
    assert loader is not None
    if group in WITH_TOOLS:
        loaded = await TOOLSET.call(loader, {"group": group}, CONTEXT)
        assert loaded["tools"]
    else:
        with pytest.raises(
            ToolError, match=r"group: expected one of lookup, edit, memory, tasks, skills$"
        ):
            await TOOLSET.call(loader, {"group": group}, CONTEXT)
