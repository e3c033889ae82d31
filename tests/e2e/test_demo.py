"""The real demo model: a user types a message, and an answer streams into the panel."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from plugin.tests.e2e.panel import opened_panel
from plugin.tests.hosts import running_preview

pytestmark = pytest.mark.e2e

START_LIMIT = 120_000  # milliseconds: the model is loaded, and writes on one busy core


def test_the_demo_model_answers_in_the_panel(browser: Browser, tmp_path: Path) -> None:
    environ = {
        "ASSISTANT_DEMO_MODEL": "1",
        "ASSISTANT_DISCOVER": "0",
        "LLM_MAX_OUTPUT_TOKENS": "60",
    }
    with running_preview(environ, tmp_path) as url, opened_panel(browser, url) as panel:
        expect(panel.root.get_by_text("You can try it with the demo model")).to_be_visible()
        panel.button("Start").click()
        panel.ask("Write one sentence about a lighthouse.")
        expect(panel.stop).to_be_visible()
        answer = panel.articles.nth(1).locator(".ca-markdown")
        expect(answer).not_to_be_empty(timeout=START_LIMIT)
        expect(panel.send).to_be_visible(timeout=START_LIMIT)
        assert len(answer.inner_text().split()) > 3
        expect(panel.root.get_by_role("button", name="Demo model")).to_be_visible()
