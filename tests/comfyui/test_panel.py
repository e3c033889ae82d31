"""The panel in a real ComfyUI: its own front end, canvas, node definitions and routes."""

import pytest
from playwright.sync_api import expect
from plugin.tests.comfyui.instance import ComfyUI
from plugin.tests.comfyui.panels import opened_panel
from plugin.tests.providers import Script, text, tool_call

pytestmark = [pytest.mark.comfyui, pytest.mark.e2e]


def test_a_person_asks_about_the_canvas_and_reads_the_answer(
    comfyui: ComfyUI, chromium_path: str
) -> None:
    with opened_panel(comfyui, chromium_path) as (panel, provider):
        kinds = panel.evaluate("() => window.app.rootGraph.nodes.map((node) => node.type)")
        provider.queue(Script([tool_call("getWorkflowInfo")]), text("It makes **a picture**."))
        panel.ask("Explain this workflow")
        expect(panel.answer).to_contain_text("It makes a picture.")
        panel.idle()
        result = provider.requests[-1].messages[-1]["content"]
        assert all(kind in result for kind in kinds)
        panel.reload()
        expect(panel.articles).to_have_count(2)
