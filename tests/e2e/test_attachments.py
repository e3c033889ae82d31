"""Files attached to the next message: they wait for it in their chat, and it waits for them."""

import re

import pytest
from playwright.sync_api import FilePayload, Locator, expect
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.e2e.test_comfort import picture

pytestmark = pytest.mark.e2e

# Files are read when `readFiles` is called.
HOLD_READING = """() => {
    const {arrayBuffer} = Blob.prototype
    const held = new Promise(read => { window.readFiles = read })
    Blob.prototype.arrayBuffer = async function () {
        await held
        Blob.prototype.arrayBuffer = arrayBuffer
        return arrayBuffer.call(this)
    }
}"""
READ = "() => window.readFiles()"


def attach(panel: Panel, name: str = "red.png") -> None:
    red: FilePayload = {"name": name, "mimeType": "image/png", "buffer": picture()}
    panel.root.locator(".ca-composer input[type=file]").set_input_files(red)


def attached(panel: Panel) -> Locator:
    return panel.root.locator(".ca-composer .ca-file")


def test_an_attached_file_outlives_another_tab_of_the_side_bar(
    panel: Panel, provider: ProviderThread
) -> None:
    attach(panel)
    expect(attached(panel)).to_have_count(1)
    panel.page.get_by_role("button", name=re.compile("^Workflows")).first.click()
    expect(panel.root).to_have_count(0)
    panel.open()
    expect(attached(panel)).to_have_count(1)
    provider.queue("A red one.")
    panel.ask("Which colour?")
    panel.idle()
    expect(attached(panel)).to_have_count(0)
    sent = [part["type"] for part in provider.last_messages[-1]["content"]]
    assert "image_url" in sent


def test_a_message_waits_for_a_file_that_is_still_read(
    panel: Panel, provider: ProviderThread
) -> None:
    panel.evaluate(HOLD_READING)
    attach(panel)
    panel.ask("Which colour?")
    panel.message.press("Enter")
    expect(panel.message).to_have_value("Which colour?")
    expect(panel.articles).to_have_count(0)
    provider.queue("A red one.")
    panel.evaluate(READ)
    expect(panel.answer).to_contain_text("A red one.")
    panel.idle()
    expect(panel.articles).to_have_count(2)
    expect(attached(panel)).to_have_count(0)
    sent = [part["type"] for part in provider.last_messages[-1]["content"]]
    assert "image_url" in sent


def test_a_file_that_is_still_read_stays_with_its_chat(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Hello.")
    panel.ask("Hi")
    panel.idle()
    panel.evaluate(HOLD_READING)
    attach(panel)
    panel.ask("Which colour?")
    panel.new_chat()
    panel.evaluate(READ)
    panel.drawn()
    expect(attached(panel)).to_have_count(0)
    panel.button("Chats").click()
    panel.root.get_by_role("button", name=re.compile("^Hi")).first.click()
    expect(attached(panel)).to_have_count(1)
    expect(panel.message).to_have_value("Which colour?")
    expect(panel.articles).to_have_count(2)
    attached(panel).get_by_role("button").click()
    expect(attached(panel)).to_have_count(0)
    panel.message.fill("")
