"""A real Chromium for tests, and a watch for errors in a page and requests to other hosts.

with running_browser(chromium_path) as browser:
    page, watch = watched_page(browser, url)
    ...
    watch.check()  # no errors in the page, no request to another host
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Request, sync_playwright

# Chromium runs as root in a container and makes no requests of its own.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
WINDOW = {"width": 1280, "height": 800}
INLINE = ("data", "blob")
CANVAS_READY = "() => window.app?.rootGraph?.nodes?.length > 0"
BOOT_LIMIT = 60_000  # milliseconds: a cold start of the front end on a slow machine
WAIT_LIMIT = 20_000  # milliseconds: long, since a busy machine is slow


@dataclass
class Watch:
    """What a page did: errors in it, and requests to other hosts than its own."""

    own: str
    page_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    def see_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in INLINE and f"{parts.scheme}://{parts.netloc}" != self.own:
            self.foreign_requests.append(request.url)

    def check(self) -> None:
        assert self.page_errors == []
        assert self.foreign_requests == []


@contextmanager
def running_browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=ARGUMENTS)
        yield browser
        browser.close()


def watched_page(browser: Browser, url: str) -> tuple[Page, Watch]:
    """A fresh page on the front end at `url`, its canvas loaded, in a context of its own."""
    page = browser.new_context(viewport=WINDOW).new_page()  # type: ignore[arg-type]
    watch = Watch(url.rstrip("/"))
    page.on("pageerror", lambda error: watch.page_errors.append(str(error)))
    page.on("request", watch.see_request)
    page.goto(url)
    page.wait_for_function(CANVAS_READY, timeout=BOOT_LIMIT)
    return page, watch
