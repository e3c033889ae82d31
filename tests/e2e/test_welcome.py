"""An empty chat says what the open workflow makes, and keeps to the workflow that is open."""

import json

import pytest
from playwright.sync_api import Browser, expect
from plugin.preview.templates import templates_folder
from plugin.tests.e2e.panel import opened_panel
from plugin.tests.e2e.provider import ProviderThread

pytestmark = pytest.mark.e2e


def test_an_empty_chat_says_what_the_open_workflow_makes(
    browser: Browser, url: str, provider: ProviderThread
) -> None:
    other = (templates_folder() / "flux_schnell.json").read_text(encoding="utf-8")
    with opened_panel(browser, url) as panel:
        panel.button("Start").click()
        said = panel.root.locator(".ca-welcome")
        expect(said).to_contain_text("This makes 1024 × 1024 pictures with Z-Image Turbo.")
        panel.evaluate("graph => window.app.loadGraphData(graph)", json.loads(other))
        expect(said).to_contain_text("This makes 1024 × 1024 pictures with Flux.1 schnell.")
