"""A sample of the edit tasks on the canvas: `bench/edits.py` does all of them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from plugin.bench.edit_canvas import TaskPage
from plugin.bench.edit_outcomes import EXACT
from plugin.tests.e2e.panel import opened_panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.edits.task import Task, all_tasks

pytestmark = pytest.mark.e2e
KINDS = (
    "swap model",
    "add lora",
    "inside subgraph",
    "dynamic inputs",
    "wrap",
    "repair wrong type",
)


def sample() -> list[Task]:
    """The first task of each of some kinds."""
    return [next(task for task in all_tasks() if task.kind == kind) for kind in KINDS]


@pytest.fixture(scope="module")
def page(browser: Browser, url: str, shared_provider: ProviderThread) -> Iterator[TaskPage]:
    with opened_panel(browser, url, timezone_id="UTC", locale="en-US") as panel:
        yield TaskPage(panel, shared_provider)
        # The front end asks its registry who makes a node of an unknown type.
        panel.watch.foreign_requests.clear()


@pytest.mark.parametrize("task", sample(), ids=lambda task: task.name)
def test_a_task_is_exact_and_one_undo_step(page: TaskPage, task: Task) -> None:
    outcome = page.outcome(task)
    assert (outcome.end, outcome.faults) == (EXACT, [])
