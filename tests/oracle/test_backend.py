"""Every client reads the backend's streams as the messages that the log keeps."""

import pytest

from .oracle import READERS, Oracle, Reading, Stream, comparable, pieces
from .recordings import SCENES, Recording, record

pytestmark = pytest.mark.oracle

CUTS: tuple[tuple[int, ...], ...] = ((), (1,), (2, 3, 5, 7, 11, 13))


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    return record(tmp_path_factory.mktemp("recordings"))


@pytest.fixture(scope="module", params=READERS)
def readings(
    request: pytest.FixtureRequest, oracle: Oracle, recordings: dict[str, Recording]
) -> dict[str, list[Reading]]:
    """Every recording in every cut, by one reader in one run."""
    streams = [
        Stream(recording.body, pieces(recording.body, cut) if cut else (), recording.base)
        for recording in recordings.values()
        for cut in CUTS
    ]
    read = iter(oracle.read(request.param, streams))
    return {name: [next(read) for _ in CUTS] for name in recordings}


@pytest.mark.parametrize("name", SCENES)
def test_a_client_ends_up_with_the_message_that_is_stored(
    recordings: dict[str, Recording], readings: dict[str, list[Reading]], name: str
) -> None:
    recording = recordings[name]
    for reading in readings[name]:
        assert bool(reading.errors) is recording.fails, reading.errors
        assert comparable(reading.message) == comparable(recording.stored)
