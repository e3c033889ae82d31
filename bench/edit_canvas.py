"""One edit task after another on the canvas of the stock front end, for `edits.py`.

A scripted model calls `editWorkflow` with the task's operations over real HTTP, the panel in
Chromium carries the call out, and the page's own `graphToPrompt` says what came of it. Then one
Ctrl+Z and one Ctrl+Y.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error
from plugin.tests.browsers import running_browser
from plugin.tests.e2e.canvas import Canvas
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, running_provider
from plugin.tests.edits.same_prompt import prompt_differences, same_prompt
from plugin.tests.edits.task import Task, recorded_tasks
from plugin.tests.hosts import running_preview
from plugin.tests.prompts import TIME, UPLOAD_NUMBER, template_text
from plugin.tests.providers import Script, tool_call

from .edit_outcomes import DIFFERENT, EXACT, NO_ANSWER, REFUSED, UNDO, Outcome

RELOAD_AFTER = 12
"""Tasks: each opens a tab that stays open, and costs memory and time."""
BOOTS = 4
"""Attempts to open a page."""
ANSWER_LIMIT = 120.0  # seconds for one answer on a busy machine
LOAD = """async ([text, name]) => {
    const graph = JSON.parse(text)
    // Some templates open as apps, a view of the front end without the side bar.
    if (graph.extra?.linearMode) graph.extra.linearMode = false
    try {
        await app.loadGraphData(graph, true, true, name)
    } catch (error) {
        // Some values cannot be copied into a new tab. The graph is on the canvas all the same.
        if (app.rootGraph.nodes.length !== graph.nodes.length) throw error
    }
    await new Promise(requestAnimationFrame)
}"""
# The recorded prompts have the first choice of `{a|b}`, and one point in time.
PROMPT = """async (time) => {
    const [random, RealDate] = [Math.random, Date]
    Math.random = () => 0
    window.Date = class extends RealDate {
        constructor(...given) { super(...(given.length ? given : [time])) }
        static now() { return time }
    }
    try {
        return JSON.stringify((await app.graphToPrompt()).output)
    } finally {
        Math.random = random
        window.Date = RealDate
    }
}"""
SETTINGS = {
    "OPENAI_MODEL": "scripted",
    "LLM_CONTEXT_WINDOW": "131072",
    "ASSISTANT_DISCOVER": "0",
    # No model is asked but for the tasks: its scripted answers are theirs.
    "LLM_SUMMARY": "extractive",
    "ASSISTANT_MEMORY": "manual",
}


class TaskPage:
    """A panel that carries out one task after another."""

    def __init__(self, panel: Panel, provider: ProviderThread) -> None:
        self._panel = panel
        self._canvas = Canvas(panel)
        self._provider = provider

    def outcome(self, task: Task) -> Outcome:
        """What came of the task. Raises playwright's `Error` where the page does not answer."""
        recorded = recorded_tasks()[task.name]
        workflow = recorded.workflow
        text = template_text(task.template) if workflow is None else json.dumps(workflow)
        self._panel.new_chat()
        self._panel.evaluate(LOAD, [text, task.name])
        self._canvas.settle()
        self._canvas.capture()
        before, prompt_before = self._canvas.state(), self.prompt()
        history, opened = self._canvas.history(), self._canvas.graph()
        result = self._answered(task)
        self._canvas.settle()
        if result is None:
            return Outcome(task.name, task.kind, NO_ANSWER, [])
        if "revision" not in result:
            return Outcome(task.name, task.kind, REFUSED, [str(result.get("error", result))])
        after, prompt = self._canvas.state(), self.prompt()
        added = list(recorded.names.values())
        faults = prompt_differences(recorded.expected, prompt, added)
        if faults:
            if not same_prompt(recorded.before, prompt_before):
                faults = ["the page opens it with another prompt than recorded", *faults]
            return Outcome(task.name, task.kind, DIFFERENT, faults)
        faults = [] if self._canvas.history()[0] == history[0] + 1 else ["not one undo step"]
        self._canvas.undo()
        undone, prompt_undone = self._canvas.state(), self.prompt()
        self._canvas.redo()
        if self._canvas.state() != after:
            faults.append("redo: another workflow")
        faults += [f"redo: {one}" for one in prompt_differences(prompt, self.prompt())]
        undo = [*_different(before, undone), *prompt_differences(prompt_before, prompt_undone)]
        if undo and not self._opens_as(opened, undone, prompt_undone):
            faults += [f"undo: {one}" for one in undo]
        return Outcome(task.name, task.kind, UNDO if faults else EXACT, faults)

    def _opens_as(self, graph: Any, state: Any, prompt: Any) -> bool:
        """Whether the front end opens the graph with this state and prompt.

        It takes back by opening what it wrote itself, and loses links of some inputs that grow: so
        it does after each change by hand, too.
        """
        self._panel.evaluate(LOAD, [json.dumps(graph), None])
        self._canvas.settle()
        found = self._canvas.state()
        return not _different(state, found) and same_prompt(prompt, self.prompt())

    def prompt(self) -> Any:
        """The page's prompt, at the recorded point in time."""
        made = self._panel.evaluate(PROMPT, int(TIME.timestamp() * 1000))
        return json.loads(UPLOAD_NUMBER.sub("", made))

    def _answered(self, task: Task) -> dict[str, Any] | None:
        """What the model read of its call; None where there was no answer in time."""
        self._provider.start_over()
        call = tool_call("editWorkflow", {"operations": list(task.operations)})
        self._provider.queue(Script([call]), "Done.")
        self._panel.ask(task.say)
        limit = time.monotonic() + ANSWER_LIMIT
        once = self._panel.button("Once")
        while len(self._provider.requests) < 2:
            if time.monotonic() > limit:
                return None
            if once.count():
                # More than five nodes are not removed unasked.
                once.first.click()
            self._panel.page.wait_for_timeout(100)
        self._panel.idle()
        told = [one for one in self._provider.last_messages if one["role"] == "tool"]
        try:
            found = json.loads(told[-1]["content"])
        except ValueError:
            found = told[-1]["content"]
        return found if isinstance(found, dict) else {"error": found}


def _different(before: Any, found: Any) -> list[str]:
    """The parts of a canvas' state that are others."""
    return [
        f"{part}: {_first_difference(before[part], found[part])}"
        for part in before
        if before[part] != found[part]
    ]


def _first_difference(left: Any, right: Any) -> str:
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for one, two in zip(left, right, strict=True):
            if one != two:
                return f"{one!r} -> {two!r}"[:600]
    return f"{left!r} -> {right!r}"[:600]


def outcomes(chromium: str, tasks: Sequence[Task]) -> Iterator[Outcome]:
    """Each task's outcome, as soon as it is known."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_provider() as provider,
        running_preview({**SETTINGS, "OPENAI_BASE_URL": provider.base_url}, Path(folder)) as url,
        running_browser(chromium) as browser,
    ):
        left = list(tasks)
        while left:
            batch, left = left[:RELOAD_AFTER], left[RELOAD_AFTER:]
            yield from _some(browser, url, provider, batch, left)


def _booted(stack: ExitStack, browser: Browser, url: str) -> Panel:
    """A new page; a busy machine may take several attempts."""
    context = {"timezone_id": "UTC", "locale": "en-US"}
    for _ in range(BOOTS - 1):
        with suppress(Error):
            return stack.enter_context(opened_panel(browser, url, **context))
    return stack.enter_context(opened_panel(browser, url, **context))


def _some(
    browser: Browser, url: str, provider: ProviderThread, tasks: list[Task], left: list[Task]
) -> Iterator[Outcome]:
    """Tasks in one page; after one that the page failed at, the rest goes back to `left`."""
    with ExitStack() as stack:
        panel = _booted(stack, browser, url)
        page = TaskPage(panel, provider)
        for number, task in enumerate(tasks):
            try:
                yield page.outcome(task)
            except (AssertionError, Error) as error:
                yield Outcome(task.name, task.kind, NO_ANSWER, [str(error).splitlines()[0]])
                left[:0] = tasks[number + 1 :]
                break
        for told in panel.watch.page_errors:
            print(f"error in the page: {told}", file=sys.stderr, flush=True)
        panel.watch.page_errors.clear()
        # The front end asks its registry who makes a node of an unknown type.
        panel.watch.foreign_requests.clear()
