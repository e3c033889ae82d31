"""Runs tasks in ComfyUI's stock front end.

with running_canvas(catalog, folder) as url, edit_page(browser, url) as page:
    page.recorded(task)
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from plugin.tests.browsers import BOOT_LIMIT, CANVAS_READY, WINDOW
from plugin.tests.edits.task import Recorded, Task
from plugin.tests.prompts import LIMIT, RELOAD_AFTER, TIME, UPLOAD_NUMBER, template_text

BY_HAND = Path(__file__).resolve().parent / "by_hand.js"
OPEN = """async (text) => {
    const graph = JSON.parse(text)
    try {
        await window.app.loadGraphData(graph)
    } catch (error) {
        // Some values cannot be copied into a new tab. The graph is on the canvas all the same.
        if (window.app.rootGraph.nodes.length !== graph.nodes.length) throw error
    }
}"""
# The damage sees the template's own JSON as `workflow`, too.
DAMAGE = """async ([text, body]) => {
    const hand = (%s)(window.app)
    const returned = await hand.run(`const workflow = ${text};\\n${body}`)
    return JSON.stringify(returned ?? window.app.rootGraph.serialize())
}"""
DO = """async ([body, limit]) => {
    const app = window.app
    const prompt = async () => {
        const random = Math.random
        Math.random = () => 0
        try {
            return (await app.graphToPrompt()).output
        } finally {
            Math.random = random
        }
    }
    const done = async () => {
        const before = await prompt()
        const hand = (%s)(app)
        const noted = await hand.run(body)
        // Vue settles what follows from a change, e.g. the inputs that grow.
        await new Promise((resolve) => setTimeout(resolve, 50))
        return { before, expected: await prompt(), names: hand.names, noted }
    }
    const late = new Promise((_, reject) =>
        setTimeout(() => reject(new Error('no prompt in time')), limit))
    return JSON.stringify(await Promise.race([done(), late]))
}"""


class EditPage:
    """A page of the front end that does one task after another by hand."""

    def __init__(self, page: Page, url: str) -> None:
        self._page = page
        self._url = url
        self._opened = RELOAD_AFTER

    def recorded(self, task: Task) -> Recorded:
        """What the front end makes of the task. Raises playwright's `Error` where it fails."""
        text = template_text(task.template)
        workflow: dict[str, Any] | None = None
        hand = BY_HAND.read_text(encoding="utf-8")
        hand = hand[hand.index("*/") + 2 :].strip()
        if task.damage:
            self._open(text)
            damaged = self._page.evaluate(DAMAGE % hand, [text, task.damage])
            workflow = json.loads(damaged)
            text = json.dumps(workflow)
        self._open(text)
        made = self._page.evaluate(DO % hand, [task.by_hand, LIMIT])
        fields = json.loads(UPLOAD_NUMBER.sub("", made))
        return Recorded(workflow=workflow, **{"noted": None, **fields})

    def _open(self, text: str) -> None:
        if self._opened >= RELOAD_AFTER:
            self._page.goto(self._url)
            self._page.wait_for_function(CANVAS_READY, timeout=BOOT_LIMIT)
            self._opened = 0
        self._opened += 1
        self._page.evaluate(OPEN, text)


@contextmanager
def edit_page(browser: Browser, url: str) -> Iterator[EditPage]:
    context = browser.new_context(viewport=WINDOW, timezone_id="UTC", locale="en-US")  # type: ignore[arg-type]
    page = context.new_page()
    page.clock.set_fixed_time(TIME)
    yield EditPage(page, url)
    context.close()
