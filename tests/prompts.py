"""API prompts as the stock front end makes them: the oracle for our own reading of workflows.

    with running_canvas(catalog, folder) as url, prompt_page(browser, url) as page:
        page.prompt(workflow_text)  # {"1": {"class_type": ..., "inputs": ..., "_meta": ...}}

The prompt is that of a workflow as it was opened: nothing is queued, so no seed changes. What the
front end computes while it makes a prompt has fixed values: of `{a|b}` the first choice, and one
point in time for dates and names of uploads.
"""

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, Page
from plugin.preview.templates import templates_folder
from plugin.tests.browsers import BOOT_LIMIT, CANVAS_READY, WINDOW

PROMPTS = Path(__file__).resolve().parent / "workflow" / "data" / "prompts.json.gz"
TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
LIMIT = 120_000  # milliseconds for one workflow on a busy machine
RELOAD_AFTER = 20  # workflows: each opens a tab that stays open, and costs memory and time
OPEN = """async (text) => {
    const graph = JSON.parse(text)
    try {
        await window.app.loadGraphData(graph)
    } catch (error) {
        // Some values cannot be copied into a new tab. The graph is on the canvas all the same.
        if (window.app.rootGraph.nodes.length !== graph.nodes.length) throw error
    }
}"""
MADE = """async () => {
    const random = Math.random
    Math.random = () => 0
    try {
        return (await window.app.graphToPrompt()).output
    } finally {
        Math.random = random
    }
}"""
IN_TIME = """async (made, limit) => {
    const late = new Promise((_, reject) =>
        setTimeout(() => reject(new Error('no prompt in time')), limit))
    return JSON.stringify(await Promise.race([made, late]))
}"""
"""Functions of the page: opens a workflow's text; makes the prompt of what is open; waits for a
value, at most so many milliseconds."""
PROMPT = f"""([text, limit]) => {{
    const made = async () => {{
        await ({OPEN})(text)
        return await ({MADE})()
    }}
    return ({IN_TIME})(made(), limit)
}}"""
UPLOAD_NUMBER = re.compile(r" \(\d+\)(?=\.\w+ \[temp\])")
"""What the server adds to the name of an uploaded picture when an earlier one has that name."""
Prompt = dict[str, Any]


class CanvasPage:
    """A page of the front end that opens one workflow after another."""

    def __init__(self, page: Page, url: str) -> None:
        self._page = page
        self._url = url
        self._opened = RELOAD_AFTER

    def make_room(self) -> None:
        """Before a workflow is opened: loads the page anew where it has many."""
        if self._opened >= RELOAD_AFTER:
            self._page.goto(self._url)
            self._page.wait_for_function(CANVAS_READY, timeout=BOOT_LIMIT)
            self._opened = 0
        self._opened += 1


class PromptPage(CanvasPage):
    """A page of the front end that makes one prompt after another."""

    def prompt(self, workflow: str) -> Prompt:
        """The API prompt of a workflow's text. Raises playwright's `Error` where there is none."""
        self.make_room()
        made = self._page.evaluate(PROMPT, [workflow, LIMIT])
        prompt: Prompt = json.loads(UPLOAD_NUMBER.sub("", made))
        return prompt

    def outcome(self, workflow: str) -> dict[str, Any]:
        """`{"output": prompt}`, or `{"error": the front end's words}`."""
        try:
            return {"output": self.prompt(workflow)}
        except Error as error:
            self._opened = RELOAD_AFTER
            return {"error": error.message.splitlines()[0]}


@contextmanager
def fixed_page(browser: Browser) -> Iterator[Page]:
    """A page whose clock stands still."""
    context = browser.new_context(viewport=WINDOW, timezone_id="UTC", locale="en-US")  # type: ignore[arg-type]
    page = context.new_page()
    page.clock.set_fixed_time(TIME)
    yield page
    context.close()


@contextmanager
def prompt_page(browser: Browser, url: str) -> Iterator[PromptPage]:
    with fixed_page(browser) as page:
        yield PromptPage(page, url)


def template_ids() -> list[str]:
    """The ids of all official templates, in the order of their index."""
    index = json.loads((templates_folder() / "index.json").read_text(encoding="utf-8"))
    return [template["name"] for group in index for template in group["templates"]]


def template_text(identity: str) -> str:
    path: Path = templates_folder() / f"{identity}.json"
    return path.read_text(encoding="utf-8")


@cache
def recorded_prompts() -> dict[str, Any]:
    """The outcome for each template, from the file that `scripts/make_prompts.py` makes."""
    recorded: dict[str, Any] = json.loads(gzip.decompress(PROMPTS.read_bytes()))
    prompts: dict[str, Any] = recorded["prompts"]
    return prompts
