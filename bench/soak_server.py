"""The preview in a process of its own, which tells its figures to `soak.py`:

    python bench/soak_server.py FOLDER PROVIDER_URL

It prints one line of JSON with its `url`, and the URL at which it tells its `figures`, and ends
when its standard input closes. The figures have a server of their own, so that nothing of it is in
the product.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import asyncio  # noqa: E402  the package has its name only now
import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from collections import Counter  # noqa: E402
from concurrent.futures import ThreadPoolExecutor  # noqa: E402
from typing import Any  # noqa: E402

import psutil  # noqa: E402
from aiohttp import web  # noqa: E402
from plugin.assistant.database.sqlite.database import READERS  # noqa: E402
from plugin.bench.soak_provider import end_with_parent  # noqa: E402
from plugin.preview.server import create_app, serve  # noqa: E402
from plugin.tests.hosts import plugin_without_settings  # noqa: E402

WORKERS = min(32, (os.cpu_count() or 1) + 4)
"""Threads of the event loop's executor, which `asyncio.to_thread` uses: as many as Python takes."""
MOST_THREADS = WORKERS + READERS + 3
"""When all pools are full: the workers, the readers of the database, its writer, the main thread
and the thread of `end_with_parent`."""
STREAMS = 256
"""More streams than the soak has: readers, turns, and turns that are joined again."""


def descriptors(process: psutil.Process) -> int:
    """Open descriptors; on Windows handles."""
    if sys.platform == "win32":
        return process.num_handles()
    return process.num_fds()


def figures(process: psutil.Process) -> dict[str, Any]:
    """Resident bytes, descriptors, threads now and at most, and tasks of the event loop by the name
    of their coroutine."""
    tasks: Counter[str] = Counter()
    for task in asyncio.all_tasks():
        coroutine = task.get_coro()
        tasks[getattr(coroutine, "__qualname__", type(coroutine).__name__)] += 1
    return {
        "rss": process.memory_info().rss,
        "descriptors": descriptors(process),
        "threads": process.num_threads(),
        "most_threads": MOST_THREADS,
        "tasks": sum(tasks.values()),
        "tasks_by_name": dict(tasks.most_common()),
    }


async def main(folder: Path, provider: str) -> None:
    process = psutil.Process()
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(WORKERS))

    async def tell(request: web.Request) -> web.Response:
        return web.json_response(figures(process))

    telling = web.Application()
    telling.router.add_get("/figures", tell)
    runner = web.AppRunner(telling, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    told = f"http://127.0.0.1:{runner.addresses[0][1]}/figures"

    def ready(port: int) -> None:
        print(json.dumps({"url": f"http://127.0.0.1:{port}/api", "figures": told}), flush=True)

    environ = {
        "OPENAI_BASE_URL": provider,
        "OPENAI_API_KEY": "soak-key",
        "OPENAI_MODEL": "soak",
        "LLM_CONTEXT_WINDOW": "32768",
        "ASSISTANT_DISCOVER": "0",
        "ASSISTANT_MAX_STREAMS": str(STREAMS),
    }
    end_with_parent()
    root = plugin_without_settings(folder / "plugin")
    await serve(create_app(root, folder / "data", environ), "127.0.0.1", 0, ready)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
