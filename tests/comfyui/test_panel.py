"""The panel in a real ComfyUI: its own front end, canvas, node definitions and routes."""

import json
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect
from plugin.tests.browsers import WINDOW, running_browser
from plugin.tests.comfyui.instance import ComfyUI
from plugin.tests.e2e.panel import Panel, PanelWatch
from plugin.tests.e2e.provider import ProviderThread, running_provider
from plugin.tests.providers import Script, text, tool_call

pytestmark = [pytest.mark.comfyui, pytest.mark.e2e]

PROVIDER = "/api/assistant/providers/panel"


def use(comfyui: ComfyUI, provider: ProviderThread) -> None:
    """Makes that ComfyUI answer with the provider, and open with a canvas instead of a tour."""
    body = {"base_url": provider.base_url, "model": "scripted", "context_window": 32768}
    steps: tuple[tuple[str, str, object], ...] = (
        ("POST", "/api/settings/Comfy.TutorialCompleted", True),
        ("PUT", PROVIDER, body),
        ("POST", f"{PROVIDER}/activate", {}),
    )
    for method, path, sent in steps:
        headers = {"Content-Type": "application/json"}
        data = json.dumps(sent).encode()
        with urlopen(Request(comfyui.url + path, data, headers, method=method)) as response:
            assert response.status < 300


def test_a_person_asks_about_the_canvas_and_reads_the_answer(
    comfyui: ComfyUI, chromium_path: str
) -> None:
    with running_provider() as provider, running_browser(chromium_path) as browser:
        use(comfyui, provider)
        page = browser.new_page(viewport=WINDOW)  # type: ignore[arg-type]
        # ComfyUI's own front end makes requests to other hosts, so only the errors of our scripts
        # count.
        watch = PanelWatch(comfyui.url)
        page.on("console", watch.see_message)
        panel = Panel(page, comfyui.url, watch)
        panel.boot()
        kinds = panel.evaluate("() => window.app.rootGraph.nodes.map((node) => node.type)")
        provider.queue(Script([tool_call("getWorkflowInfo")]), text("It makes **a picture**."))
        panel.ask("Explain this workflow")
        expect(panel.answer).to_contain_text("It makes a picture.")
        panel.idle()
        result = provider.requests[-1].messages[-1]["content"]
        assert all(kind in result for kind in kinds)
        panel.reload()
        expect(panel.articles).to_have_count(2)
        assert watch.complaints == []
