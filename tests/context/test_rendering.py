"""The order of messages for servers that require alternating roles."""

from dataclasses import replace

from plugin.assistant.context.rendering import OPENING, alternate
from plugin.assistant.messages.prompt import ImageContent, PromptMessage, TextContent

from .histories import a_round, answer, calling, result, system, user

IMAGE = PromptMessage("user", (ImageContent("data:,"),))


def test_neighbouring_user_messages_become_one_and_end_with_the_newest() -> None:
    assert alternate((user("one"), user("two"))) == (user("one\n\ntwo"),)


def test_text_and_images_are_joined_in_their_order() -> None:
    (joined,) = alternate((user("look"), IMAGE, user("here")))
    assert joined.content == (TextContent("look"), ImageContent("data:,"), TextContent("here"))


def test_neighbouring_answers_become_one() -> None:
    assert alternate((user(), answer("a"), answer("b")))[1:] == (answer("a\n\nb"),)


def test_an_answer_and_the_call_after_it_become_one_message_with_the_call() -> None:
    thinking = replace(calling("c"), reasoning={"reasoning": "Hm"})
    rendered = alternate((user(), answer("First"), thinking, result("c")))
    assert rendered[1] == replace(thinking, content="First")


def test_rounds_and_their_results_stay_apart() -> None:
    history = (user(), *a_round("a", "b"), *a_round("c"), answer())
    assert alternate(history) == history


def test_system_messages_come_first_as_one() -> None:
    rendered = alternate((system("a"), user("one"), system("b"), user("two")))
    assert rendered == (system("a\n\nb"), user("one\n\ntwo"))


def test_what_takes_turns_already_stays_the_same_messages() -> None:
    history = (system(), user(), answer(), user())
    assert all(new is old for new, old in zip(alternate(history), history, strict=True))


def test_an_answer_that_would_come_first_gets_a_user_message_before_it() -> None:
    rendered = alternate((system(), answer("Welcome"), user("hi")))
    assert [message.role for message in rendered] == ["system", "user", "assistant", "user"]
    assert rendered[1] == OPENING
