"""The panel as a person meets it: found by roles and names, never by what it is built of."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect
from plugin.tests.browsers import BOOT_LIMIT, CANVAS_READY, WINDOW, Watch

OUR_SCRIPTS = "/extensions/"


@dataclass
class PanelWatch(Watch):
    """Also what our own scripts complain about."""

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
        if not self.message.is_visible():
            self.tab.click()
        expect(self.message).to_be_visible()

    def reload(self) -> None:
        """F5; the front end opens the side bar again by itself, or we do."""
        self.page.reload()
        self.ready()
        self.open()

    def ask(self, text: str) -> None:
        self.message.fill(text)
        self.message.press("Enter")

    def idle(self) -> None:
        """Waits until the answer is done."""
        expect(self.send).to_be_visible()
        expect(self.stop).to_have_count(0)

    def new_chat(self) -> None:
        self.button("New chat").click()
        expect(self.articles).to_have_count(0)

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


def texts(locator: Locator) -> Sequence[str]:
    return [text.strip() for text in locator.all_inner_texts()]
