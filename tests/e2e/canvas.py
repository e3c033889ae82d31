"""The canvas of the page, for tests of edits: its workflows, and the panel's hand called with steps
as the server writes them."""

from typing import Any

from plugin.tests.e2e.panel import Panel

FOLDER = "/extensions/plugin"
HAND = f"""async (fresh) => {{
    const load = (name) => import(`{FOLDER}/services/${{name}}.js`)
    const names = ['host', 'canvas-hand', 'canvas-leave', 'edit-results', 'storage']
    const [{{createHost}}, {{createCanvasHand}}, {{createCanvasLeave}}, {{createEditResults}},
        {{createPanelStorage}}] = await Promise.all(names.map(load))
    const host = createHost(window.app, window.comfyAPI.api.api)
    const storage = createPanelStorage('test', () => sessionStorage)
    if (fresh) storage.clear()
    const results = createEditResults(storage)
    const leave = createCanvasLeave(host, () => 'w', storage, window, () => performance.now())
    window.hand = createCanvasHand(host, () => 'w', results, leave)
}}"""
LOAD = """async ([graph, name]) => {
    await app.loadGraphData(graph, true, true, name)
    await new Promise(requestAnimationFrame)
}"""
# What counts of a workflow: all but places, sizes, the view, ids and order of links, and what
# nodes keep for their looks.
STATE = """() => {
    const links = (graph) => (graph.links ?? []).map((link) => Array.isArray(link)
        ? link.slice(1, 5) : [link.origin_id, link.origin_slot, link.target_id, link.target_slot])
        .map(String).sort()
    const read = (graph) => ({
        nodes: graph.nodes.map((node) => [node.id, node.type, node.mode, node.title ?? null,
            node.widgets_values ?? null]).sort((a, b) => a[0] - b[0]),
        links: links(graph),
        groups: (graph.groups ?? []).map(({title, bounding}) =>
            [title, [...bounding].map(Math.round)]),
        inputs: (graph.inputs ?? []).map(({name, type}) => [name, type]),
        outputs: (graph.outputs ?? []).map(({name, type}) => [name, type]),
    })
    const graph = app.rootGraph.serialize()
    const inner = (graph.definitions?.subgraphs ?? []).map((one) => [one.id, read(one)]).sort()
    return JSON.parse(JSON.stringify({...read(graph), inner}))
}"""
PROMPT = "async () => (await app.graphToPrompt()).output"
VIEW = """() => JSON.parse(JSON.stringify([app.canvas.ds.scale, [...app.canvas.ds.offset],
    Object.keys(app.canvas.selected_nodes ?? {})]))"""
CLOSE_OTHERS = """async () => {
    const store = app.extensionManager.workflow
    const {path} = store.activeWorkflow
    for (const one of [...store.openWorkflows]) {
        if (one.path !== path) await store.closeWorkflow(one)
    }
}"""
TRACKER = "app.extensionManager.workflow.activeWorkflow.changeTracker"
# Nodes that are Vue components get their sizes some frames after a load: a change for the tracker.
SETTLED = """async () => {
    const read = () => JSON.stringify(app.rootGraph.serialize())
    for (let before, tries = 0, now = read(); before !== now && tries < 50; tries += 1) {
        before = now
        for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame)
        await new Promise((done) => setTimeout(done, 100))
        now = read()
    }
}"""
KEPT_AFTER = 700  # milliseconds
REMEMBER = """() => {
    document.activeElement?.blur?.()
    app.canvas.canvas.focus()
    window.stateBefore = JSON.stringify(app.rootGraph.serialize())
}"""


class Canvas:
    """The canvas of a panel's page."""

    def __init__(self, panel: Panel) -> None:
        self.panel = panel

    def load(self, graph: dict[str, Any], name: str | None = None) -> None:
        """Open a workflow in a new tab."""
        self.panel.evaluate(LOAD, [graph, name])

    def name(self) -> str:
        """Of the open workflow."""
        script = "() => app.extensionManager.workflow.activeWorkflow.filename"
        return str(self.panel.evaluate(script))

    def close_others(self) -> None:
        """Leave only the open workflow's tab: each that is kept costs memory and time."""
        self.panel.evaluate(CLOSE_OTHERS)

    def state(self) -> Any:
        return self.panel.evaluate(STATE)

    def prompt(self) -> Any:
        return self.panel.evaluate(PROMPT)

    def graph(self) -> Any:
        return self.panel.evaluate("() => JSON.parse(JSON.stringify(app.rootGraph.serialize()))")

    def view(self) -> Any:
        return self.panel.evaluate(VIEW)

    def settle(self) -> None:
        """Wait until the front end has done what it does some frames after a change."""
        self.panel.evaluate(SETTLED)

    def kept(self) -> None:
        """Wait until the front end has stored the workflow for a reload: older ones do so half a
        second after the last change."""
        self.panel.page.wait_for_timeout(KEPT_AFTER)

    def capture(self) -> None:
        """What the front end does after a click: what has changed becomes an undo step."""
        self.panel.evaluate(f"() => {{ {TRACKER}.captureCanvasState() }}")

    def history(self) -> list[int]:
        """How many undo and redo steps there are, and open brackets."""
        queues = "[t.undoQueue.length, t.redoQueue.length, t.changeCount]"
        found: list[int] = self.panel.evaluate(f"() => {{ const t = {TRACKER}; return {queues} }}")
        return found

    def undo(self) -> None:
        """Ctrl+Z on the canvas."""
        self._key("Control+z")

    def redo(self) -> None:
        """Ctrl+Y on the canvas."""
        self._key("Control+y")

    def _key(self, key: str) -> None:
        self.panel.evaluate(REMEMBER)
        self.panel.page.keyboard.press(key)
        self.panel.page.wait_for_function(
            "() => JSON.stringify(app.rootGraph.serialize()) !== window.stateBefore"
        )
        self.settle()

    def vue_nodes(self, on: bool) -> None:
        """Choose how the front end draws nodes: as Vue components, or on the canvas."""
        self.panel.evaluate(
            "(on) => app.extensionManager.setting.set('Comfy.VueNodes.Enabled', on)", on
        )
        self.settle()


class Hand:
    """The panel's hand on the canvas, without a server."""

    def __init__(self, panel: Panel, *, fresh: bool = True) -> None:
        """`fresh`: without the results that another hand has kept, as one of another tab."""
        self._panel = panel
        panel.evaluate(HAND, fresh)

    def run(self, steps: list[dict[str, Any]], id_: str = "call", **more: Any) -> Any:
        call = {
            "tool_call_id": id_,
            "tool": "editWorkflow",
            "workflow_id": "w",
            "base": {},
            "new_ids": {},
            "steps": steps,
            **more,
        }
        return self._panel.evaluate("(call) => window.hand.run(call)", call)

    def undo(self, id_: str = "call", **more: Any) -> bool:
        call = {"tool_call_id": id_, "tool": "editWorkflow", "workflow_id": "w", **more}
        taken: bool = self._panel.evaluate("(call) => window.hand.undo(call)", call)
        return taken


def undone_and_redone(canvas: Canvas, before: Any) -> None:
    """One Ctrl+Z brings back the workflow from before, Ctrl+Y the edited one."""
    after = canvas.state()
    prompt = canvas.prompt()
    assert after != before
    canvas.undo()
    assert canvas.state() == before
    canvas.redo()
    assert canvas.state() == after
    assert canvas.prompt() == prompt
