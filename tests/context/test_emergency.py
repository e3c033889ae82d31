"""Emergencies: a request is shortened by force until it fits."""

from dataclasses import replace

from plugin.assistant.config import Settings
from plugin.assistant.context.draft import Draft, PlacedNote, compose
from plugin.assistant.context.emergency import fitted
from plugin.assistant.context.fidelity import IMAGE_NOTE, GroupReducer
from plugin.assistant.context.limits import limits_of
from plugin.assistant.context.log import ChatLog
from plugin.assistant.context.notes import RECALLED, Note
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.tool_facts import ToolFacts
from plugin.assistant.context.window import Budget
from plugin.assistant.messages.prompt import ImageContent, PromptMessage, TextContent

from .histories import Messages, a_round, answer, rounds, system, user

LIMITS = limits_of(Settings(prompt_cache="auto", repeat_min_chars=0), Budget.of_messages(100_000))
LONG = "word " * 500
FACTS = ToolFacts(recall="recall_result")


def forced(messages: Messages, room: int) -> Draft:
    log, reducer = ChatLog(messages, facts=FACTS), GroupReducer(LIMITS.fidelity)
    draft = compose(log, Projections(), None, None, LIMITS, reducer)
    return fitted(draft, room, reducer, log.last_user or 0)


def test_what_fits_is_left_alone() -> None:
    made = forced((user(), *rounds(2)), 5_000)
    assert not made.forced
    assert made.tail == made.whole


def test_older_results_become_lines_before_anything_goes() -> None:
    made = forced((user(), *rounds(6, text=LONG)), 1_500)
    assert made.forced
    assert not made.dropped
    results = [group.results[0] for group in made.tail[1:]]
    assert all(each.reduced == "digest" for each in results[:-1])
    assert results[-1].reduced is None


def test_images_become_text_but_not_that_of_the_message_to_answer() -> None:
    image = PromptMessage("user", (TextContent("look"), ImageContent("data:,")))
    made = forced((image, answer(), image, *a_round("a")), 1_000)
    assert made.tail[0].messages[0].text == f"look{IMAGE_NOTE}"
    assert made.tail[2].messages == (image,)


def test_images_become_text_before_any_result_is_shortened() -> None:
    image = PromptMessage("user", (TextContent("look"), ImageContent("data:,")))
    history = (image, *a_round("a", text=LONG), answer(), user("now"), *a_round("b", text=LONG))
    made = forced(history, 1_500)
    assert made.tail[0].messages[0].text == f"look{IMAGE_NOTE}"
    assert [group.results[0].text for group in made.tail if group.is_round] == [LONG, LONG]


def test_the_oldest_groups_go_and_are_named() -> None:
    made = forced((user("old " * 300), answer(LONG), user("now"), *a_round("a")), 400)
    assert [group.first for group in made.dropped] == [0, 1]
    assert made.tokens <= 400
    assert [group.first for group in made.tail] == [2, 3]


def test_system_messages_stay() -> None:
    made = forced((system("Be brief."), answer(LONG), user("now")), 100)
    assert [group.role for group in made.tail] == ["system", "user"]


def test_the_newest_results_give_up_the_rest_last() -> None:
    made = forced((answer(LONG), user("now"), *a_round("a", "b", text=LONG)), 200)
    assert [group.first for group in made.dropped] == [0]
    assert made.tokens <= 200
    assert len(made.tail[-1].results) == 2


def with_notes(room: int, *notes: PlacedNote) -> Draft:
    """A short chat whose request has these notes, within `room` tokens."""
    log, reducer = ChatLog((user("word " * 50),), facts=FACTS), GroupReducer(LIMITS.fidelity)
    draft = compose(log, Projections(), None, None, LIMITS, reducer, notes)
    return fitted(draft, room, reducer, 0)


def test_passages_of_earlier_turns_go_before_those_of_this_turn_are_shortened() -> None:
    note = Note(RECALLED, ("user: " + "word " * 200,), 400, places=(7,), dates=("",))
    now = PlacedNote.of(note, 0, None)
    earlier = [replace(PlacedNote.of(note, 0, None), stays=True) for _ in range(2)]
    bare = with_notes(10_000).tokens
    for staying in range(3):
        room = bare + (1 + staying) * now.counted.tokens
        made = with_notes(room, *earlier, now)
        assert made.tokens <= room
        assert made.notes[-1] == now
        assert len(made.notes) == 1 + staying
    (shorter,) = with_notes(240, *earlier, now).notes
    assert 100 < shorter.counted.tokens < now.counted.tokens
    assert not shorter.stays
