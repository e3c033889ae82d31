"""Shows hostile answers in the panel and measures the longest tasks of the page."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.providers import Script

LIST = Path(__file__).resolve().parent.parent / "web" / "hostile.js"
PIECES = 200  # of an answer that streams
STILL = 6  # frames without a change after which an answer counts as drawn

# Tasks over 50 ms since the call, and the frames until the log has stood still. `document.hidden`
# pages get no frames, so the page must be in sight.
WATCH = """() => {
    window.tasks = []
    window.taskWatch?.disconnect()
    window.taskWatch = new PerformanceObserver(list => {
        for (const {duration} of list.getEntries()) window.tasks.push(duration)
    })
    window.taskWatch.observe({type: 'longtask'})
    window.changed = 0
    window.changeWatch?.disconnect()
    window.changeWatch = new MutationObserver(() => { window.changed += 1 })
    const log = document.querySelector('.ca-panel [role=log]')
    window.changeWatch.observe(log, {childList: true, characterData: true, subtree: true})
}"""
DRAWN = """async ([still, limit]) => {
    const end = performance.now() + limit
    let quiet = 0
    let seen = -1
    while (quiet < still && performance.now() < end) {
        await new Promise(requestAnimationFrame)
        await new Promise(done => setTimeout(done, 0))
        const answer = document.querySelector('.ca-panel .ca-message--answer:last-child')
        const there = answer?.getAttribute('aria-busy') === 'false'
        quiet = there && window.changed === seen ? quiet + 1 : 0
        seen = window.changed
    }
    await new Promise(done => setTimeout(done, 60))
    return {tasks: window.tasks, drawn: quiet >= still}
}"""


@dataclass(frozen=True)
class Seen:
    """The tasks of the page while an answer was drawn; `longest` in milliseconds.

    The page itself waits for the answer: a test that asks again and again how it looks would cause
    long tasks of its own.

    A task of under 50 ms counts as 0: the browser does not report it.
    """

    longest: float
    over_50: int
    seconds: float
    drawn: bool


def hostile_texts() -> dict[str, str]:
    """The answers of `tests/web/hostile.js`, by name."""
    node = shutil.which("node")
    assert node, "There is no Node."
    done = subprocess.run([node, str(LIST)], capture_output=True, check=True)
    texts: dict[str, str] = json.loads(done.stdout)
    return texts


def streamed(
    panel: Panel, provider: ProviderThread, question: str, text: str, limit: float
) -> Seen:
    """Ask the question in a new chat, and get `text` as the answer, in pieces; `limit`: seconds."""
    size = len(text) // PIECES + 1
    pieces = [{"text": text[at : at + size]} for at in range(0, len(text), size)]
    provider.queue(Script(pieces))
    panel.new_chat()
    panel.message.fill(question)
    return _tasks_of(panel, lambda: panel.message.press("Enter"), limit)


def opened(panel: Panel, question: str, limit: float) -> Seen:
    """Leave the chat that began with the question, and open it again."""
    panel.new_chat()
    panel.button("Chats").click()
    row = panel.root.locator(".ca-row", has_text=question).first
    expect(row).to_be_visible()
    return _tasks_of(panel, row.click, limit)


def _tasks_of(panel: Panel, show: Callable[[], None], limit: float) -> Seen:
    panel.evaluate(WATCH)
    begun = time.monotonic()
    show()
    found: dict[str, Any] = panel.evaluate(DRAWN, [STILL, limit * 1000])
    seconds = time.monotonic() - begun
    tasks: list[float] = found["tasks"]
    return Seen(max(tasks, default=0.0), len(tasks), seconds, bool(found["drawn"]))
