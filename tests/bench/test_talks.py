"""The generated talks: the same for a seed, and each fact said in one message alone."""

import pytest
from plugin.bench.sight import words
from plugin.bench.talks import TALKS, TURNS, Talk, write_talks

SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def talks() -> list[Talk]:
    return [talk for seed in SEEDS for talk in write_talks(seed)]


def test_a_seed_gives_the_same_talks_and_another_seed_gives_others() -> None:
    assert list(write_talks(1)) == list(write_talks(1))
    first, other = next(write_talks(1)), next(write_talks(2))
    assert first.texts != other.texts


def test_there_are_enough_talks_of_each_language_and_the_question_is_the_75th_message(
    talks: list[Talk],
) -> None:
    for code in ("en", "zh"):
        count = sum(talk.name.startswith(code) for talk in talks)
        assert count == TALKS * len(SEEDS)
    assert {len(talk.texts) for talk in talks} == {2 * TURNS} == {74}


def test_evidence_is_said_by_the_person_in_one_message_alone(talks: list[Talk]) -> None:
    for talk in talks:
        for question in talk.questions:
            for at in question.evidence:
                assert at % 2 == 0
                assert talk.texts.count(talk.texts[at]) == 1


def test_no_question_repeats_its_evidence(talks: list[Talk]) -> None:
    for talk in talks:
        for question in talk.questions:
            asked = set(words(question.text))
            assert all(not set(words(talk.texts[at])) <= asked for at in question.evidence)


def test_some_questions_need_one_piece_of_evidence_and_some_two(talks: list[Talk]) -> None:
    for talk in talks:
        assert {len(question.evidence) for question in talk.questions} == {1, 2}
