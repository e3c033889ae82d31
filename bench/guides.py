"""Turns of many rounds that load a guide, activate a skill or read on in an earlier result.

What they load is what the rest of the turn works with, so it has to stay whole in every later
request of the turn.
"""

from __future__ import annotations

import json
import random

from plugin.bench import wordings
from plugin.bench.lived import Round
from plugin.bench.lived_log import LoggedTurn

SLUGS = ("30_model_flux", "20_model_sdxl")
ROUNDS = 7
"""Rounds of a turn after what it loads."""
RESULTS = (120, 500, 1_500, 4_000)
"""Characters of the results of those rounds."""
DOCUMENT = 9_000
"""Characters of the result that a later turn reads again."""


def guide_turns(seed: int, rounds: int = ROUNDS) -> list[LoggedTurn]:
    """The turns of one chat, each with `rounds` rounds after what it loads: a guide by the tool, a
    long result, a page of that result, a skill by `/skill`."""
    pick = random.Random(seed)
    guide = Round("I read the guide first.", (_call("getSystemSkill", slug=SLUGS[0]),))
    document = Round("I look that up.", (_call("readDocumentation", topic="samplers"),))
    # The rows before: the question, the guide's round, the `rounds`, the answer, the question, the
    # call.
    row = 2 * (rounds + 1) + 4
    page = Round("I read that again.", (_call("recall_result", handle=f"r{row}"),))
    return [
        _turn("Set up Flux as its guide says, please.", guide, (), pick, rounds),
        _turn("What do the samplers differ in?", document, (_prose(DOCUMENT, pick),), pick, 1),
        _turn("Read again what the page said about noise.", page, (), pick, rounds),
        _turn(f"/skill {SLUGS[1]}\nNow the same with this model.", None, (), pick, rounds),
    ]


def _turn(
    text: str,
    first: Round | None,
    results: tuple[str, ...],
    pick: random.Random,
    rounds: int,
) -> LoggedTurn:
    looks = [
        Round("", (_call("getNodeInfo", types=[pick.choice(list(wordings.NODE_KINDS))]),))
        for _ in range(rounds)
    ]
    found = [_json(pick.choice(RESULTS), pick) for _ in looks]
    answered = [*([first] if first else []), *looks, Round("That is done.")]
    return LoggedTurn(text, tuple(answered), (*results, *found))


def _call(name: str, **arguments: object) -> tuple[str, str]:
    return name, json.dumps(arguments)


def _json(chars: int, pick: random.Random) -> str:
    return json.dumps({"id": pick.getrandbits(32), "description": _prose(chars, pick)})


def _prose(chars: int, pick: random.Random) -> str:
    text = ""
    while len(text) < chars:
        text += f"{pick.choice(wordings.DESCRIPTIONS)} ({pick.getrandbits(24)}) "
    return text
