"""What one turn's requests say besides the chat: what was recalled, and when to finish."""

from dataclasses import replace

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.plan import Budget, Plan
from plugin.assistant.context.tail import RECALLED, WRAP_UP, Tail, almost_full
from plugin.assistant.context.validator import faults

from .histories import Messages, a_round, answer, joined, rounds, user

SECRET = "The vault code is 7194-delta and nobody wrote it down elsewhere."
TALK = joined((user(f"question {n}"), answer(f"answer {n}")) for n in range(20))
CHAT = (user("hello"), answer(SECRET), *TALK)


def cut_chat(cache: str = "none", summary: str = "off", window: int = 700) -> ChatContext:
    settings = Settings(prompt_cache=cache, summary=summary)
    context = ChatContext(settings, Budget.of_messages(window), messages=CHAT)
    context.append(user("What was the vault code?"))
    context.plan()
    assert context.projections.end > 2
    return context


def tail_of(context: ChatContext, **texts: object) -> Tail:
    return replace(Tail(context.asked_row), **texts)  # type: ignore[arg-type]


def recalled(context: ChatContext, rows: range, most: int = 400) -> str:
    return context.recalled([rows], most)


def test_a_passage_that_was_cut_is_background_in_front_of_the_message() -> None:
    context = cut_chat()
    text = recalled(context, range(1, 2))
    assert text.startswith(RECALLED)
    assert f"r1 assistant: {SECRET}" in text
    made = context.plan(tail_of(context, recalled=text))
    assert made.messages[-2].text == text
    assert made.messages[-1].text == "What was the vault code?"
    assert made.report.parts["recalled"].chars == len(text)
    assert "LLM_RECALL_TOKENS" in made.report.limits_applied


def test_its_data_stands_between_two_lines_that_it_does_not_have() -> None:
    lines = recalled(cut_chat(), range(1, 2)).splitlines()
    assert lines[2] == lines[-1]
    assert lines[2] in lines[1]
    assert lines.count(lines[2]) == 2


def test_what_is_still_sent_or_stands_in_the_summary_is_not_recalled() -> None:
    context = cut_chat()
    end = context.projections.end
    assert recalled(context, range(end, end + 2)) == ""
    told = cut_chat(summary="extractive", window=4_000)
    assert "question 9" in told.plan().messages[1].text
    assert recalled(told, range(20, 21)) == ""
    assert "question 9" in recalled(context, range(20, 21))


def test_recalled_passages_have_at_most_their_tokens() -> None:
    from plugin.assistant.context.tokens import text_tokens

    context = cut_chat()
    found = [range(row, row + 2) for row in range(1, context.projections.end - 2, 2)]
    for most in (10, 90, 150, 300):
        assert text_tokens(context.recalled(found, most)) <= most
    assert context.recalled(found, 10) == ""
    assert context.recalled([], 300) == ""


def test_the_tail_of_another_turn_is_not_sent() -> None:
    context = cut_chat()
    tail = tail_of(context, recalled=recalled(context, range(1, 2)), note=WRAP_UP, note_row=9)
    context.append(answer("7194-delta"))
    context.append(user("Thanks."))
    texts = [message.text for message in context.plan(tail).messages]
    assert not any(text.startswith((RECALLED, WRAP_UP)) for text in texts)


@pytest.mark.parametrize("alternation", [False, True])
@pytest.mark.parametrize("cache", ["none", "auto"])
def test_the_note_comes_last_and_stays_where_it_was_said(cache: str, alternation: bool) -> None:
    settings = Settings(prompt_cache=cache)
    budget = replace(Budget.of_messages(100_000), alternation=alternation)
    history: Messages = (user("Do it."), *a_round("a"))
    context = ChatContext(settings, budget, messages=history)
    tail = Tail().with_note(context.asked_row, len(context))
    first = context.plan(tail)
    assert first.messages[-1].text == WRAP_UP
    assert first.messages[-1].role == "user"
    for message in (*a_round("b"), answer("Done.")):
        context.append(message)
        made = context.plan(tail)
        assert made.messages[: len(first.messages)] == first.messages
        assert faults(made.messages, alternation=alternation) == ()
    assert "LLM_WRAP_UP_SHARE" in made.report.limits_applied


def test_the_note_is_said_once() -> None:
    tail = Tail().with_note(3, 7)
    assert tail.with_note(3, 9) is tail
    assert tail.with_note(8, 9).note_row == 9


def test_the_note_is_never_in_the_system_message() -> None:
    context = cut_chat()
    made = context.plan(Tail().with_note(context.asked_row, len(context)))
    assert not any(WRAP_UP in m.text for m in made.messages if m.role == "system")


def test_what_was_recalled_goes_first_when_a_request_does_not_fit() -> None:
    context = ChatContext(
        Settings(summary="off"),
        Budget.of_messages(400),
        messages=(user("go"), *rounds(1, "x" * 400)),
    )
    passage = "word " * 400
    made: Plan = context.plan(tail_of(context, recalled=passage))
    assert made.report.parts["recalled"].tokens == 0
    assert made.report.emergency
    assert made.tokens <= 400


def test_close_to_the_window_is_a_share_of_its_room() -> None:
    assert almost_full(900, 1_000, 0.9)
    assert not almost_full(899, 1_000, 0.9)
    assert not almost_full(5_000, 1_000, 0.0)
