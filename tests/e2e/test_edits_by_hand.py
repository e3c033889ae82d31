"""The expected prompts of the edit tasks are what the stock front end gives today.

`scripts/make_edit_tasks.py` makes all of them; this is a sample, with the preview's catalog.
"""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from plugin.preview.catalog import load_catalog
from plugin.tests.edits.page import EditPage, edit_page
from plugin.tests.edits.task import Task, all_tasks, recorded_tasks
from plugin.tests.hosts import running_canvas

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        "FRONTEND" in os.environ, reason="The prompts are recorded from the installed front end."
    ),
]
SAMPLE = 5


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditPage]:
    with (
        running_canvas(load_catalog(), tmp_path_factory.mktemp("canvas")) as url,
        edit_page(browser, url) as opened,
    ):
        yield opened


def sample() -> list[Task]:
    """Tasks from all over the list, among them a damaged workflow."""
    tasks = all_tasks()
    spread = list(tasks[:: max(1, len(tasks) // SAMPLE)][: SAMPLE - 1])
    return spread + [task for task in tasks if task.damage][:1]


@pytest.mark.parametrize("task", sample(), ids=lambda task: task.name)
def test_the_expected_prompt_is_made_again(page: EditPage, task: Task) -> None:
    assert page.recorded(task) == recorded_tasks()[task.name]
