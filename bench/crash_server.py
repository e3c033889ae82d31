"""The backend in a process of its own, to be killed by `crash.py`:

    python bench/crash_server.py FOLDER PROVIDER_URL

It prints the port that it answers at, and runs until it is killed.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import asyncio  # noqa: E402  the package has its name only now
import sys  # noqa: E402

from aiohttp import web  # noqa: E402
from plugin.tests.chatting import app_of  # noqa: E402


async def main(folder: Path, provider: str) -> None:
    environ = {"OPENAI_BASE_URL": provider, "OPENAI_MODEL": "scripted", "ASSISTANT_DISCOVER": "0"}
    runner = web.AppRunner(app_of(folder, environ))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
