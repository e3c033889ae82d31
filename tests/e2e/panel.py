"""The panel for browser tests. Controls are found by role and name, as a person finds them."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    expect,
)
from plugin.tests.browsers import BOOT_LIMIT, CANVAS_READY, WINDOW, Watch

SUBSCRIBE = re.compile(r"/chats/subscribe\?chat_id=")
OUR_SCRIPTS = "/extensions/"
SCROLL_STANDS = """async () => {
    const log = document.querySelector('.ca-panel [role=log]')
    const before = [log.scrollTop, log.scrollHeight]
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
    return log.scrollTop === before[0] && log.scrollHeight === before[1]
}"""


@dataclass
class PanelWatch(Watch):
    """Also collects the errors that our own scripts write to the console."""

    complaints: list[str] = field(default_factory=list)

    def see_message(self, message: ConsoleMessage) -> None:
        if message.type == "error" and OUR_SCRIPTS in str(message.location.get("url", "")):
            self.complaints.append(message.text)

    def follow(self, context: BrowserContext) -> None:
        context.on("request", self.see_request)
        context.on("weberror", lambda error: self.page_errors.append(str(error.error)))
        context.on("console", self.see_message)

    def check(self) -> None:
        super().check()
        assert self.complaints == []


class Panel:
    """The page `page` of the front end at `url`, with the assistant's tab."""

    def __init__(self, page: Page, url: str, watch: PanelWatch) -> None:
        self.page = page
        self.url = url
        self.watch = watch
        self.tab = page.get_by_role("button", name="Assistant", exact=True).first
        self.root = page.locator(".ca-panel")
        self.message = page.get_by_role("textbox", name="Message", exact=True)
        self.send = self.button("Send")
        self.stop = self.button("Stop")
        self.log = page.get_by_role("log")
        self.articles = self.log.get_by_role("article")
        self.answer = self.articles.last
        self.options = page.get_by_role("listbox").get_by_role("option")

    def button(self, name: str | re.Pattern[str]) -> Locator:
        exact = isinstance(name, str)
        return self.root.get_by_role("button", name=name, exact=exact)

    def boot(self) -> None:
        """Load the page and open the tab."""
        self.page.goto(self.url)
        self.ready()
        self.open()

    def ready(self) -> None:
        self.page.wait_for_function(CANVAS_READY, timeout=BOOT_LIMIT)

    def open(self) -> None:
        """Open the tab, where it is closed."""
        if not self.message.is_visible():
            self.tab.click()
        expect(self.message).to_be_visible()

    def reload(self) -> None:
        """F5, after which the side bar is closed."""
        self.page.reload()
        self.ready()
        self.open()

    def drawn(self) -> None:
        """Wait until the page shows what the last key or click changed.

        The panel draws its state in the next animation frame, which a busy machine gives late:
        until then the page shows the state before.
        """
        self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def ask(self, text: str) -> None:
        self.message.fill(text)
        self.message.press("Enter")
        self.drawn()

    def idle(self) -> None:
        """Wait until the last message is an answer that is done."""
        expect(self.answer).to_have_attribute("aria-busy", "false")
        self.at_rest()

    def at_rest(self) -> None:
        """Wait until nothing is being answered; the chat may be empty."""
        expect(self.send).to_be_visible()
        expect(self.stop).to_have_count(0)

    def new_chat(self) -> None:
        self.button("New chat").click()
        # The composer gets the new chat's draft in the next frame, and then closes its list.
        self.drawn()
        expect(self.articles).to_have_count(0)

    def scroll_end(self) -> None:
        """Wait until the log has stood still for two frames."""
        self.page.wait_for_function(SCROLL_STANDS)

    def evaluate(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)


@contextmanager
def opened_panel(browser: Browser, url: str, **context_options: Any) -> Iterator[Panel]:
    """A panel in a browser context of its own, checked at the end."""
    options = {"viewport": WINDOW, **context_options}
    context = browser.new_context(**options)
    watch = PanelWatch(url.rstrip("/"))
    watch.follow(context)
    panel = Panel(context.new_page(), url, watch)
    panel.boot()
    try:
        yield panel
        watch.check()
    finally:
        context.close()


def tell_snapshot(route: Route, **changes: Any) -> None:
    """Answers a subscription to a chat (`SUBSCRIBE`) with one snapshot and no further event."""
    snapshot = {
        "seq": 1,
        "type": "snapshot",
        "epoch": "e",
        "chat": {"id": "c", "title": "A chat"},
        "messages": [],
        "has_more": False,
        **changes,
    }
    body = f"id: 1\nevent: snapshot\ndata: {json.dumps(snapshot)}\n\n"
    route.fulfill(status=200, content_type="text/event-stream", body=body)


def texts(locator: Locator) -> Sequence[str]:
    return [text.strip() for text in locator.all_inner_texts()]
