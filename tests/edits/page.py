"""Runs tasks in ComfyUI's stock front end.

with running_canvas(catalog, folder) as url, edit_page(browser, url) as page:
    page.recorded(task)
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser
from plugin.tests.edits.task import Recorded, Task
from plugin.tests.prompts import (
    IN_TIME,
    LIMIT,
    MADE,
    OPEN,
    UPLOAD_NUMBER,
    CanvasPage,
    fixed_page,
    template_text,
)

BY_HAND = Path(__file__).resolve().parent / "by_hand.js"
# The damage sees the template's own JSON as `workflow`, too.
DAMAGE = """async ([text, body]) => {
    const hand = (%s)(window.app)
    const returned = await hand.run(`const workflow = ${text};\\n${body}`)
    return JSON.stringify(returned ?? window.app.rootGraph.serialize())
}"""
DO = f"""([hand, body, limit]) => {{
    const done = async () => {{
        const prompt = {MADE}
        const before = await prompt()
        const made = eval(hand)(window.app)
        const noted = await made.run(body)
        // Vue settles what follows from a change, e.g. the inputs that grow.
        await new Promise((resolve) => setTimeout(resolve, 50))
        return {{ before, expected: await prompt(), names: made.names, noted }}
    }}
    return ({IN_TIME})(done(), limit)
}}"""


class EditPage(CanvasPage):
    """A page of the front end that does one task after another by hand."""

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
        made = self._page.evaluate(DO, [f"({hand})", task.by_hand, LIMIT])
        fields = json.loads(UPLOAD_NUMBER.sub("", made))
        return Recorded(workflow=workflow, **{"noted": None, **fields})

    def _open(self, text: str) -> None:
        self.make_room()
        self._page.evaluate(OPEN, text)


@contextmanager
def edit_page(browser: Browser, url: str) -> Iterator[EditPage]:
    with fixed_page(browser) as page:
        yield EditPage(page, url)
