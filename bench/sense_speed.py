"""The row of `sense.py` about time: a plan, and the search of the default recall beside it.

Times are those of the processor, for the whole process, because other programs on the machine do
not change them; the 95th of a hundred.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.context.window import Budget
from plugin.assistant.messages.parts import Message, TextPart
from plugin.bench.lived import Round, Wanted, living
from plugin.bench.measures import percentile, text_of
from plugin.bench.replay import MILLISECONDS
from plugin.bench.scale import SEED, endless, measure
from plugin.bench.sense_row import Figure, Options
from plugin.bench.session import Shape, write_session

SIZES = (100, 10_000, 100_000)
WINDOW = 8_000
SESSION = 1_000
"""Messages of the session that is repeated to a chat of each size."""
AT_ONCE = 5_000
TURNS = 100
HITS = 10
SEARCHES = ("search", "pieces")
"""The methods of `HistorySearch` that a turn may use."""
ANSWER = (Round("That is what I found."),)
MOST_PLAN_MS, MOST_SEARCH_MS = 5.0, 10.0
CHAT = "long"


async def speed(options: Options) -> list[Figure]:
    """Plans in both modes, and searches, in chats of each size."""
    sizes = SIZES if options.sample is None else SIZES[:-1]
    found = []
    for size in sizes:
        for mode in options.modes:
            settings = options.wanted(mode, WINDOW).settings
            spent = measure(size, settings, Budget.of_messages(WINDOW))["cpu_p95_ms"]
            what = f"p95 of a plan, {size:,} messages"
            met, goal = spent <= MOST_PLAN_MS, f"≤ {MOST_PLAN_MS:g} ms"
            found.append(Figure("speed", what, "ours", mode, {"ms": spent}, goal, met))
        spent = await _searching(size, options.wanted("none", WINDOW))
        what = f"p95 of the default recall's search, {size:,} messages"
        met, goal = spent <= MOST_SEARCH_MS, f"≤ {MOST_SEARCH_MS:g} ms"
        found.append(Figure("speed", what, "ours", "-", {"ms": spent}, goal, met))
    return found


async def _searching(size: int, wanted: Wanted) -> float:
    """Milliseconds that the searches of a turn take in a stored chat of `size` messages with an
    index; of a search by itself where recall is off."""
    log = write_session(SEED, Shape(messages=SESSION))
    rows = islice((row for row in endless(log.messages) if row["role"] != "system"), size)
    messages = [_message(at, text_of(row)) for at, row in enumerate(rows)]
    asked = [str(query["query"]) for query in log.queries]
    with TemporaryDirectory() as folder:
        async with living(Path(folder), wanted) as chats:
            store = chats.space.chats
            await store.import_messages(CHAT, messages[:AT_ONCE])
            for start in range(AT_ONCE, size, AT_ONCE):
                await store.append_all(CHAT, messages[start : start + AT_ONCE])
            await chats.indexed(CHAT)
            timed = _Timed(chats.space.search)
            for number in range(TURNS):
                question = asked[number % len(asked)]
                timed.begin()
                await chats.turn(CHAT, question, ANSWER)
                if not timed.turns[-1]:
                    await chats.space.search.search(CHAT, question, HITS)
                timed.end()
                # The answer's row is indexed apart from the next search.
                await chats.indexed(CHAT)
    return round(percentile(timed.turns, 0.95), 2)


class _Timed:
    """Adds up the time of a turn's searches, whichever way the turn searches."""

    def __init__(self, search: HistorySearch) -> None:
        self.turns: list[float] = []
        self._counts = False
        for name in SEARCHES:
            if hasattr(search, name):
                setattr(search, name, self._timing(getattr(search, name)))

    def begin(self) -> None:
        self.turns.append(0.0)
        self._counts = True

    def end(self) -> None:
        self._counts = False

    def _timing(self, search: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def timed(*arguments: Any, **named: Any) -> Any:
            if not self._counts:
                return await search(*arguments, **named)
            # A search within a search is not counted again.
            self._counts, begun = False, time.process_time()
            try:
                return await search(*arguments, **named)
            finally:
                self._counts = True
                self.turns[-1] += (time.process_time() - begun) * MILLISECONDS

        return timed


def _message(at: int, text: str) -> Message:
    return Message(f"m{at}", "assistant" if at % 2 else "user", (TextPart(text),))
