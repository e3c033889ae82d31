"""The rows of `sense.py` about logs with tools: what stays whole, where tails begin, what is
recalled without need, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.window import Budget
from plugin.bench.asked import from_talks, message_tokens
from plugin.bench.fixed_rule import request
from plugin.bench.guides import guide_turns
from plugin.bench.lived import Round
from plugin.bench.lived_figures import LivedFigures
from plugin.bench.lived_log import LoggedTurn, lived_turns, logged_turns
from plugin.bench.measures import steps
from plugin.bench.peers import SESSIONS
from plugin.bench.replay import points
from plugin.bench.rules_cost import rules_cost
from plugin.bench.score import score_truth
from plugin.bench.sense_row import Figure, Options
from plugin.bench.session import Session, write_session
from plugin.bench.tool_facts import bench_facts
from plugin.bench.truth import Truth
from plugin.bench.validity import faults

LOGS = ("views", "mixed")
USUAL_WINDOW = 32_768
WIDE_WINDOW = 131_072
"""A window in which a log of SHORT_LOG messages is below every token trigger."""
SHORT_LOG = 120
TALKS_OF_EACH = 2
GUIDE_WINDOWS = (16_384, 32_768)
REPLAY_WINDOW = 8_000
"""Tokens of messages, as in `peers.py`."""
MOST_NEEDLESS, LEAST_PREFIX, MOST_TOKENS, MOST_PRICED = 0.10, 0.95, 1.5, 0.40


def session_of(name: str, options: Options) -> Session:
    """The generated log of `peers.py`; its beginning alone with `--sample`."""
    seed, shape = SESSIONS[name]
    most = options.sample
    return write_session(seed, shape if most is None else replace(shape, messages=most * 4))


async def _figures(
    turns: Sequence[LoggedTurn], mode: str, window: int, options: Options
) -> LivedFigures:
    wanted = options.wanted(mode, window)
    found = LivedFigures(wanted)
    async for turn in lived_turns(turns, wanted):
        found.add(turn)
    return found


async def whole(options: Options) -> list[Figure]:
    """A log below every token trigger is sent whole."""
    seed, shape = SESSIONS["mixed"]
    log = write_session(seed, replace(shape, messages=SHORT_LOG)).messages
    logs = [(list(logged_turns(log)), WIDE_WINDOW)]
    logs += [(guide_turns(options.seed, rounds), USUAL_WINDOW) for rounds in (1, 2, 4)]
    talks = from_talks(options.seed)
    for talk in (*talks[:TALKS_OF_EACH], *talks[-TALKS_OF_EACH:]):
        said = zip(talk.texts[::2], talk.texts[1::2], strict=True)
        logs.append(([LoggedTurn(text, (Round(answer),)) for text, answer in said], USUAL_WINDOW))
    found = []
    for mode in options.modes:
        each = [await _figures(turns, mode, window, options) for turns, window in logs]
        hits, cases = sum(one.whole.hits for one in each), sum(one.whole.cases for one in each)
        values = {"always": hits == cases > 0, "share": _of(hits, cases), "requests": cases}
        what = "requests below every token trigger that have the whole log"
        limits = "all" if mode == "auto" else "all within the limits by number"
        found.append(Figure("whole", what, "ours", mode, values, limits, bool(values["always"])))
    return found


async def logs(options: Options) -> list[Figure]:
    """The logs `views` and `mixed`, lived turn by turn in the usual window."""
    found: list[Figure] = []
    for name in LOGS:
        turns = list(logged_turns(session_of(name, options).messages))
        for mode in options.modes:
            seen = await _figures(turns, mode, USUAL_WINDOW, options)
            found += _figures_of(name, mode, seen)
    return found


def _figures_of(name: str, mode: str, seen: LivedFigures) -> Iterator[Figure]:
    def figure(what: str, values: dict[str, Any], goal: str, met: bool | None) -> Figure:
        return Figure("logs", f"{what}, log `{name}`", "ours", mode, values, goal, met)

    needless = seen.needless.value or 0.0
    yield figure(
        "turns that ask for nothing and get recalled text",
        {
            "share": needless,
            "without references back": seen.needless_without_references.value,
            "turns": seen.needless.cases,
        },
        f"≤ {MOST_NEEDLESS}",
        needless <= MOST_NEEDLESS,
    )
    yield figure(
        "results of the running turn whole below the trigger",
        {"share": seen.running.value, "results": seen.running.cases},
        "1",
        seen.running.hits == seen.running.cases,
    )
    yield figure(
        "tails that begin with a user message",
        {"share": seen.tails.value, "requests": seen.tails.cases, "giant": seen.giant_turns},
        "1",
        seen.tails.hits == seen.tails.cases,
    )
    yield figure(
        "invalid, over the window",
        {"invalid": seen.invalid, "over": seen.over_window, "requests": seen.requests},
        "0",
        not (seen.invalid or seen.over_window),
    )
    if mode == "none":
        ratio = seen.ours.tokens / seen.rule.tokens
        yield figure(
            "tokens of lived requests, of the fixed rule's",
            {"ratio": round(ratio, 3)},
            f"≤ {MOST_TOKENS}",
            ratio <= MOST_TOKENS,
        )
    else:
        prefix = seen.ours.prefix
        yield figure(
            "stable prefix of lived requests",
            {"share": round(prefix, 3)},
            f"≥ {LEAST_PREFIX}",
            prefix >= LEAST_PREFIX,
        )
        # The goal is about a window of 8,000 tokens of messages (`replay`).
        priced = seen.ours.price / seen.rule_with_system.price
        yield figure(
            "priced (explicit cache) lived requests, of the fixed rule's",
            {"share": round(priced, 3)},
            "",
            None,
        )


async def guides(options: Options) -> list[Figure]:
    """Skills, recalled pages and results in turns of many rounds."""
    found = []
    for window in GUIDE_WINDOWS:
        for mode in options.modes:
            seen = await _figures(guide_turns(options.seed), mode, window, options)
            values = {"share": seen.running.value, "rows": seen.running.cases}
            what = f"skills, pages and results of the running turn whole, window {window:,}"
            met = seen.running.hits == seen.running.cases > 0
            found.append(Figure("guides", what, "ours", mode, values, "1", met))
    return found


async def replay(options: Options) -> list[Figure]:
    """The logs as `replay.py` and `score.py` have them, without recalled text."""
    found: list[Figure] = []
    for name in LOGS:
        session = session_of(name, options)
        for mode in options.modes:
            found += _replayed(name, session, mode)
    return found


def _replayed(name: str, session: Session, mode: str) -> Iterator[Figure]:
    def figure(what: str, values: dict[str, Any], goal: str, met: bool | None) -> Figure:
        return Figure("replay", f"{what}, replay of `{name}`", "ours", mode, values, goal, met)

    log = session.messages
    settings = replace(Settings(), prompt_cache=mode)
    chat = ChatContext(settings, Budget.of_messages(REPLAY_WINDOW), facts=bench_facts())
    lines = list(points(chat, log))
    handles = {elided["handle"] for line in lines for elided in line["left_out"]}
    contents = {handle: chat.recall(handle) for handle in sorted(handles)}
    truth = score_truth(lines, Truth(log, session.facts, session.edits, contents))
    counts = [message_tokens(line["messages"]) for line in lines]
    values = {
        "invalid": sum(bool(faults(line["messages"])) for line in lines),
        "over": sum(count > REPLAY_WINDOW for count in counts),
        "facts lost": truth["facts"].get("lost", 0),
        "edits lost": truth["edits"].get("lost", 0),
        "facts in sight": truth["facts"].get("visible", 0) + truth["facts"].get("summary", 0),
    }
    bad = ("invalid", "over", "facts lost", "edits lost")
    yield figure("invalid, over, lost", values, "0", not any(values[key] for key in bad))
    if mode == "none":
        rule = sum(message_tokens(request(log[: line["at"]])) for line in lines)
        ratio = sum(counts) / rule
        yield figure(
            "tokens, of the fixed rule's",
            {"ratio": round(ratio, 3)},
            f"≤ {MOST_TOKENS}",
            ratio <= MOST_TOKENS,
        )
        return
    walked = steps([line["messages"] for line in lines if line["messages"]])
    prefix = fmean(step.of_previous for step in walked)
    yield figure(
        "stable prefix", {"share": round(prefix, 3)}, f"≥ {LEAST_PREFIX}", prefix >= LEAST_PREFIX
    )
    share = rules_cost(log, REPLAY_WINDOW)["explicit 1.25/0.1"]["share"]
    yield figure(
        "priced (explicit cache), of the fixed rule's",
        {"share": share},
        f"≤ {MOST_PRICED}",
        share <= MOST_PRICED,
    )


def _of(hits: int, cases: int) -> float:
    return round(hits / cases, 4) if cases else 0.0
