"""What the assistant adds to a model's own time, beside a bare `openai` client in the same run:

    python bench/overhead.py [--rounds 40] [--out FOLDER]

Three processes: a model's server that answers at once, the preview, and this one, which sends
requests through the preview and, in turns with them, with `openai` alone. Times are milliseconds
of the clock, so run it on a machine that does nothing else; the ratios hold on a busy one, too.
FOLDER (`.cache/bench`) gets `overhead.json` and `overhead.md`.
"""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()

import argparse  # noqa: E402  the package has its name only now
import asyncio  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import uuid  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from typing import Any  # noqa: E402

import aiohttp  # noqa: E402
import openai  # noqa: E402
from plugin.bench.chat_log import texts  # noqa: E402
from plugin.bench.measures import percentile  # noqa: E402
from plugin.bench.overhead_parts import HOST_LIBRARIES  # noqa: E402

AT_ONCE = 50
CHUNKS = 1_000
STORED = (
    (24, "And now?"),
    (1_000, "And now?"),
    (10_000, "And now?"),
    (1_000, "Which name for the tidal canyon?"),
)
"""Messages of a chat, and what is asked in it. Earlier messages are searched for the last."""
IMPORT = """
import sys, time, runpy
runpy.run_path({bootstrap!r})["register"]()
start = time.process_time()
import {host}
host = time.process_time() - start
before = set(sys.modules)
start = time.process_time()
import plugin.assistant.startup, plugin.nodes
ours = time.process_time() - start
modules = sum(name.startswith("plugin.") for name in set(sys.modules) - before)
print(host, ours, modules)
"""
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTHONPYCACHEPREFIX": str(ROOT / ".cache" / "bench" / "bytecode"),
}
"""Of the started processes: as after the first start of an installation, modules are compiled."""
QUIET_SECONDS = 1.5
"""Before each request: what the assistant does after an answer is not the next turn's time."""


def main() -> None:
    parser = argparse.ArgumentParser(description="What the assistant adds to a model's time.")
    parser.add_argument("--rounds", type=int, default=40, help="measured turns of each kind")
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench", metavar="FOLDER")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = {"import": imports(), **asyncio.run(measured(arguments.rounds))}
    text = markdown(results)
    (arguments.out / "overhead.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    (arguments.out / "overhead.md").write_text(text, encoding="utf-8")
    print(text)


def imports() -> dict[str, float]:
    """CPU seconds of the import by ComfyUI, and of the libraries that it has already."""
    program = IMPORT.format(
        bootstrap=str(ROOT / "scripts" / "bootstrap.py"), host=", ".join(HOST_LIBRARIES)
    )
    found = []
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env=ENVIRONMENT,
        )
        found.append([float(part) for part in done.stdout.split()])
    host, ours, modules = (statistics.median(column) for column in zip(*found, strict=True))
    return {"host_s": host, "ours_s": ours, "ratio": ours / host, "modules": modules}


@contextmanager
def part(*arguments: str) -> Iterator[str]:
    """A process of `overhead_parts.py`; yields its URL."""
    command = [sys.executable, str(Path(__file__).with_name("overhead_parts.py")), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


async def measured(rounds: int) -> dict[str, Any]:
    with part("provider") as provider:
        results: dict[str, Any] = {"start": await first_answers(provider)}
        with tempfile.TemporaryDirectory() as folder, part("server", folder, f"{provider}/v1") as u:
            async with aiohttp.ClientSession(u) as http:
                bare = openai.AsyncOpenAI(base_url=f"{provider}/v1", api_key="none", max_retries=0)
                driver = Driver(http, bare)
                await driver.warm_up()
                results["unstored"] = await driver.unstored(rounds)
                results["chunks"] = await driver.chunks(max(3, rounds // 4))
                # Last what has work that goes on after its answers, which the others do without.
                results["stored"] = [
                    await driver.stored(size, question, rounds) for size, question in STORED
                ]
                results["at_once"] = await driver.at_once(max(3, rounds // 2))
    return results


async def first_answers(provider: str) -> list[dict[str, float]]:
    """A message sent so many seconds after the server's start: the time to its first chunk, and
    the longest stall of the loop until then. Each with a new installation."""
    found = []
    for after in (0.0, 0.5, 1.0):
        with tempfile.TemporaryDirectory() as folder, part("server", folder, f"{provider}/v1") as u:
            await asyncio.sleep(after)
            async with aiohttp.ClientSession(u) as http:
                driver = Driver(http, None)
                sent = time.monotonic()
                _, first, _ = await driver.turn({"id": str(uuid.uuid4()), "message": message("Hi")})
                process = await driver.process()
        found.append(
            {"after_s": after, "first_ms": (first - sent) * 1e3, "stall_ms": process["stall"] * 1e3}
        )
    return found


class Driver:
    """Sends the same prompts through the assistant and with `openai` alone."""

    def __init__(self, http: aiohttp.ClientSession, bare: Any) -> None:
        self._http = http
        self._bare = bare

    async def warm_up(self) -> None:
        for _ in range(5):
            await self.turn({"message": message("Hi")})
            await self.ask("Hi")

    async def stored(self, size: int, question: str, rounds: int) -> dict[str, Any]:
        """Milliseconds from a request to the model's server, for chats of `size` messages."""
        ours, bare = [], []
        chat = ""
        for number in range(rounds + 3):
            if size < 100 or not chat:
                chat = await self._chat_of(size)
            await asyncio.sleep(QUIET_SECONDS)
            sent = time.monotonic_ns()
            text, *_ = await self.turn({"id": chat, "message": message(question)})
            late = (int(text.split()[0]) - sent) / 1e6
            await asyncio.sleep(QUIET_SECONDS)
            sent = time.monotonic_ns()
            text, *_ = await self.ask(question)
            if number >= 3:
                ours.append(late)
                bare.append((int(text.split()[0]) - sent) / 1e6)
        return {"messages": size, "question": question, **_compared(ours, bare)}

    async def unstored(self, rounds: int) -> dict[str, float]:
        """Milliseconds of a whole turn of one word that is not stored."""
        ours, bare = [], []
        for _ in range(rounds):
            sent = time.monotonic()
            await self.turn({"message": message("Hi")})
            ours.append((time.monotonic() - sent) * 1e3)
            sent = time.monotonic()
            await self.ask("Hi")
            bare.append((time.monotonic() - sent) * 1e3)
        return _compared(ours, bare)

    async def at_once(self, rounds: int) -> dict[str, float]:
        """Milliseconds to the first chunk of AT_ONCE turns in new chats, begun at the same time."""
        ours: list[float] = []
        bare: list[float] = []
        for _ in range(rounds):
            await asyncio.sleep(QUIET_SECONDS)
            sent = time.monotonic()
            turns = [
                self.turn({"id": str(uuid.uuid4()), "message": message("Hi")})
                for _ in range(AT_ONCE)
            ]
            ours += [(first - sent) * 1e3 for _, first, _ in await asyncio.gather(*turns)]
            await asyncio.sleep(QUIET_SECONDS)
            sent = time.monotonic()
            asked = await asyncio.gather(*(self.ask("Hi") for _ in range(AT_ONCE)))
            bare += [(first - sent) * 1e3 for _, first, _ in asked]
        return _compared(ours, bare)

    async def chunks(self, rounds: int) -> dict[str, float]:
        """CPU milliseconds for an answer of CHUNKS chunks: of the preview's process, and of this
        one with `openai` alone."""
        ours, bare = [], []
        prompt = f"chunks={CHUNKS}"
        for _ in range(rounds):
            before = (await self.process())["cpu"]
            await self.turn({"message": message(prompt)})
            ours.append(((await self.process())["cpu"] - before) * 1e3)
            started = time.process_time()
            await self.ask(prompt)
            bare.append((time.process_time() - started) * 1e3)
        return _compared(ours, bare)

    async def turn(self, body: dict[str, Any]) -> tuple[str, float, float]:
        """The answer's text, and the times of its first text and of its end."""
        text, first = "", 0.0
        async with self._http.post("/api/chat", json=body) as response:
            response.raise_for_status()
            async for line in response.content:
                if line.startswith(b"data: {"):
                    chunk = json.loads(line[6:])
                    if chunk["type"] == "text-delta":
                        first = first or time.monotonic()
                        text += chunk["delta"]
        return text, first, time.monotonic()

    async def ask(self, prompt: str) -> tuple[str, float, float]:
        """The same with `openai` alone."""
        text, first = "", 0.0
        stream = await self._bare.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": prompt}], stream=True
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                first = first or time.monotonic()
                text += chunk.choices[0].delta.content
        return text, first, time.monotonic()

    async def process(self) -> dict[str, float]:
        async with self._http.get("/bench/process") as response:
            found: dict[str, float] = await response.json()
            return found

    async def _chat_of(self, size: int) -> str:
        """A new chat of `size` messages, the last of them just answered."""
        chat = str(uuid.uuid4())
        source = texts()
        messages: list[dict[str, Any]] = []
        while len(messages) < size - 1:
            role, text = next(source)
            if role == ("user", "assistant")[len(messages) % 2]:
                messages.append(message(text, role))
        await self.turn({"id": chat, "messages": messages})
        return chat


def message(text: str, role: str = "user") -> dict[str, Any]:
    return {"id": uuid.uuid4().hex, "role": role, "parts": [{"type": "text", "text": text}]}


def _compared(ours: list[float], bare: list[float]) -> dict[str, float]:
    mine, other = percentile(ours, 0.5), percentile(bare, 0.5)
    return {
        "ours_p50": mine,
        "ours_p95": percentile(ours, 0.95),
        "bare_p50": other,
        "bare_p95": percentile(bare, 0.95),
        "added_p50": mine - other,
        "ratio": mine / other,
    }


def markdown(results: dict[str, Any]) -> str:
    imported, at_once = results["import"], results["at_once"]
    lines = [
        "| | ours | bare `openai` | difference | ratio |",
        "|---|---|---|---|---|",
        f"| import at ComfyUI's start, CPU ms ({imported['modules']:.0f} modules of ours); beside"
        f" it ComfyUI's own libraries | {imported['ours_s'] * 1e3:.0f} |"
        f" {imported['host_s'] * 1e3:.0f} | | {imported['ratio']:.2f} |",
    ]
    for row in results["start"]:
        lines.append(
            f"| first chunk of a message sent {row['after_s']} s after the start; the loop's"
            f" longest stall | {row['first_ms']:.0f} ms | | stall {row['stall_ms']:.0f} ms | |"
        )
    for row in results["stored"]:
        name = (
            f"request to the model's server, stored chat of {row['messages']:,} messages,"
            f' "{row["question"]}"'
        )
        lines.append(_row(name, row))
    lines.append(_row("whole turn of one word, not stored", results["unstored"]))
    lines.append(_row(f"first chunk of {AT_ONCE} turns at once", at_once))
    lines.append(_row(f"CPU for {CHUNKS:,} chunks", results["chunks"]))
    return "\n".join(lines) + "\n"


def _row(name: str, row: dict[str, float]) -> str:
    return (
        f"| {name}: p50 (p95) ms | {row['ours_p50']:.1f} ({row['ours_p95']:.1f}) |"
        f" {row['bare_p50']:.1f} ({row['bare_p95']:.1f}) | {row['added_p50']:.1f} |"
        f" {row['ratio']:.2f} |"
    )


if __name__ == "__main__":
    main()
