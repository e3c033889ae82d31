"""Every edit task of `tests/edits` gives the prompt that the same change by hand gives in the page.

The stock front end made the expected prompts, before there was an editor.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.edits.apply import apply
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.edits.same_prompt import prompt_differences
from plugin.tests.edits.task import Task, all_tasks, recorded_tasks
from plugin.tests.workflow.workflows import definitions, template


def untitled(prompt: Mapping[str, Any]) -> dict[str, Any]:
    """Without titles, which the front end translates."""
    return {
        address: {key: value for key, value in node.items() if key != "_meta"}
        for address, node in prompt.items()
    }


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_a_task_gives_the_prompt_of_the_change_by_hand(task: Task) -> None:
    recorded = recorded_tasks()[task.name]
    workflow = recorded.workflow or template(task.template)
    made = apply(workflow, list(task.operations), definitions())
    prompt = untitled(api_prompt(parse_workflow(made.content), definitions()))
    expected = untitled(recorded.expected)
    assert not prompt_differences(expected, prompt, list(recorded.names.values()))
