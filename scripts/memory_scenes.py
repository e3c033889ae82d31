"""The scenes of memory for `screenshots.py`, each at the width of a narrow side bar."""

import json
from collections.abc import Callable

from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.providers import Script, tool_call

SAID = "I always want 4:5 portraits, and my GPU has 12 GB."
ASKED = "Which size should the next picture have?"
ANSWER = "**896 × 1120**: that is 4:5, as you always want it, and fits into 12 GB."
SEND = """async ([method, path, body]) => {
    const sent = await fetch(`/api${path}`, {method, body: JSON.stringify(body),
        headers: {'Content-Type': 'application/json'}})
    return sent.json()
}"""
LONG_AGO = (
    ("preference", "I prefer soft window light to studio light"),
    ("fact", "My favourite seed is 42"),
    ("fact", "My favourite seed is 4711"),
    ("entity", "Mira is the sailor with the grey braid in my comic"),
    ("relation", "Mira's look comes from mira_v3.safetensors"),
)


def sent(panel: Panel, method: str, path: str, **body: object) -> None:
    panel.evaluate(SEND, [method, path, body])


def remembered(panel: Panel, provider: ProviderThread) -> None:
    """Two statements of a chat are remembered."""
    first, second = "I always want 4:5 portraits", "my GPU has 12 GB"
    provider.queue(
        Script(
            [
                tool_call("memory_write", {"text": first, "quote": first, "kind": "preference"}),
                tool_call("memory_write", {"text": "My GPU has 12 GB", "quote": second}),
            ]
        ),
        "Then I use 4:5 and stay below 12 GB from now on.",
    )
    panel.ask(SAID)
    panel.idle()


def filled(panel: Panel, provider: ProviderThread) -> None:
    for text in ("Answer in short sentences", "Never change the seed unless I ask for it"):
        sent(panel, "POST", "/user-context/rules", text=text)
    sent(panel, "PUT", "/user-context/preferences/sampler", value="dpmpp_2m")
    for kind, text in LONG_AGO:
        sent(panel, "POST", "/memories", text=text, kind=kind, pinned=kind == "preference")
    remembered(panel, provider)
    panel.button("Understood").click()


def page(panel: Panel, provider: ProviderThread) -> None:
    filled(panel, provider)
    opened(panel)
    panel.root.get_by_text("Replaced an earlier one").click()


def lower(panel: Panel, provider: ProviderThread) -> None:
    page(panel, provider)
    panel.root.get_by_role("region", name="Remembered").scroll_into_view_if_needed()
    panel.root.locator(".ca-memory").last.scroll_into_view_if_needed()


def editing(panel: Panel, provider: ProviderThread) -> None:
    page(panel, provider)
    panel.button("Options of the memory: My GPU has 12 GB").click()
    panel.page.get_by_role("menuitem", name="Edit").click()
    expect(panel.root.get_by_role("textbox", name="Text of the memory")).to_be_focused()


def opened(panel: Panel) -> None:
    panel.button("Menu").click()
    panel.page.get_by_role("menuitem", name="Memory").click()
    expect(panel.root.get_by_role("switch", name="Remember across chats")).to_be_enabled()


def nothing(panel: Panel, provider: ProviderThread) -> None:
    opened(panel)


def off(panel: Panel, provider: ProviderThread) -> None:
    filled(panel, provider)
    opened(panel)
    panel.root.get_by_role("switch", name="Remember across chats").click()
    expect(panel.root.get_by_text("Nothing is remembered, and nothing")).to_be_visible()


def note(panel: Panel, provider: ProviderThread) -> None:
    """An answer that used what another chat said."""
    remembered(panel, provider)
    panel.new_chat()
    provider.queue(ANSWER)
    panel.ask(ASKED)
    panel.idle()
    panel.answer.get_by_text("Used ").click()


def approval(panel: Panel, provider: ProviderThread) -> None:
    text = "The user has a graphics card with 12 GB"
    provider.queue(Script([tool_call("memory_write", {"text": text})]))
    panel.ask("Keep in mind what card I have.")
    expect(panel.button("Once")).to_be_enabled()


def learned(panel: Panel, provider: ProviderThread) -> None:
    """A model found something to remember after the answer."""
    provider.queue("Fine.")
    panel.ask("From now on I want all my portraits in 4:5, and I prefer dpmpp_2m.")
    panel.idle()
    found: list[dict[str, object]] = [
        {"text": quote, "quote": quote, "kind": "preference", "entities": []}
        for quote in ("I want all my portraits in 4:5", "I prefer dpmpp_2m")
    ]
    provider.queue(json.dumps({"memories": found}))
    chat = panel.evaluate("async () => (await (await fetch('/api/chats')).json()).chats[0].id")
    sent(panel, "POST", "/memories/extract", chat_id=chat)
    expect(panel.button("Understood")).to_be_visible()


def menu(panel: Panel, provider: ProviderThread) -> None:
    remembered(panel, provider)
    panel.button("Menu").click()


def temporary(panel: Panel, provider: ProviderThread) -> None:
    panel.button("Menu").click()
    panel.page.get_by_role("menuitem", name="Temporary chat").click()
    provider.queue("It was **1024 × 1024** at first.")
    panel.ask("How large is this picture?")
    panel.idle()


def deleted(panel: Panel, provider: ProviderThread) -> None:
    remembered(panel, provider)
    panel.button("Chats").click()
    panel.root.locator(".ca-entry").first.hover()
    panel.button("Options of I always want 4:5 portraits, and my GPU has 12 GB").click()
    panel.page.get_by_role("menuitem", name="Delete").click()
    expect(panel.button("Forget them, too")).to_be_visible()


SCENES: dict[str, Callable[[Panel, ProviderThread], None]] = {
    "memory": page,
    "memory-lower": lower,
    "memory-first": nothing,
    "memory-editing": editing,
    "memory-off": off,
    "memory-kept": remembered,
    "memory-used": note,
    "memory-approval": approval,
    "memory-learned": learned,
    "memory-menu": menu,
    "memory-temporary": temporary,
    "memory-deleted": deleted,
}
