"""Plans generated chats and counts requests that break a rule:

    python bench/fuzz_plans.py [--cases N] [--seed S] [--jobs J]

A case is one chat of `tests/context/wild.py` with settings, window and provider of its own, planned
request by request. The faults that are counted: a request that `validity.py` finds invalid, or that
exceeds its window (characters / 4, and the exact count where `toktok-rs` is installed); a row that
is neither sent nor behind a handle; a last message that is not the current input; an unexpected
exception. Prints a JSON object; the exit code is 1 when any count is not 0.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402
import multiprocessing  # noqa: E402
import sys  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from dataclasses import replace  # noqa: E402
from random import Random  # noqa: E402

from plugin.assistant.config import Settings  # noqa: E402
from plugin.assistant.context.chat_context import ChatContext  # noqa: E402
from plugin.assistant.context.plan import Budget, Plan  # noqa: E402
from plugin.assistant.context.repeats import SKILL_AGAIN  # noqa: E402
from plugin.assistant.context.system import SystemText  # noqa: E402
from plugin.assistant.context.window import Window  # noqa: E402
from plugin.assistant.errors import AssistantError, ContextOverflow, InvalidRequest  # noqa: E402
from plugin.assistant.messages.prompt import PromptMessage, to_openai  # noqa: E402
from plugin.bench.measures import CHARS_PER_TOKEN, exact_tokens, rendered  # noqa: E402
from plugin.bench.tool_facts import bench_facts  # noqa: E402
from plugin.bench.validity import faults  # noqa: E402
from plugin.tests.context.wild import wild_log  # noqa: E402

SYSTEM = SystemText("You are ComfyUI Assistant. " * 8, "full")
WINDOWS = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
MOST_TURNS = 16
BATCH = 100
"""Cases that a process gets in one batch."""
NAMED = 10
"""Number of faulty cases whose seeds are printed."""
NEVER = ("invalid", "over_window", "over_window_exact", "lost_rows", "input_not_last", "crashed")


def main() -> int:
    parser = argparse.ArgumentParser(description="Plan generated chats.")
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.cases)
    batches = [seeds[start : start + BATCH] for start in range(0, len(seeds), BATCH)]
    counts, bad = Counter[str](dict.fromkeys(("cases", "requests", "refused", *NEVER), 0)), set()
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        for found, named in pool.imap_unordered(run, batches):
            counts.update(found)
            bad |= named
            if counts["cases"] % 5_000 < BATCH:
                print(json.dumps(counts), file=sys.stderr)
    print(json.dumps({**counts, "bad_seeds": sorted(bad)[:NAMED]}, indent=1))
    return 1 if any(counts[name] for name in NEVER) else 0


def run(seeds: range) -> tuple[Counter[str], set[int]]:
    """The counts of the cases with these seeds, and the seeds of the faulty cases."""
    counts, bad = Counter[str](), set()
    for seed in seeds:
        found = Counter(case(seed))
        counts.update(found)
        counts["cases"] += 1
        if any(found[name] for name in NEVER):
            bad.add(seed)
    return counts, bad


def case(seed: int) -> Iterator[str]:
    """Plans one chat; yields a word for each request and for each fault."""
    random = Random(-seed)
    log = wild_log(seed, random.randint(1, MOST_TURNS))
    budget = Budget(
        Window(random.choice(WINDOWS), known=True),
        alternation=random.random() < 0.3,
        exact=random.random() < 0.5,
    )
    chat = ChatContext(_settings(random), budget, SYSTEM, facts=bench_facts())
    for row in range(len(log) + 1):
        if row == len(log) or log[row].role == "assistant":
            yield from _request(chat, log[:row], budget)
        if row < len(log):
            chat.append(replace(log[row], source=str(row)))


def _settings(random: Random) -> Settings:
    return Settings(
        prompt_cache=random.choice(("none", "auto")),
        summary=random.choice(("extractive", "extractive", "off")),
        tool_result_keep_last_rounds=random.choice((0, 1, 2, 2)),
        tool_output_trim_chars=random.choice((0, 1, 17, 200, 2_000)),
        history_max_messages=random.choice((0, 1, 5, 24, 24)),
        min_recent_messages=random.choice((0, 2, 6)),
        repeat_min_chars=random.choice((0, 60, 400)),
    )


def _request(chat: ChatContext, log: tuple[PromptMessage, ...], budget: Budget) -> Iterator[str]:
    try:
        plan = chat.plan()
    except (ContextOverflow, InvalidRequest):
        yield "refused"
        return
    except AssistantError:
        yield "invalid"
        return
    except Exception:
        yield "crashed"
        raise
    yield "requests"
    body = [to_openai(message) for message in plan.messages]
    if faults(body):
        yield "invalid"
    seen = [rendered(to_openai(_without_images(message))) for message in plan.messages]
    if sum(map(len, seen)) / CHARS_PER_TOKEN > budget.prompt:
        yield "over_window"
    if (exact_tokens(body) or 0) > budget.prompt:
        yield "over_window_exact"
    if any(True for _ in _lost_rows(chat, plan, log, merged=budget.alternation)):
        yield "lost_rows"
    asked = [message for message in log if message.role == "user"][-1]
    sent = [message for message in plan.messages if message.role == "user"][-1]
    if not sent.text.endswith(asked.text) and SKILL_AGAIN not in sent.text:
        yield "input_not_last"


def _without_images(message: PromptMessage) -> PromptMessage:
    """The message without its images, since the length of an image's URL is not its cost."""
    return replace(message, content=message.text) if message.images else message


def _lost_rows(
    chat: ChatContext, plan: Plan, log: tuple[PromptMessage, ...], *, merged: bool
) -> Iterator[int]:
    """The rows that are neither sent whole nor behind a handle."""
    behind = {row: chat.recall(item.handle) for item in plan.left_out for row in item.indexes}
    sent = {message.source: message for message in plan.messages}
    everything = "\n".join(message.text for message in plan.messages) if merged else ""
    for row, message in enumerate(log):
        if row in behind:
            calls = all(call.arguments in behind[row] for call in message.tool_calls)
            if not calls or message.text not in behind[row]:
                yield row
        elif merged and message.role != "tool":
            if message.text not in everything:
                yield row
        elif str(row) not in sent or sent[str(row)].content != message.content:
            yield row


if __name__ == "__main__":
    sys.exit(main())
