"""Accessibility: a screen reader, a narrow side bar, reduced motion, both themes."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

SERIOUS = ("serious", "critical")
RUN_AXE = """async () => {
    const {violations} = await axe.run('.ca-panel', {resultTypes: ['violations']})
    return violations.map(({id, impact, help, nodes}) =>
        ({id, impact, help, nodes: nodes.map(node => `${node.html} ${node.failureSummary}`)}))
}"""
RICH_ANSWER = """## Two ways

1. Lower **cfg** to `4`, see [the notes](https://example.org/notes).
2. Use `dpmpp_2m`.

| value | effect |
|---|---|
| 4 | softer |

```json
{"cfg": 4}
```

> Both change the picture.
"""


# A text that fades in has too little contrast until the animation ends.
FADES_END = """() => Promise.all(document.getAnimations()
    .filter(animation => animation instanceof CSSTransition)
    .map(animation => animation.finished.catch(() => undefined)))"""


def violations(panel: Panel, axe: str) -> list[dict[str, Any]]:
    if not panel.evaluate("() => 'axe' in window"):
        panel.evaluate(axe)
    panel.evaluate(f"async () => {{ await ({FADES_END})() }}")
    found: list[dict[str, Any]] = panel.evaluate(RUN_AXE)
    return [violation for violation in found if violation["impact"] in SERIOUS]


def use_theme(panel: Panel, name: str) -> None:
    panel.evaluate(
        "name => window.app.extensionManager.setting.set('Comfy.ColorPalette', name)", name
    )


@pytest.fixture(params=["dark", "light"])
def themed(request: pytest.FixtureRequest, panel: Panel) -> Iterator[Panel]:
    use_theme(panel, request.param)
    yield panel
    use_theme(panel, "dark")


def test_a_conversation_has_no_serious_fault(
    themed: Panel, provider: ProviderThread, axe: str
) -> None:
    panel = themed
    arguments = {"name": "n", "description": "d", "instructions": "i"}
    provider.queue(
        Script([{"reasoning": "hm"}, {"text": RICH_ANSWER}, tool_call("getWorkflowInfo")]),
        Script([tool_call("createUserSkill", arguments)]),
        Script(status=400, body={"error": {"message": "no"}}),
    )
    panel.ask("Help me")
    expect(panel.answer.get_by_role("group", name="Save this skill?")).to_be_visible()
    panel.answer.get_by_text("Read the workflow").click()
    assert violations(panel, axe) == []
    panel.button("No").click()
    expect(panel.button("Retry")).to_be_visible()
    assert violations(panel, axe) == []


def test_the_pages_have_no_serious_fault(themed: Panel, provider: ProviderThread, axe: str) -> None:
    panel = themed
    provider.queue("An okapi lives in the forest.")
    panel.ask("Where does an okapi live?")
    panel.idle()
    for page in ("Chats", "Settings"):
        panel.button(page).click()
        expect(panel.root.get_by_role("heading", name=page)).to_be_visible()
        expect(panel.root.locator(":is(.ca-row, .ca-provider):visible").first).to_be_visible()
        assert violations(panel, axe) == [], page
        panel.button("Back to the chat").click()
    panel.button("Chats").click()
    panel.root.get_by_role("searchbox").fill("okapi")
    expect(panel.root.locator(".ca-snippet").first).to_be_visible()
    assert violations(panel, axe) == [], "search"
    panel.root.get_by_role("searchbox").fill("")
    panel.button("Settings").click()
    panel.button("Add provider").click()
    panel.button("Save").click()
    expect(panel.root.get_by_label("Address", exact=True)).to_have_attribute("aria-invalid", "true")
    assert violations(panel, axe) == [], "form"
    panel.button("Cancel").click()
    panel.button("Back to the chat").click()


def test_the_lists_and_dialogs_have_no_serious_fault(
    themed: Panel, provider: ProviderThread, axe: str
) -> None:
    panel = themed
    assert violations(panel, axe) == []
    panel.message.press("/")
    expect(panel.options.first).to_be_visible()
    assert violations(panel, axe) == []
    panel.message.press("Escape")
    provider.queue("Yes.")
    panel.ask("Well?")
    panel.idle()
    for name in (re.compile("^Context:"), re.compile("^Model:")):
        panel.button(name).click()
        expect(panel.page.get_by_role("dialog")).to_be_visible()
        assert violations(panel, axe) == []
        panel.page.keyboard.press("Escape")


SPOKEN = """() => {
    window.spoken = []
    const regions = document.querySelectorAll('.ca-panel [aria-live=polite]')
    new MutationObserver(records => {
        for (const {addedNodes} of records)
            for (const node of addedNodes) window.spoken.push(node.textContent)
    }).observe(regions[0], {childList: true, subtree: true})
    return regions.length
}"""


def test_a_screen_reader_hears_whole_sentences(panel: Panel, provider: ProviderThread) -> None:
    rest = new_wait()
    sentences = ["The first sentence is here.", "The second one follows.", "And a third"]
    pieces = [{"text": piece} for piece in re.split(r"(?<= )", " ".join(sentences))]
    provider.queue(Script([*pieces[:7], {"wait": rest}, *pieces[7:]]))
    assert panel.evaluate(SPOKEN) == 1
    panel.ask("Speak")
    expect(panel.log).to_have_attribute("aria-live", "off")
    panel.page.wait_for_function("() => window.spoken.length > 0")
    assert panel.evaluate("() => window.spoken") == sentences[:1]
    provider.release(rest)
    panel.idle()
    assert panel.evaluate("() => window.spoken") == sentences


def test_each_message_says_whose_it_is(panel: Panel, provider: ProviderThread) -> None:
    provider.queue("Me.")
    panel.ask("Who?")
    panel.idle()
    expect(panel.log.get_by_role("article", name="You")).to_have_count(1)
    expect(panel.log.get_by_role("article", name="Assistant")).to_have_count(1)


# The side bar as narrow as a phone.
NARROW = """width => {
    const panel = document.querySelector('.ca-panel')
    panel.style.width = `${width}px`
    return panel.getBoundingClientRect().width
}"""
OVERFLOWING = """() => {
    const panel = document.querySelector('.ca-panel')
    const edge = panel.getBoundingClientRect().right + 0.5
    const scrolls = element => {
        for (let box = element.parentElement; box && box !== panel; box = box.parentElement)
            if (/auto|scroll|hidden|clip/.test(getComputedStyle(box).overflowX)) return true
        return false
    }
    return [...panel.querySelectorAll('*')]
        .filter(one => one.checkVisibility() && one.getBoundingClientRect().right > edge)
        .filter(one => !scrolls(one) || one.matches('button, input, textarea'))
        .map(one => one.outerHTML.slice(0, 120))
}"""


def test_320_pixels_are_enough(panel: Panel, provider: ProviderThread) -> None:
    wide = {"name": "n" * 90, "description": "d" * 90, "instructions": "i" * 900}
    provider.queue(
        f"{RICH_ANSWER}\n\n{'long' * 60}\n\n![x](https://pictures.example/{'y' * 200}.png)",
        Script([tool_call("createUserSkill", wide)]),
    )
    panel.evaluate(NARROW, 320)
    assert panel.evaluate(OVERFLOWING) == []
    panel.ask("w" * 300)
    panel.idle()
    assert panel.evaluate(OVERFLOWING) == []
    for page in ("Chats", "Settings"):
        panel.button(page).click()
        expect(panel.root.get_by_role("heading", name=page)).to_be_visible()
        assert panel.evaluate(OVERFLOWING) == []
        panel.button("Back to the chat").click()
    panel.message.press("/")
    assert panel.evaluate(OVERFLOWING) == []
    panel.message.press("Escape")
    panel.ask("Save it")
    expect(panel.answer.get_by_role("group", name="Save this skill?")).to_be_visible()
    panel.idle()
    assert panel.evaluate(OVERFLOWING) == []
    panel.evaluate("() => document.querySelector('.ca-panel').style.width = ''")


MOVING = """() => document.getAnimations().filter(animation =>
    animation.effect?.target?.closest('.ca-panel')).length"""


def test_nothing_moves_for_those_who_asked_for_less(
    browser: Browser, url: str, provider: ProviderThread
) -> None:
    rest = new_wait()
    provider.queue(Script([{"text": "Still"}, tool_call("getWorkflowInfo")]))
    provider.queue(Script([{"reasoning": "hm"}, {"wait": rest}, {"text": " quiet."}]))
    with opened_panel(browser, url, reduced_motion="reduce") as panel:
        panel.ask("Quietly")
        expect(panel.answer).to_contain_text("Thinking")
        assert panel.evaluate(MOVING) == 0
        provider.release(rest)
        expect(panel.answer).to_contain_text("quiet.")
        panel.idle()
