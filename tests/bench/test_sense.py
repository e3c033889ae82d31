"""The figures and the table of the benchmark of the engine's goals."""

from plugin.bench.asked import Answerable, Asked, Question, figures, reference, sampled
from plugin.bench.sense_table import markdown

TEXTS = tuple(f"this is the message with the number {number}" for number in range(60))


def asked(*evidence: tuple[int, ...]) -> Asked:
    return Asked("a", TEXTS, tuple(Question("Which number?", one) for one in evidence))


def test_any_counts_one_piece_of_evidence_and_all_every_piece() -> None:
    seen = [Answerable(2, 2, 10, 20, False), Answerable(1, 2, 30, 90, True)]
    values = figures([*seen, Answerable(0, 1, 20, 50, False)], window=80)
    assert (values["any"], values["all"]) == (0.6667, 0.3333)
    assert (values["tokens_mean"], values["tokens_most"]) == (20, 30)
    assert (values["invalid"], values["over_window"]) == (1, 1)


def test_the_fixed_rule_has_the_newest_messages_in_sight() -> None:
    values = reference([asked((59,), (58, 2), (3,))], window=4_096)
    assert (values["any"], values["all"]) == (0.6667, 0.3333)


def test_a_sample_is_spread_over_the_conversations() -> None:
    every = [asked(*((number,) for number in range(10))) for _ in range(3)]
    kept = sampled(every, 6)
    assert [len(one.questions) for one in kept] == [2, 2, 2]
    assert sampled(every, None) == every
    assert sampled(every, 100) == every


def test_the_table_has_the_earlier_figures_beside_ours_and_peers_below() -> None:
    shares = {"any": 0.5, "all": 0.25, "tokens_mean": 1_000, "tokens_most": 1_234}
    values = {**shares, "questions": 4, "over_window": 0}
    row = {"row": "talks", "what": "talks", "mode": "none", "goal": "any ≥ 0.9", "met": False}
    ours = {**row, "who": "ours", "values": values}
    before = {**ours, "values": {**values, "any": 0.125}}
    peer = {**row, "who": "a peer", "values": {"unavailable": "no network"}}
    text = markdown({"rows": [ours, peer], "against": "abc", "before": [before]})
    first, second = text.split("\n\n")
    assert "| at abc |" in first
    assert "| 0.50 / 0.25, 1,000 tokens (1,234) | 0.12 / 0.25, 1,000 tokens (1,234) |" in first
    assert first.endswith("| **no** |")
    assert "not to be had: no network" in second
