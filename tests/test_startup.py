"""The start beside ComfyUI's server: routes that wait, and a load that fails."""

import asyncio
import gc
import logging
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from plugin.assistant.app import Assistant, Host, create_assistant
from plugin.assistant.errors import NotLoaded
from plugin.assistant.routes.paths import PATHS
from plugin.assistant.routes.table import ROUTES
from plugin.assistant.startup import Startup
from plugin.tests.hosts import NO_COMFYUI

ROOT = Path(__file__).resolve().parent.parent
# What ComfyUI has imported before its plugins, as far as we use it.
IMPORTED_BY_COMFYUI = "import aiohttp, aiohttp.web, sqlalchemy, sqlalchemy.orm, pydantic, alembic"
MOST_MODULES = 12


def test_the_list_of_paths_is_the_table_of_routes() -> None:
    assert [(route.method, route.path) for route in ROUTES] == list(PATHS)


def test_comfyui_imports_next_to_nothing_of_ours() -> None:
    probe = (
        f"{IMPORTED_BY_COMFYUI}; import sys; sys.path.insert(0, 'scripts');"
        "from bootstrap import register; register(); before = set(sys.modules);"
        "import plugin.assistant.startup, plugin.nodes;"
        "new = set(sys.modules) - before; print(*sorted(new))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True
    )
    modules = done.stdout.split()
    assert "plugin.assistant.startup" in modules
    assert len(modules) <= MOST_MODULES, modules
    assert not [name for name in modules if not name.startswith("plugin")]


class Loading:
    """An assistant that is made when the test says so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.go = threading.Event()
        self.error: Exception | None = None
        self.collects: bool | None = None

    def make(self) -> Assistant:
        assert self.go.wait(10)
        self.collects = gc.isenabled()
        if self.error is not None:
            raise self.error
        host = Host(
            root=self.folder,
            user_directory=self.folder / "user",
            user_of=lambda request: "default",
            comfyui=NO_COMFYUI,
            comfyui_version=None,
        )
        return create_assistant(host, {"ASSISTANT_DISCOVER": "0"})


@pytest.fixture
def loading(tmp_path: Path) -> Loading:
    return Loading(tmp_path)


@pytest.fixture
async def startup(loading: Loading) -> AsyncIterator[Startup]:
    made = Startup(loading.make)
    yield made
    loading.go.set()
    await made.close()


async def client_of(startup: Startup) -> TestClient[Any, Any]:
    app = web.Application()
    app.add_routes(startup.routes)
    return TestClient(TestServer(app))


async def test_a_request_before_the_load_is_done_is_answered_after_it(
    startup: Startup, loading: Loading
) -> None:
    startup.start()
    async with await client_of(startup) as client:
        asked = asyncio.create_task(client.get("/assistant/health"))
        await asyncio.sleep(0.05)
        assert not asked.done()
        loading.go.set()
        response = await asyncio.wait_for(asked, 10)
        assert response.status == 200


async def test_a_client_that_leaves_does_not_stop_the_load(
    startup: Startup, loading: Loading
) -> None:
    startup.start()
    waiting = asyncio.create_task(startup.assistant())
    await asyncio.sleep(0)
    waiting.cancel()
    loading.go.set()
    assert isinstance(await asyncio.wait_for(startup.assistant(), 10), Assistant)


@pytest.mark.parametrize("error", [None, ImportError("no jinja2")])
async def test_no_garbage_is_collected_while_modules_are_imported(
    startup: Startup, loading: Loading, error: Exception | None
) -> None:
    loading.error = error
    loading.go.set()
    startup.start()
    if error is None:
        await startup.assistant()
    else:
        with pytest.raises(NotLoaded):
            await startup.assistant()
    assert loading.collects is False
    assert gc.isenabled()


async def test_a_failing_load_is_one_line_and_every_routes_answer(
    startup: Startup, loading: Loading, caplog: pytest.LogCaptureFixture
) -> None:
    loading.error = ModuleNotFoundError("No module named 'jinja2'\nü")
    loading.go.set()
    with caplog.at_level(logging.ERROR, "comfyui_assistant"):
        startup.start()
        async with await client_of(startup) as client:
            for path in ("/assistant/health", "/chats"):
                response = await client.get(path)
                body = await response.json()
                assert response.status == 503
                assert body["error"]["code"] == "not_loaded"
                assert "No module named 'jinja2'" in body["error"]["message"]
    (record,) = caplog.records
    assert record.getMessage().isascii()
    assert "\n" not in record.getMessage()


async def test_a_failing_start_leaves_the_routes_working(
    startup: Startup,
    loading: Loading,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail(assistant: Assistant) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(Assistant, "start", fail)
    loading.go.set()
    with caplog.at_level(logging.ERROR, "comfyui_assistant"):
        startup.start()
        await startup.assistant()
    assert "could not start: OSError: the disk is gone" in caplog.text


async def test_before_the_server_starts_there_is_no_assistant(startup: Startup) -> None:
    with pytest.raises(NotLoaded):
        await startup.assistant()

    async def nothing() -> None: ...

    with pytest.raises(RuntimeError):
        startup.hand_over(nothing())


def test_routes_have_the_form_that_comfyui_repeats_below_api() -> None:
    """ComfyUI calls `table.route(method, path)(handler, **kwargs)`, which takes no `kwargs`."""
    startup = Startup(lambda: SimpleNamespace())  # type: ignore[arg-type, return-value]
    assert ("POST", "/chat") in [(route.method, route.path) for route in startup.routes]
    assert all(not route.kwargs for route in startup.routes)
    assert not any(route.path.startswith("/api/") for route in startup.routes)


@pytest.mark.parametrize("method", ["POST", "*"])
def test_comfyui_starts_where_the_plugin_before_ours_has_our_chat_path(method: str) -> None:
    """As ComfyUI adds routes: those of all plugins one after the other, first below `/api`."""

    async def other(request: web.Request) -> web.Response:
        return web.Response()

    theirs = web.route(method, "/chat", other)
    below_api, plain = web.RouteTableDef(), web.RouteTableDef()
    for route in (theirs, *Startup(lambda: SimpleNamespace()).routes, theirs):  # type: ignore[arg-type, return-value]
        below_api.route(route.method, f"/api{route.path}")(route.handler)
        plain.route(route.method, route.path)(route.handler)
    app = web.Application()
    app.add_routes(below_api)
    app.add_routes(plain)
