"""Random logs with the faults that clients, models and tools may send; a seed determines a log.

Parallel calls 0 to 5, results that are missing, late, doubled, out of order or orphans, ids used
twice, empty and multimodal content, giants, system messages in between, CJK, lone surrogates,
arguments and results that are no JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from plugin.assistant.messages.prompt import (
    Content,
    ImageContent,
    PromptMessage,
    TextContent,
    ToolCall,
)

PIECES = (
    *("word ", "the sampler ", "make it sharper, ", "No, not that. ", "From now on use cfg 7. "),
    *("图像生成", "画像を明るく。", "샘플러 ", "Привет ", "é", "\U0001f600", "\ud83d", "\ude00"),
    *("x", "\n", "    ", '"', "\\", "\x00", "{", "]", "0123456789", "C:\\models\\a.safetensors "),
    *("aGVsbG8gd29ybGQ=", "dpmpp_2m ", "1024x1024 ", "https://example.org/a?b=c ", "```\n"),
)
TOOLS = ("getWorkflowInfo", "setWidget", "editWorkflow", "addNode", "removeNode", "getUserSkill")
IMAGE = ImageContent("data:image/png;base64,AAAA")
GIANT = 40_000
"""Characters, at most."""

LEAST_SEEN, MOST_SEEN = 200, 4
"""Characters of a result that may be repeated, and the number of recent results that are kept for
it."""


class WildLog(tuple[PromptMessage, ...]):
    """A log whose `repr` shows its seed."""

    origin: str

    def __repr__(self) -> str:
        return self.origin


def wild_log(seed: int, turns: int) -> WildLog:
    """A log of `turns` turns that ends with a user message, or with rounds after it. Most messages
    are valid; the share of faulty messages differs from log to log."""
    random = Random(seed)
    log = WildLog(_Author(random, random.choice((0.0, 0.02, 0.2))).log(turns))
    log.origin = f"wild_log({seed}, {turns})"
    return log


class _Author:
    """Writes a log; `disorder` is the share of faults."""

    def __init__(self, random: Random, disorder: float) -> None:
        self._random = random
        self._disorder = disorder
        self._calls = 0
        self._seen: list[str] = []

    def log(self, turns: int) -> Iterator[PromptMessage]:
        if self._wrong():
            yield PromptMessage("assistant", "Welcome!")
        for turn in range(turns):
            if self._wrong():
                yield PromptMessage("system", self._random.choice(("", "Be brief.")))
            yield self._asking(last=turn == turns - 1)
            for _ in range(self._random.choice((0, 0, 1, 1, 2, 4))):
                yield from self._round()
            if turn < turns - 1 and not self._wrong():
                yield PromptMessage("assistant", self._text(self._random.choice((0, 20, 200, 900))))

    def _wrong(self) -> bool:
        return self._random.random() < self._disorder

    def _skill(self) -> PromptMessage:
        """The message of one of two skills, as `/skill` sends it, with or without a request of the
        user."""
        random = self._random
        name = random.choice(("moon", "water"))
        said = f'[The user activated the skill "{name}" (`{name}`). Follow it.]\n\n'
        said += f"Draw the {name} with care.\n" * 30
        rest = random.choice(("", self._text(30)))
        text = said + (f"\n\n[The user's message]\n\n{rest}" if rest else "")
        return PromptMessage("user", text, skill_chars=len(said.rstrip()))

    def _asking(self, *, last: bool) -> PromptMessage:
        """A user message; the last user message is never empty."""
        if self._wrong() and not last:
            nothing: Content = self._random.choice(("", ()))
            return PromptMessage("user", nothing)
        if self._random.random() < 0.06:
            return self._skill()
        text = "Q" + self._text(self._random.choice((5, 30, 30, 200, 1_500)))
        if self._random.random() < 0.05:
            parts = (TextContent(text), IMAGE, TextContent(self._text(9)))
            return PromptMessage("user", parts[: self._random.randint(1, 3)])
        return PromptMessage("user", text)

    def _round(self) -> Iterator[PromptMessage]:
        random = self._random
        calls = tuple(self._call() for _ in range(random.choice((1, 1, 1, 2, 3, 5))))
        text = self._text(random.choice((0, 0, 60)))
        reasoning = {"reasoning_content": self._text(40)} if random.random() < 0.1 else None
        yield PromptMessage("assistant", text, calls, reasoning=reasoning)
        results = [self._result(call) for call in calls]
        if self._wrong():
            random.shuffle(results)
        if self._wrong():
            results.pop()
        if self._wrong():
            results.append(self._result(random.choice(calls)))
        if self._wrong():
            results.append(self._result(ToolCall("orphan", "gone")))
        if self._wrong():
            results.insert(0, PromptMessage("user", "In between."))
        yield from results

    def _call(self) -> ToolCall:
        self._calls += 1
        name = self._random.choice(TOOLS)
        identity = self._random.choice(("a", "", "call_0")) if self._wrong() else None
        arguments = json.dumps(self._arguments(name), ensure_ascii=False)
        if self._wrong():
            arguments = arguments[:-1]
        return ToolCall(f"c{self._calls}" if identity is None else identity, name, arguments)

    def _arguments(self, name: str) -> Any:
        random = self._random
        node = random.randint(1, 30)
        if name == "setWidget":
            return {"node_id": node, "widget": "text", "value": self._text(random.choice((3, 80)))}
        if name == "addNode":
            return {"id": str(node), "class_type": "KSampler", "inputs": {"seed": random.random()}}
        if name == "editWorkflow":
            change = {"op": "set", "node": f"#{node}", "name": "steps", "value": node}
            return {"operations": [change] * random.randint(0, 4)}
        return {"node_id": node, "slug": self._text(8)}

    def _result(self, call: ToolCall) -> PromptMessage:
        random = self._random
        size = random.choice((0, 10, 60, 300, 300, 2_500, 9_000))
        if random.random() < 0.03:
            size = random.randint(9_000, GIANT)
        text = self._text(size)
        if self._seen and random.random() < 0.2:
            # The same look at the workflow gives the same text again.
            return PromptMessage("tool", random.choice(self._seen), tool_call_id=call.id)
        if random.random() < 0.6:
            rows = [text[n : n + 150] for n in range(0, len(text), 150)]
            text = json.dumps({"id": 7, "rows": rows}, ensure_ascii=random.random() < 0.5)
        failed = random.random() < 0.1
        if failed:
            text = json.dumps({"error": "Value not in list: " + text[:900]})
        elif len(text) > LEAST_SEEN:
            self._seen = [*self._seen, text][-MOST_SEEN:]
        return PromptMessage("tool", text, tool_call_id=call.id, failed=failed)

    def _text(self, size: int) -> str:
        """A text of about `size` characters; long texts repeat a passage, as real texts do."""
        if size == 0:
            return ""
        passage = "".join(self._random.choices(PIECES, k=min(40, size // 6 + 1)))
        return (passage * (size // len(passage) + 1))[:size]
