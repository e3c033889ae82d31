"""The preview in a real browser with ComfyUI's stock front end."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from plugin.preview.templates import templates_folder
from plugin.tests.browsers import WAIT_LIMIT, Watch, running_browser, watched_page
from plugin.tests.hosts import running_preview

pytestmark = pytest.mark.e2e

BROWSE_TEMPLATES = "() => void window.app.extensionManager.command.execute('Comfy.BrowseTemplates')"
CARD = "template-workflow-"  # followed by the template's name
NODE_TYPES = "() => window.app.rootGraph.nodes.map(node => node.type)"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_preview({}, tmp_path_factory.mktemp("preview")) as address:
        yield address


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    expect.set_options(timeout=WAIT_LIMIT)
    with running_browser(chromium_path) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def first_page(browser: Browser, url: str) -> tuple[Page, Watch]:
    """The page at its first start; tests that change nothing share it."""
    return watched_page(browser, url)


def test_canvas_boots_with_a_workflow_that_lacks_nothing(first_page: tuple[Page, Watch]) -> None:
    page, watch = first_page
    assert "KSampler" in page.evaluate(NODE_TYPES)
    expect(page.get_by_text("issues found")).to_have_count(0)
    watch.check()


def test_running_a_workflow_says_that_the_preview_cannot(first_page: tuple[Page, Watch]) -> None:
    page, watch = first_page
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("cannot run workflows").first).to_be_visible()
    watch.check()


def first_open_template() -> dict[str, Any]:
    """The first template of open models; a template of a paid service requires an account first."""
    index = json.loads((templates_folder() / "index.json").read_text(encoding="utf-8"))
    templates: list[dict[str, Any]] = [item for group in index for item in group["templates"]]
    return next(template for template in templates if template["openSource"])


def test_a_template_opens_on_the_canvas(browser: Browser, url: str) -> None:
    page, watch = watched_page(browser, url)
    before = page.evaluate(NODE_TYPES)
    template = first_open_template()
    page.evaluate(BROWSE_TEMPLATES)
    wanted = f"{CARD}{template['name']}"
    cards = page.get_by_test_id(re.compile(f"^{CARD}"))
    expect(cards.first).not_to_have_attribute("data-testid", wanted)
    page.get_by_placeholder("Search").last.fill(template["title"])
    # The search draws its list late, and a click on a card of the old list would be lost.
    expect(cards.first).to_have_attribute("data-testid", wanted)
    cards.first.click()
    changed = f"before => ({NODE_TYPES})().join() !== before"
    page.wait_for_function(changed, arg=",".join(before))
    watch.check()


def test_a_saved_setting_survives_a_reload(browser: Browser, url: str) -> None:
    page, _ = watched_page(browser, url)
    page.evaluate("() => window.app.extensionManager.setting.set('Comfy.ColorPalette', 'light')")
    read = "() => fetch('/api/settings/Comfy.ColorPalette').then(answer => answer.json())"
    page.wait_for_function(f"() => ({read})().then(value => value === 'light')")
    page.reload()
    page.wait_for_function(
        "() => window.app?.extensionManager?.setting.get('Comfy.ColorPalette') === 'light'"
    )


def test_the_policy_stops_requests_that_leave_the_machine(browser: Browser, url: str) -> None:
    page = browser.new_page()
    page.goto(f"{url}/api/users")
    blocked = page.evaluate(
        """() => new Promise(resolve => {
            addEventListener('securitypolicyviolation', event => resolve(event.blockedURI))
            fetch('https://example.invalid/').catch(() => {})
        })"""
    )
    assert blocked.startswith("https://example.invalid")
