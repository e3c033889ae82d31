"""Content that a request would have twice is sent once (R18)."""

import json

import pytest
from plugin.agent_prompts import skill_activation
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.plan import Budget, Plan
from plugin.assistant.context.tool_facts import ToolFacts
from plugin.assistant.messages.conversion import to_prompt
from plugin.assistant.messages.parts import DataPart, Message
from plugin.assistant.messages.prompt import PromptMessage
from plugin.assistant.user_context.skills import Skill

from .histories import Messages, a_round, answer, calling, result, rounds, user

VIEW = "#1 KSampler seed=1\n" * 40
SETTINGS = Settings(tool_result_keep_last_rounds=0)
CACHED = Settings(prompt_cache="auto")
FACTS = ToolFacts(recall="recall_result")
WIDE = Budget.of_messages(100_000)


def plan(messages: Messages, settings: Settings = SETTINGS, budget: Budget = WIDE) -> Plan:
    return ChatContext(settings, budget, messages=messages, facts=FACTS).plan()


def repeats(made: Plan) -> list[PromptMessage]:
    return [message for message in made.messages if message.reduced == "repeat"]


def skill(request: str = "") -> PromptMessage:
    whole = Skill("moon", "Moon", "Moons.", "Draw the moon with care.\n" * 40, "user")
    chars = len(skill_activation(whole).rstrip())
    return user(skill_activation(whole, request), skill_chars=chars)


def test_the_second_copy_becomes_a_line_that_names_its_handle() -> None:
    messages = (user(), *a_round("a", text=VIEW), *a_round("b", text=VIEW))
    made = plan(messages)
    assert [message.text for message in made.messages[:3]] == [m.text for m in messages[:3]]
    line = json.loads(made.messages[4].text)
    assert (line["tool"], line["handle"]) == ("getUserSkill", "r4")
    assert VIEW.startswith(line["begins"].partition("\n... [")[0])
    assert "r4" in [item.handle for item in made.left_out]


def test_its_handle_gives_it_back_word_for_word() -> None:
    messages = (user(), *a_round("a", text=VIEW), *a_round("b", text=VIEW))
    assert ChatContext(SETTINGS, WIDE, messages=messages).recall("r4") == VIEW


def test_two_copies_within_one_round_are_sent_once() -> None:
    made = plan((user(), *a_round("a", "b", text=VIEW)))
    assert [message.reduced for message in made.messages] == [None, None, None, "repeat"]


def test_what_differs_in_a_letter_is_sent() -> None:
    made = plan((user(), *a_round("a", text=VIEW), *a_round("b", text=VIEW + "!")))
    assert not repeats(made)


def test_short_texts_and_failures_are_sent_each_time() -> None:
    short = (*a_round("a", text="ok " * 99), *a_round("b", text="ok " * 99))
    failure = json.dumps({"error": "Value not in list. " * 40})
    failed = (calling("c"), result("c", failure), calling("d"), result("d", failure))
    assert not repeats(plan((user(), *short, *failed)))


def test_a_copy_whose_first_one_is_shortened_is_sent_as_it_would_be() -> None:
    """The first copy is of an earlier turn, so it is clamped; the copy in this turn shows more."""
    long = VIEW * 4
    messages = (user(), *a_round("a", text=long), user(), *a_round("b", text=long))
    made = plan(messages, Settings())
    assert len(made.messages[2].text) <= 2_000
    assert made.messages[5].text == long


def test_a_copy_is_sent_again_when_a_mask_takes_the_first_one_away() -> None:
    budget = Budget.of_messages(2_000)
    settings = Settings(prompt_cache="auto", tool_result_keep_last_rounds=1)
    context = ChatContext(settings, budget, messages=(user(), *a_round("a", text=VIEW[:200])))
    masked = False
    for number in range(30):
        for message in a_round(f"c{number}", text=VIEW[: 500 if number % 3 else 600]):
            context.append(message)
        made = context.plan()
        shown = {m.text for m in made.messages if m.role == "tool"}
        for message in repeats(made):
            content = context.recall(json.loads(message.text)["handle"])
            assert content in shown
        masked = masked or context.projections.masked > 0
    assert masked


def test_a_skill_that_is_activated_again_is_not_spelt_out_again() -> None:
    made = plan((skill(), answer("Done."), skill("Now at night.")), CACHED)
    sent = made.messages[2]
    assert sent.text.startswith('[The user activated the skill "Moon" (`moon`).')
    assert "recall_result r2" in sent.text
    assert sent.text.rstrip().endswith("[The user's message]\n\nNow at night.")
    assert len(sent.text) < len(skill().text) / 2


def test_a_skill_that_an_earlier_version_stored_is_not_spelt_out_again() -> None:
    def stored(request: str = "") -> PromptMessage:
        part = DataPart("skill", {"slug": "moon", "prompt": skill(request).text})
        [message] = to_prompt([Message("u", "user", (part,))])
        return message

    chat = (stored(), answer("Done."), stored("Now at night."), answer(), skill())
    made = plan(chat, CACHED)
    assert [message.reduced for message in made.messages] == [None, None, "repeat", None, "repeat"]
    assert made.messages[2].text.rstrip().endswith("[The user's message]\n\nNow at night.")


def test_where_nothing_is_cached_a_skill_is_whole_in_its_own_turn_and_one_line_later() -> None:
    made = plan((skill(), answer("Done."), skill("Now at night.")))
    earlier, _, now = made.messages
    assert earlier.text.startswith('[The user activated the skill "Moon" (`moon`).')
    assert "recall_result r0 gives them" in earlier.text
    assert len(earlier.text) < len(skill().text) / 2
    assert now == skill("Now at night.")
    assert [item.handle for item in made.left_out] == ["r0"]


def test_a_message_of_the_user_is_sent_each_time() -> None:
    made = plan((user(VIEW), answer(), user(VIEW), answer(), user(VIEW)))
    assert [m.text for m in made.messages if m.role == "user"] == [VIEW] * 3


def test_a_user_who_quotes_an_activated_skill_is_quoted_in_full() -> None:
    quoted = user(skill().text)
    assert not repeats(plan((skill(), answer("Done."), quoted)))


@pytest.mark.parametrize("cache", ["none", "auto"])
def test_the_report_counts_and_names_it(cache: str) -> None:
    settings = Settings(tool_result_keep_last_rounds=0, prompt_cache=cache)
    report = plan((user(), *rounds(3, text=VIEW)), settings).report
    assert report.results_repeated == 2
    assert report.strength == "Low"
    assert "LLM_REPEAT_MIN_CHARS" in report.limits_applied


def test_switched_off_all_is_sent() -> None:
    settings = Settings(tool_result_keep_last_rounds=0, repeat_min_chars=0)
    assert not repeats(plan((user(), *rounds(3, text=VIEW)), settings))
