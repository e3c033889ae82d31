"""One browser, one preview and one page for all tests that change nothing but their own chat.

`panel` is that page with a new chat, `own` a second page for tests that open and change workflows.
A test that changes more (settings, storage, the size of the window) opens its own with
`opened_panel`.

The tests run on the front end that is installed, or on the one in the folder that the environment
variable FRONTEND names: `pip install --no-deps --target FOLDER comfyui-frontend-package==1.49.6`.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from plugin.assistant.turn.idle import remembering
from plugin.preview import frontend
from plugin.tests.browsers import WAIT_LIMIT, running_browser
from plugin.tests.e2e.canvas import Canvas, Hand
from plugin.tests.e2e.graphs import text_to_image
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread, running_provider
from plugin.tests.hosts import running_preview

ROOT = Path(__file__).resolve().parent.parent.parent
AXE = ROOT / ".cache" / "node" / "tools" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="package", autouse=True)
def front_end() -> Iterator[None]:
    """Serves the front end of FRONTEND in place of the installed one."""
    chosen = os.environ.get("FRONTEND")
    with pytest.MonkeyPatch.context() as patch:
        if chosen:
            static = Path(chosen) / frontend.PACKAGE / "static"
            assert static.is_dir(), f"There is no front end in {chosen}."
            patch.setattr(frontend, "frontend_folder", lambda: static)
        yield


@pytest.fixture(scope="package", autouse=True)
def no_extraction_by_itself() -> Iterator[None]:
    """What is remembered is asked for by hand: a request that comes minutes later would take the
    script of another test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SOON_SECONDS", "LATER_SECONDS"):
            patch.setattr(remembering, name, 86_400.0)
        yield


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    expect.set_options(timeout=WAIT_LIMIT)
    with running_browser(chromium_path) as chromium:
        yield chromium


@pytest.fixture(scope="package")
def shared_provider() -> Iterator[ProviderThread]:
    with running_provider(models=("scripted", "scripted-large")) as running:
        yield running


@pytest.fixture
def provider(shared_provider: ProviderThread) -> Iterator[ProviderThread]:
    """The model behind the shared preview; a test fails if it leaves a script unused."""
    shared_provider.start_over()
    yield shared_provider
    shared_provider.check()


def configured(provider: ProviderThread) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": provider.base_url,
        "OPENAI_MODEL": "scripted",
        "LLM_CONTEXT_WINDOW": "32768",
        "ASSISTANT_DISCOVER": "0",
        # Without these the scripted model also gets requests for summaries of idle chats, and for
        # what to remember of them.
        "LLM_SUMMARY": "extractive",
        "ASSISTANT_MEMORY": "manual",
    }


@pytest.fixture(scope="package")
def url(shared_provider: ProviderThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_preview(configured(shared_provider), tmp_path_factory.mktemp("shared")) as address:
        yield address


class SharedPage:
    """The shared page: opened for the first test, and opened again after a test that failed."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._browser = browser
        self._url = url
        self._stack = ExitStack()
        self._panel: Panel | None = None

    def get(self) -> Panel:
        if self._panel is None:
            options = {"permissions": ["clipboard-read", "clipboard-write"]}
            opened = opened_panel(self._browser, self._url, **options)
            self._panel = self._stack.enter_context(opened)
        return self._panel

    def close(self) -> None:
        self._panel = None
        self._stack.close()


@pytest.fixture(scope="package")
def shared_page(browser: Browser, url: str) -> Iterator[SharedPage]:
    page = SharedPage(browser, url)
    yield page
    page.close()


@pytest.fixture
def panel(shared_page: SharedPage, provider: ProviderThread) -> Iterator[Panel]:
    """The shared page, with a new chat in the panel."""
    panel = shared_page.get()
    panel.new_chat()
    try:
        yield panel
        panel.at_rest()
        panel.watch.check()
    except BaseException:
        shared_page.close()
        raise


@pytest.fixture(scope="package")
def workflow_page(browser: Browser, url: str) -> Iterator[SharedPage]:
    page = SharedPage(browser, url)
    yield page
    page.close()


@pytest.fixture
def own(workflow_page: SharedPage, provider: ProviderThread) -> Iterator[Panel]:
    """The page of tests that change workflows: `text_to_image` alone is open, the chat is new."""
    panel = workflow_page.get()
    try:
        canvas = Canvas(panel)
        canvas.vue_nodes(False)
        canvas.load(text_to_image(), "tower")
        canvas.close_others()
        canvas.settle()
        canvas.capture()
        panel.new_chat()
        yield panel
        # The setting is the user's, so other pages have it, too.
        canvas.vue_nodes(False)
        panel.at_rest()
        panel.watch.check()
    except BaseException:
        workflow_page.close()
        raise


@pytest.fixture
def canvas(own: Panel) -> Canvas:
    return Canvas(own)


@pytest.fixture(params=[False, True], ids=["canvas", "vue"])
def hand(canvas: Canvas, request: pytest.FixtureRequest) -> Hand:
    """The panel's hand, in both ways of drawing nodes."""
    canvas.vue_nodes(request.param)
    return Hand(canvas.panel)


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which `scripts/test.py` installs."""
    assert AXE.is_file(), "There is no axe-core. Run 'python scripts/test.py' once."
    return AXE.read_text(encoding="utf-8")
