"""When a mask or a cut is due, and how many groups it covers."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.compaction_policy import (
    Fixed,
    cut_index,
    cut_saves_enough,
    mask_end,
    mask_pays,
    met,
)
from plugin.assistant.context.draft import Draft, compose
from plugin.assistant.context.fidelity import GroupReducer
from plugin.assistant.context.limits import Limits, limits_of
from plugin.assistant.context.log import ChatLog, Group
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.window import PRICES, Budget

from .histories import Messages, a_round, answer, joined, law, rounds, system, user

BUDGET = Budget.of_messages(8_000)
TALK = joined((user(str(n)), answer(str(n))) for n in range(12))


def limits(**settings: object) -> Limits:
    return limits_of(replace(Settings(), **settings), BUDGET)  # type: ignore[arg-type]


def drafted(messages: Messages, mask: int = 0, cache: str = "none") -> Draft:
    numbers = limits(prompt_cache=cache, repeat_min_chars=0)
    log = ChatLog(messages)
    made = Projections().with_mask(log, mask) if mask else Projections()
    return compose(log, made, None, None, numbers, GroupReducer(numbers.fidelity))


def place(groups: tuple[Group, ...], numbers: Limits, fixed: int = 0) -> int:
    return cut_index(groups, None, Fixed(fixed, 0), numbers)


def test_the_limit_by_number_asks_for_a_cut() -> None:
    assert not met(drafted(TALK), limits())
    found = met(drafted((*TALK, user())), limits())
    assert found is not None
    assert (found.setting, found.now, found.at) == ("LLM_HISTORY_MAX_MESSAGES", 25, 24)
    assert not met(drafted((*TALK, user())), limits(history_max_messages=0))


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({"summary_max_messages": 20}, "LLM_SUMMARY_MAX_MESSAGES"),
        ({"summary_max_turns": 9}, "LLM_SUMMARY_MAX_TURNS"),
        ({"summary_trigger": 0.01}, "LLM_SUMMARY_TRIGGER"),
        ({"summary_max_tokens": 50}, "LLM_SUMMARY_MAX_TOKENS"),
    ],
)
def test_each_trigger_asks_for_a_cut_by_its_name(settings: dict[str, object], setting: str) -> None:
    found = met(drafted(TALK), limits(**settings))
    assert found is not None
    assert found.setting == setting


@pytest.mark.parametrize("settings", [{"summary_max_messages": 20}, {"summary_max_turns": 9}])
def test_without_summaries_the_limits_that_ask_for_one_do_not_cut(
    settings: dict[str, object],
) -> None:
    assert met(drafted(TALK), limits(summary="off", **settings)) is None
    assert met(drafted((*TALK, user())), limits(summary="off")) is not None


def test_a_cut_goes_a_third_below_the_limit_it_met() -> None:
    groups = drafted((*TALK, user())).tail
    # At most two thirds of the limit, and the first of them is a user message.
    assert len(groups) - place(groups, limits()) == 15
    unlimited = limits(history_max_messages=0, summary_max_messages=12)
    assert len(groups) - place(groups, unlimited) == 7


def test_a_cut_by_turns_leaves_two_thirds_of_them() -> None:
    groups = drafted(TALK).tail
    numbers = limits(history_max_messages=0, summary_max_messages=0, summary_max_turns=6)
    kept = groups[place(groups, numbers) :]
    assert sum(group.role == "user" for group in kept) == 4


def test_a_cut_ends_before_a_user_message() -> None:
    groups = drafted((*TALK, *rounds(3), user())).tail
    for most in range(14, 24):
        cut = place(groups, limits(history_max_messages=most))
        assert groups[cut].role == "user"


def test_a_turn_that_alone_exceeds_the_limits_is_cut_between_its_rounds() -> None:
    turn = (user(), *a_round(*"abcde"), *rounds(10))
    groups = drafted((*TALK, *turn)).tail
    asked = groups[len(TALK)]
    numbers = limits(history_max_messages=20, min_recent_messages=0)
    cut = cut_index(groups, asked, Fixed(0, 0), numbers)
    assert cut == len(TALK) + 6
    assert groups[cut].is_round


def test_the_last_turns_stay_whole_where_the_limits_allow() -> None:
    long_turn = (user(), *rounds(4), answer())
    groups = drafted((*TALK, *long_turn, *long_turn)).tail
    numbers = limits(history_max_messages=28, min_recent_messages=0)
    kept = groups[place(groups, numbers) :]
    assert sum(len(group) for group in kept) == 2 * len(long_turn)
    kept = groups[place(groups, replace(numbers, keep_turns=1)) :]
    assert sum(group.role == "user" for group in kept) == 1


def test_the_newest_messages_stay_where_they_fit() -> None:
    groups = drafted(TALK).tail
    tight = replace(limits(min_recent_messages=6), target=1)
    assert len(groups) - place(groups, tight) == 6
    assert len(groups) - place(groups, replace(tight, trigger=groups[-1].tokens * 5)) == 4


@law
@given(st.integers(100, 2_000_000), st.integers(1, 2_000_000), st.floats(0.1, 1.0))
def test_a_cut_by_tokens_leaves_at_most_57_percent_of_the_limit_that_asked_for_it(
    window: int, absolute: int, share: float
) -> None:
    for cache in ("none", "auto"):
        settings = Settings(prompt_cache=cache, summary_max_tokens=absolute, summary_trigger=share)
        numbers = limits_of(settings, Budget.of_messages(window))
        assert numbers.target <= 0.57 * numbers.trigger
        assert numbers.room <= max(absolute, 0)


def test_the_newest_group_stays_whatever_follows_it() -> None:
    groups = drafted((*TALK, *a_round("a", text="x" * 9_000), system())).tail
    assert place(groups, limits(), fixed=50_000) == len(groups) - 2


def test_a_cut_that_saves_less_than_a_tenth_is_not_worth_it() -> None:
    before = drafted(TALK)
    shorter = replace(before, tail=before.tail[1:], whole=before.whole[1:])
    assert not cut_saves_enough(before, shorter, limits())
    assert cut_saves_enough(before, replace(before, tail=before.tail[4:]), limits())


def test_where_messages_are_too_many_a_tenth_of_them_is_enough() -> None:
    giant = user("word " * 5_000)
    before = drafted((*TALK, giant))
    after = replace(before, tail=before.tail[4:])
    assert cut_saves_enough(before, after, limits())
    assert not cut_saves_enough(before, after, limits(history_max_messages=0))


def test_a_mask_leaves_the_last_rounds() -> None:
    groups = drafted((*rounds(5), user())).whole
    assert mask_end(groups, 2) == groups[3].first
    assert mask_end(groups, 5) == mask_end(groups, 0) == 0


def test_a_mask_pays_by_what_reading_the_cache_costs() -> None:
    history = (user(), *rounds(3, text="word " * 400), *rounds(1), *TALK[:4])
    before, after = drafted(history, cache="auto"), drafted(history, 7, cache="auto")
    assert after.tokens < before.tokens
    assert mask_pays(before, after, 8_000, PRICES["none"])
    assert not mask_pays(before, before, 8_000, PRICES["none"])


def test_a_mask_that_must_be_has_to_be_enough() -> None:
    history = (user(), *rounds(3, text="word " * 400), *rounds(1))
    before, after = drafted(history, cache="auto"), drafted(history, 7, cache="auto")
    assert mask_pays(before, after, before.tokens - 1, PRICES["local"])
    assert not mask_pays(before, after, after.tokens, PRICES["local"])
