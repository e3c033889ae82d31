"""One stream, one message: our fold, the `ai` package (v6, v7) and the panel agree."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.parts import Message
from plugin.assistant.messages.ui import message_to_ui

from ..messages.strategies import answers
from .oracle import READERS, Oracle, Reading, Stream, comparable, encoded, pieces
from .scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.oracle

CUTS = {"whole": (), "single bytes": (1,), "primes": (2, 3, 5, 7, 11, 13), "odd": (17, 1, 101)}
FEW_RUNS = settings(
    max_examples=3,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
"""Each example starts Node, and reads many answers in one run."""


@pytest.fixture(scope="module", params=READERS)
def reader(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def readings(oracle: Oracle, reader: str) -> dict[tuple[str, str], Reading]:
    """Every scenario in every cut, by one reader in one run."""
    keys = [(scenario.name, cut) for scenario in SCENARIOS for cut in CUTS]
    streams = [stream(scenario, cut) for scenario in SCENARIOS for cut in CUTS]
    return dict(zip(keys, oracle.read(reader, streams), strict=True))


def stream(scenario: Scenario, cut: str = "whole") -> Stream:
    body = encoded(scenario.chunks)
    base = message_to_ui(scenario.base) if scenario.base else None
    return Stream(body, pieces(body, CUTS[cut]) if CUTS[cut] else (), base)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_client_ends_up_with_the_message_that_we_store(
    readings: dict[tuple[str, str], Reading], scenario: Scenario, cut: str
) -> None:
    reading = readings[scenario.name, cut]
    assert tuple(reading.errors) == scenario.errors
    assert comparable(reading.message) == comparable(message_to_ui(scenario.expected))


@FEW_RUNS
@given(st.lists(answers(), min_size=20, max_size=40))
def test_any_answer_is_the_same_message_everywhere(
    oracle: Oracle, reader: str, made: list[tuple[list[Chunk], Message]]
) -> None:
    bodies = [encoded(sent) for sent, _ in made]
    streams = [Stream(body, pieces(body, (1, 2, 3, 5, 7))) for body in bodies]
    for (_, expected), reading in zip(made, oracle.read(reader, streams), strict=True):
        assert reading.errors == []
        assert comparable(reading.message) == comparable(message_to_ui(expected))


def test_a_chunk_out_of_order_is_an_error_everywhere(oracle: Oracle, reader: str) -> None:
    orphan = encoded([{"type": "start"}, {"type": "text-delta", "id": "t", "delta": "x"}])
    assert oracle.read(reader, [Stream(orphan)])[0].errors


def test_a_stream_without_its_end_is_read_as_far_as_it_goes(oracle: Oracle, reader: str) -> None:
    scenario = SCENARIOS[0]
    body = encoded(scenario.chunks).removesuffix(b"data: [DONE]\n\n")
    assert comparable(oracle.final_message(body, reader)) == comparable(
        message_to_ui(scenario.expected)
    )
