"""A panel in the page of a real ComfyUI, with a scripted provider."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import Request, urlopen

from plugin.tests.browsers import WINDOW, running_browser
from plugin.tests.comfyui.instance import ComfyUI
from plugin.tests.e2e.panel import Panel, PanelWatch
from plugin.tests.e2e.provider import ProviderThread, running_provider

PROVIDER = "/api/assistant/providers/panel"


def _use(comfyui: ComfyUI, provider: ProviderThread) -> None:
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


@contextmanager
def opened_panel(comfyui: ComfyUI, chromium_path: str) -> Iterator[tuple[Panel, ProviderThread]]:
    """The panel in a new page, which must have no complaint in the end."""
    with running_provider() as provider, running_browser(chromium_path) as browser:
        _use(comfyui, provider)
        page = browser.new_page(viewport=WINDOW)  # type: ignore[arg-type]
        # ComfyUI's own front end makes requests to other hosts, so only the errors of our scripts
        # count.
        watch = PanelWatch(comfyui.url)
        page.on("console", watch.see_message)
        panel = Panel(page, comfyui.url, watch)
        panel.boot()
        yield panel, provider
        assert watch.complaints == []
