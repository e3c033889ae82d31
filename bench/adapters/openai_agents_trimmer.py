"""openai-agents' `ToolOutputTrimmer` with its defaults. The trimmer has no token limit."""

from agents.extensions.tool_output_trimmer import ToolOutputTrimmer
from agents.run_config import CallModelData, ModelInputData
from harness import Row, serve
from responses import from_items, into_items

TRIMMER = ToolOutputTrimmer()


def trim(items: list[Row], limit: int) -> list[Row]:
    data = ModelInputData(input=items, instructions=None)
    return TRIMMER(CallModelData(model_data=data, agent=None, context=None)).input


serve(trim, into_items, from_items)
