"""LLM summaries of a chat: when they are requested, when requests have them, and when they are
dropped."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.compaction_policy import most_after
from plugin.assistant.context.projections import Projections
from plugin.assistant.context.summary.text import MARKER, MOST_WORDS
from plugin.assistant.context.system import SystemText
from plugin.assistant.context.window import Budget, Window
from plugin.assistant.messages.prompt import PromptMessage

from .histories import HISTORIES, Messages, a_round, answer, law, user

TOLD = "Goal: a fox in the snow\nNext step: the upscaler"
PLAIN = Settings(summary="auto")
CACHED = Settings(summary="auto", prompt_cache="auto")
SYSTEM = SystemText("You help with ComfyUI.", "full")
READ = 5000
TOOLS = ({"type": "function", "function": {"name": "x", "parameters": {}}},)


def talk(turns: int, words: int = 40, start: int = 0) -> list[PromptMessage]:
    """`turns` different questions with their answers, each of `words` words."""
    said = (user, answer)
    return [
        said[n % 2](f"Number {n}: " + f"word{n} " * words)
        for n in range(2 * start, 2 * (start + turns))
    ]


def context_of(
    messages: list[PromptMessage],
    settings: Settings = PLAIN,
    window: int = 32_768,
    projections: Projections | None = None,
) -> ChatContext:
    budget = Budget(Window(window, known=True))
    return ChatContext(settings, budget, SYSTEM, TOOLS, messages, projections)


def cut(messages: list[PromptMessage], settings: Settings = PLAIN) -> ChatContext:
    """The context of a chat with a cut: more messages than the limit allows."""
    context = context_of(messages, settings)
    context.append(user("And now?"))
    context.plan()
    assert context.projections.cuts
    return context


def summary_of(context: ChatContext) -> str:
    return next(m.text for m in context.plan().messages if m.text.startswith(MARKER))


def test_nothing_is_to_be_told_before_a_cut() -> None:
    assert context_of(talk(5)).summary_request(READ) is None


def test_the_cut_rows_are_to_be_told_and_no_others() -> None:
    context = cut(talk(14))
    request = context.summary_request(READ)
    assert request is not None
    assert request.end == context.projections.end
    told = [int(line.split("]")[0][2:]) for line in request.source.splitlines() if line[:2] == "[r"]
    # Rows 0 and 1 are the pinned first request and its answer, which are still sent.
    assert told == list(range(2, request.end))


def test_what_was_told_shows_at_once_where_nothing_is_cached_and_is_not_asked_again() -> None:
    context = cut(talk(14))
    request = context.summary_request(READ)
    assert request is not None
    assert context.add_llm_summary(TOLD, request.end)
    text = summary_of(context)
    assert "What happened:\n- Goal: a fox in the snow\n- Next step: the upscaler" in text
    assert text.count(MARKER) == 1
    assert context.summary_request(READ) is None


def test_the_computed_sections_stay_beside_what_was_told() -> None:
    context = cut([user("A fox, never a cat, seed 421337"), *a_round("a"), *talk(14, start=1)])
    before = summary_of(context)
    context.add_llm_summary(TOLD, context.projections.end)
    after = summary_of(context)
    for title in ("Last said", "Requests, newest first"):
        assert title in before
        assert title in after


def test_the_next_cut_asks_for_the_new_rows_with_the_last_text() -> None:
    context = cut(talk(14))
    end = context.projections.end
    context.add_llm_summary(TOLD, end)
    for message in [answer("So."), *talk(10, start=20), user("And now?")]:
        context.append(message)
    context.plan()
    request = context.summary_request(READ)
    assert request is not None
    assert request.last == TOLD
    assert f"[r{end}]" in request.source
    assert f"[r{end - 1}]" not in request.source


def test_only_what_was_told_so_far_counts_as_told() -> None:
    context = cut(talk(30))
    first = context.summary_request(400)
    assert first is not None
    assert first.end < context.projections.end
    context.add_llm_summary(TOLD, first.end)
    rest = context.summary_request(READ)
    assert rest is not None
    assert f"[r{first.end}]" in rest.source
    assert f"[r{first.end - 1}]" not in rest.source


def test_no_model_is_asked_where_the_summary_has_no_room_for_it() -> None:
    context = context_of(talk(14, words=20), window=1024)
    context.append(user("And now?"))
    context.plan()
    assert context.projections.cuts
    assert context.summary_request(READ) is None


def test_without_summaries_there_is_nothing_to_tell() -> None:
    assert cut(talk(14), replace(PLAIN, summary="off")).summary_request(READ) is None


def near_its_cut() -> ChatContext:
    """A cached chat that fills most of its window, without a cut so far."""
    context = context_of(talk(20), CACHED, window=8_192)
    assert not context.projections.cuts
    return context


def fill(context: ChatContext) -> None:
    """Appends turns until there is one more cut."""
    cuts = len(context.projections.cuts)
    for turn in range(40, 400):
        for message in talk(1, start=turn):
            context.append(message)
            if message.role == "user":
                context.plan()
        if len(context.projections.cuts) > cuts:
            return


def test_where_prompts_are_cached_the_request_itself_is_told_before_the_cut() -> None:
    context = near_its_cut()
    sent = context.plan().messages
    request = context.summary_request_before_cut()
    assert request is not None
    assert request.messages[: len(sent)] == sent
    assert request.tools == TOOLS
    assert request.end == len(context)


def test_a_cut_that_is_far_is_not_told_ahead() -> None:
    assert context_of(talk(5), CACHED, window=8_192).summary_request_before_cut() is None
    assert context_of(talk(60)).summary_request_before_cut() is None


def test_what_was_told_ahead_is_not_asked_again_until_much_is_new() -> None:
    context = near_its_cut()
    context.add_llm_summary(TOLD, len(context))
    for message in talk(2, start=40):
        context.append(message)
    assert context.summary_request_before_cut() is None


def test_where_prompts_are_cached_it_shows_with_the_next_cut_only() -> None:
    context = near_its_cut()
    before = context.plan().messages
    context.add_llm_summary(TOLD, len(context))
    assert context.plan().messages == before
    fill(context)
    assert "- Goal: a fox in the snow" in summary_of(context)
    assert context.summary_request(READ) is None


def test_a_cut_that_was_not_told_ahead_keeps_its_text_for_the_next_one() -> None:
    context = near_its_cut()
    fill(context)
    before = context.plan().messages
    request = context.summary_request(READ)
    assert request is not None
    context.add_llm_summary(TOLD, request.end)
    assert context.plan().messages == before
    assert context.summary_request(READ) is None
    fill(context)
    assert "- Goal: a fox in the snow" in summary_of(context)


@pytest.mark.parametrize("settings", [PLAIN, CACHED])
def test_what_was_told_survives_a_restart(settings: Settings) -> None:
    context = near_its_cut()
    fill(context)
    context.add_llm_summary(TOLD, context.projections.end)
    again = context_of(list(context.rows()), CACHED, 8_192, context.projections)
    assert again.plan().messages == context.plan().messages
    assert again.summary_request(READ) is None


def test_an_edit_of_rows_that_were_told_ahead_drops_what_was_told() -> None:
    context = near_its_cut()
    context.compact()
    llm_end = len(context)
    assert llm_end > context.projections.end
    context.add_llm_summary(TOLD, llm_end, at_once=True)
    assert "a fox" in summary_of(context)
    rows = [*context.rows()[:-1], answer("Something else.")]
    again = context_of(rows, CACHED, 8_192, context.projections)
    assert again.projections.cuts == context.projections.cuts
    assert again.projections.last_llm_summary == ("", 0)
    assert "a fox" not in summary_of(again)


def test_an_edit_of_rows_that_wait_to_be_shown_drops_them() -> None:
    context = near_its_cut()
    context.add_llm_summary(TOLD, len(context))
    rows = [*context.rows()[:-1], answer("Something else.")]
    assert context_of(rows, CACHED, 8_192, context.projections).projections.llm_summary is None


def test_a_compaction_by_hand_cuts_what_no_limit_asks_for() -> None:
    context = context_of(talk(10))
    rows = context.rows()
    saving = context.compact()
    assert saving is not None
    assert saving.after == context.tokens <= most_after(saving.before)
    assert context.projections.end == len(rows) - PLAIN.min_recent_messages
    assert context.rows() == rows


def test_there_is_nothing_to_compact_in_a_short_chat() -> None:
    context = context_of(talk(5))
    assert context.compact() is None
    assert context.projections == Projections()


def test_a_compaction_that_saves_too_little_is_not_committed() -> None:
    context = context_of([*talk(4, words=1), *talk(3, words=900, start=4)])
    assert context.compact() is None
    assert context.projections == Projections()


def test_a_second_compaction_without_new_input_finds_nothing() -> None:
    context = context_of(talk(10))
    assert context.compact() is not None
    committed = context.projections
    assert context.compact() is None
    assert context.projections is committed


def test_a_text_that_would_cost_the_saving_is_not_taken() -> None:
    context = context_of(talk(10))
    saving = context.compact()
    assert saving is not None
    committed = context.projections
    assert not context.add_llm_summary(TOLD, context.projections.end, most_tokens=saving.after)
    assert context.projections is committed


def test_after_a_compaction_by_hand_what_was_told_shows_at_once_in_any_mode() -> None:
    context = near_its_cut()
    request = context.summary_request_before_cut("foxes", manual=True)
    assert request is not None
    assert request.messages[-1].text.endswith("foxes")
    assert context.compact() is not None
    context.add_llm_summary(TOLD, request.end, at_once=True)
    assert "- Goal: a fox in the snow" in summary_of(context)


@law
@given(HISTORIES, st.lists(st.integers(0, 3), max_size=6), st.sampled_from([PLAIN, CACHED]))
def test_whatever_is_told_and_compacted_the_log_stays_and_the_summary_is_bounded(
    history: Messages, steps: list[int], settings: Settings
) -> None:
    context = context_of([*history, user("end")], settings, window=4096)
    for step in steps:
        if step == 0:
            context.append(user("more " * 50))
        elif step == 1:
            before = context.tokens
            saving = context.compact()
            assert saving is None or context.tokens <= most_after(before)
        elif request := context.summary_request(READ) or context.summary_request_before_cut(
            manual=True
        ):
            context.add_llm_summary(TOLD, request.end, at_once=step == 2)
        rows = context.rows()
        messages = context.plan().messages
        assert context.rows() == rows
        summaries = [m.text for m in messages if m.text.startswith(MARKER)]
        assert len(summaries) <= 1
        assert all(len(text.split()) <= MOST_WORDS + 60 for text in summaries)
        again = ChatContext(
            settings,
            Budget(Window(4096, known=True)),
            SYSTEM,
            TOOLS,
            context.rows(),
            context.projections,
        )
        assert again.plan().messages == messages
