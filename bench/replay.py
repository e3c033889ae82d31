"""Plans every request of a log as a running chat would have:

    python bench/replay.py --input LOG.json --window N [--cache none|auto]
        [--summary extractive|off] [--handles H.jsonl] --out OUT.jsonl

LOG is a list of OpenAI messages. For each point before an assistant message OUT gets one line
`{"at", "messages", "tokens", "ms", "left_out", "report"}`; a plan that is refused has `error` and
no messages. N is the limit of `messages` in tokens. H gets one line `{"handle", "content"}` for
every handle that occurs, its content as `recall_result` gives it. `ms` is the time of the plan and
of appending the messages since the last plan.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterable, Iterator, Mapping  # noqa: E402
from contextlib import ExitStack  # noqa: E402
from dataclasses import replace  # noqa: E402
from typing import Any, TextIO  # noqa: E402

from plugin.assistant.config import Settings  # noqa: E402
from plugin.assistant.context.chat_context import ChatContext  # noqa: E402
from plugin.assistant.context.plan import Plan  # noqa: E402
from plugin.assistant.context.window import Budget  # noqa: E402
from plugin.assistant.errors import AssistantError  # noqa: E402
from plugin.assistant.messages.prompt import to_openai  # noqa: E402
from plugin.bench.logs import message_of, read_log  # noqa: E402
from plugin.bench.tool_facts import bench_facts  # noqa: E402

MILLISECONDS = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Plan every request of a log.")
    parser.add_argument("--input", type=Path, required=True, metavar="LOG.json")
    parser.add_argument("--window", type=int, required=True, metavar="N", help="tokens")
    parser.add_argument("--cache", choices=("none", "auto"), default="none")
    parser.add_argument("--summary", choices=("extractive", "off"), default="extractive")
    parser.add_argument("--handles", type=Path, metavar="H.jsonl")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.jsonl")
    arguments = parser.parse_args()
    settings = replace(Settings(), prompt_cache=arguments.cache, summary=arguments.summary)
    chat = ChatContext(settings, Budget.of_messages(arguments.window), facts=bench_facts())
    with ExitStack() as files:
        out = files.enter_context(arguments.out.open("w", encoding="utf-8"))
        handles = None
        if arguments.handles:
            handles = files.enter_context(arguments.handles.open("w", encoding="utf-8"))
        run(chat, read_log(arguments.input), out, handles)


def run(
    chat: ChatContext, log: Iterable[Mapping[str, Any]], out: TextIO, handles: TextIO | None
) -> None:
    """Write a line for each point of `log`, and one for each handle when it first occurs."""
    known: set[str] = set()
    for line in points(chat, log):
        _write(out, line)
        for elided in line["left_out"] if handles is not None else ():
            handle = elided["handle"]
            if handle not in known:
                known.add(handle)
                _write(handles, {"handle": handle, "content": chat.recall(handle)})


def points(chat: ChatContext, log: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the line of each point before an assistant message, and appends the log's messages to
    the chat."""
    spent = 0.0
    for index, row in enumerate(log):
        message = message_of(row)
        if message.role == "assistant":
            started = time.perf_counter()
            try:
                planned: Plan | AssistantError = chat.plan()
            except AssistantError as refused:
                planned = refused
            spent += time.perf_counter() - started
            yield {"at": index, **_told(planned), "ms": round(spent * MILLISECONDS, 3)}
            spent = 0.0
        started = time.perf_counter()
        chat.append(message)
        spent += time.perf_counter() - started


def _told(planned: Plan | AssistantError) -> dict[str, Any]:
    if isinstance(planned, AssistantError):
        return {"messages": [], "tokens": 0, "left_out": [], "report": {}, "error": str(planned)}
    return {
        "messages": [to_openai(message) for message in planned.messages],
        "tokens": planned.tokens,
        "left_out": [
            {"handle": elided.handle, "indexes": list(elided.indexes)}
            for elided in planned.left_out
        ],
        "report": planned.report.to_json(),
    }


def _write(file: TextIO | None, value: Any) -> None:
    if file is not None:
        file.write(json.dumps(value, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
