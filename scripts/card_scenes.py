"""The scenes of the cards for `screenshots.py`, each at the width of a narrow side bar."""

from typing import Any

from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.providers import Script, tool_call

WIDTH = 400  # pixels
QUESTION = {
    "question": "Which look should the larger picture keep?",
    "options": [
        {"label": "Natural skin", "description": "An upscale model at half strength"},
        {"label": "Crisp edges", "description": "A second pass with more steps"},
        {"label": "As it is"},
    ],
}
STEPS = (
    "Read the workflow",
    "Make the picture two times larger",
    "Swap the sampler for euler",
    "Run it and look at the result",
    "Add an upscale pass",
)
# The ids of the nodes of the open workflow that have these values.
FIND = """names => names.map(name => String(app.rootGraph.nodes.find(node =>
    node.widgets?.some(widget => widget.name === name)).id))"""
CHANGE_STEPS = """() => {
    const widgets = app.rootGraph.nodes.flatMap((node) => node.widgets ?? [])
    widgets.find((widget) => widget.name === 'steps').value = 20
    app.extensionManager.workflow.activeWorkflow.changeTracker.captureCanvasState()
}"""
PROMPT = """Try this one:

```text
portrait of an old fisherman, soft window light, 85 mm
```

It keeps the light soft and the face sharp."""


def changes_for(panel: Panel) -> list[dict[str, Any]]:
    size, sampler = panel.evaluate(FIND, ["width", "sampler_name"])
    return [
        {"op": "set", "node": size, "values": {"width": 2048, "height": 2048}},
        {"op": "set", "node": sampler, "values": {"sampler_name": "euler", "steps": 12}},
    ]


def approval(panel: Panel, provider: ProviderThread) -> None:
    skill = {
        "name": "Campfire light",
        "description": "Warm light and colours for night scenes outdoors.",
        "instructions": "Add to the prompt: warm campfire light, soft orange rim light.",
    }
    said = {"text": "I can keep that look as a skill."}
    provider.queue(Script([said, tool_call("createUserSkill", skill)]))
    panel.ask("Remember how we lit the campfire scene.")
    expect(panel.button("Once")).to_be_enabled()


def change_approval(panel: Panel, provider: ProviderThread) -> None:
    """A change in the mode that asks before each one."""
    panel.root.get_by_role("button", name="What asks you first").click()
    panel.root.get_by_role("button", name="Changes and runs").click()
    provider.queue(Script([tool_call("editWorkflow", {"operations": changes_for(panel)})]))
    panel.ask("Make it two times larger and use a different sampler.")
    expect(panel.button("Once")).to_be_enabled()


def question(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(Script([tool_call("askUser", QUESTION)]))
    panel.ask("Make it two times larger.")
    expect(panel.answer.get_by_role("radio").first).to_be_enabled()


def changes(panel: Panel, provider: ProviderThread) -> None:
    edit = {"operations": changes_for(panel), "note": "Larger picture, another sampler"}
    provider.queue(
        Script([tool_call("getWorkflowInfo")]),
        Script([tool_call("editWorkflow", edit)]),
        "The latent is now `2048 × 2048` and the sampler is `euler`.",
    )
    panel.ask("Make it two times larger and use a different sampler.")
    expect(panel.button("Undo this turn")).to_be_enabled()
    panel.idle()


def undone(panel: Panel, provider: ProviderThread) -> None:
    changes(panel, provider)
    panel.button("Undo this turn").click()
    expect(panel.button("Redo")).to_be_enabled()


def undo_refused(panel: Panel, provider: ProviderThread) -> None:
    """The user has changed one of the nodes since."""
    changes(panel, provider)
    panel.evaluate(CHANGE_STEPS)
    panel.button("Undo this turn").click()
    expect(panel.answer).to_contain_text("Changed since")


def plan(panel: Panel, provider: ProviderThread) -> None:
    states = ("done", "done", "doing", "open", "dropped")
    steps = [{"text": text, "state": state} for text, state in zip(STEPS, states, strict=True)]
    going = {"text": "Now I swap the sampler."}
    provider.queue(
        Script([tool_call("updatePlan", {"steps": steps})]), Script([going, {"wait": "rest"}])
    )
    panel.ask("Two times larger, with another sampler, then run it.")
    expect(panel.answer).to_contain_text("Now I swap")


def prompt(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(PROMPT)
    panel.ask("Write a prompt for a portrait.")
    panel.idle()


def modes(panel: Panel, provider: ProviderThread) -> None:
    prompt(panel, provider)
    panel.root.get_by_role("button", name="What asks you first").click()
    panel.root.get_by_role("button", name="Runs beyond a budget").click()


CARDS = {
    "card-approval": approval,
    "card-change": change_approval,
    "card-question": question,
    "card-changes": changes,
    "card-undone": undone,
    "card-undo-refused": undo_refused,
    "card-plan": plan,
    "card-prompt": prompt,
    "card-modes": modes,
}
