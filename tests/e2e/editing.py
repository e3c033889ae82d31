"""A scripted model that edits the workflow on the canvas, for tests of what becomes of it."""

from typing import Any

from plugin.tests.e2e.canvas import Canvas
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script, tool_call

COMMANDS = "**/api/chats/*/commands"
SET_VALUE = """([id, name, value]) => {
    const node = app.rootGraph.getNodeById(id)
    node.widgets.find((widget) => widget.name === name).value = value
    app.extensionManager.workflow.activeWorkflow.changeTracker.captureCanvasState()
}"""
UPSCALED = "() => app.rootGraph.nodes.some(({type}) => type === 'LatentUpscaleBy')"
# Prepares the page for DEAF, after which it gets nothing of its event streams any more, while the
# server has them as open.
CAN_HEAR = """() => {
    const {prototype} = ReadableStreamDefaultReader
    const {read} = prototype
    prototype.read = async function (...given) {
        const got = await read.apply(this, given)
        return window.isDeaf ? new Promise(() => {}) : got
    }
}"""
DEAF = "() => { window.isDeaf = true }"
UPSCALE = [
    {"op": "insert", "id": "up", "type": "LatentUpscaleBy", "into": "8.samples"},
    {"op": "set", "node": "3", "values": {"sampler_name": "dpmpp_2m", "steps": 30}},
]


def edit(operations: Any = UPSCALE, **more: Any) -> Script:
    return Script([tool_call("editWorkflow", {"operations": operations}, **more)])


def result(provider: ProviderThread) -> str:
    """What the model read of its call."""
    return str([one["content"] for one in provider.last_messages if one["role"] == "tool"][-1])


def upscalers(canvas: Canvas) -> int:
    return sum(one["class_type"] == "LatentUpscaleBy" for one in canvas.prompt().values())


def asked(panel: Panel, provider: ProviderThread, *scripts: Script | str) -> None:
    provider.queue(*(scripts or (edit(), "Done.")))
    panel.ask("Make it two times larger and use another sampler")


def held_before_the_edit(panel: Panel, provider: ProviderThread, answer: str) -> str:
    """Ask for an edit that the model makes once the wait that this returns is released."""
    rest = new_wait()
    asked(panel, provider, Script([{"wait": rest}, *edit().steps]), answer)
    provider.reached(rest)
    return rest
