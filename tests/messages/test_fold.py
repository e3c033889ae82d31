"""Folding chunks into a message."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from plugin.assistant.messages import chunks
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.fold import MessageFold, fold, merged
from plugin.assistant.messages.parts import (
    Approval,
    DataPart,
    FilePart,
    Message,
    OpaquePart,
    Part,
    StepStart,
    TextPart,
    ToolPart,
)
from plugin.assistant.messages.ui import message_from_ui, message_to_ui

from .strategies import answers

EMPTY = Message("m1", "assistant", ())
law = settings(max_examples=80)


def announced(call_id: str = "c", value: object = None) -> list[Chunk]:
    return [
        chunks.tool_input_start(call_id, "getUserSkill", "Read the skill", on_server=True),
        chunks.tool_input_available(
            call_id, "getUserSkill", "Read the skill", value or {}, on_server=True
        ),
    ]


@law
@given(answers())
def test_any_answer_folds_to_its_message(answer: tuple[list[Chunk], Message]) -> None:
    sent, expected = answer
    assert fold(EMPTY, sent) == expected


@law
@given(answers())
def test_looking_in_between_changes_nothing(answer: tuple[list[Chunk], Message]) -> None:
    sent, expected = answer
    folding = MessageFold(EMPTY)
    seen = []
    for chunk in sent:
        folding.add(chunk)
        seen.append((folding.message, message_to_ui(folding.message)))
    assert folding.message == expected
    assert all(message_to_ui(message) == body for message, body in seen)


@law
@given(answers())
def test_what_an_answer_folds_to_is_read_back_equal(answer: tuple[list[Chunk], Message]) -> None:
    message = fold(EMPTY, answer[0])
    assert message_from_ui(message_to_ui(message)) == message


@law
@given(answers(), answers())
def test_a_continued_answer_keeps_what_it_had(
    first: tuple[list[Chunk], Message], second: tuple[list[Chunk], Message]
) -> None:
    def added(message: Message) -> list[Part]:
        """The parts that no later chunk can replace."""
        return [p for p in message.parts if not (isinstance(p, DataPart) and p.id)]

    whole = fold(fold(EMPTY, first[0]), second[0])
    assert added(whole) == [*added(first[1]), *added(second[1])]


def test_an_id_used_again_in_a_later_step_is_another_call() -> None:
    again = [chunks.start_step(), *announced(value={"slug": "b"})]
    message = fold(EMPTY, [chunks.start_step(), *announced(value={"slug": "a"}), *again])
    assert [part.input for part in message.tool_parts] == [{"slug": "a"}, {"slug": "b"}]


def test_an_output_goes_to_the_newest_call_with_its_id() -> None:
    twice = [*announced(), chunks.start_step(), *announced()]
    message = fold(EMPTY, [*twice, chunks.tool_output_available("c", "late", on_server=True)])
    assert [part.state for part in message.tool_parts] == ["input-available", "output-available"]


def test_an_output_settles_a_call_of_an_earlier_step() -> None:
    suspended = fold(EMPTY, [chunks.start_step(), *announced(), chunks.finish_step()])
    done = chunks.tool_output_available("c", 7, on_server=True)
    assert fold(suspended, [chunks.start("m1", {}), done]).tool_parts[0].output == 7


def test_a_refused_call_keeps_the_title_that_announced_it() -> None:
    refused = chunks.tool_input_error("c", "getUserSkill", "Another title", {}, "no")
    message = fold(EMPTY, [announced()[0], refused])
    assert message.tool_parts[0].title == "Read the skill"
    assert fold(EMPTY, [refused]).tool_parts[0].title is None


def test_an_approval_stays_with_the_call_when_it_is_done() -> None:
    asked = fold(EMPTY, [*announced(), chunks.tool_approval_request("c", "ask")])
    part = fold(asked, [chunks.tool_output_available("c", 1, on_server=True)]).tool_parts[0]
    assert part.approval == Approval("ask")


def test_a_later_outcome_replaces_the_earlier_one_whole() -> None:
    failed = fold(EMPTY, [*announced(), chunks.tool_output_error("c", "no", on_server=True)])
    part = fold(failed, [chunks.tool_output_available("c", 1, on_server=True)]).tool_parts[0]
    assert (part.output, part.error_text) == (1, None)


def test_another_message_id_begins_an_empty_message() -> None:
    old = Message("old", "assistant", (TextPart("before"),), {"model": "x"})
    assert fold(old, [chunks.start("new", {})]) == Message("new", "assistant", ())


def test_the_same_message_id_continues_the_message() -> None:
    old = Message("m1", "assistant", (TextPart("before"),), {"model": "x"})
    assert fold(old, [chunks.start("m1", {"steps": 2})]) == replace(
        old, metadata={"model": "x", "steps": 2}
    )


def test_a_data_part_of_the_same_name_and_id_is_replaced_in_place() -> None:
    sent = [
        chunks.data("progress", 1, part_id="p"),
        chunks.notice("x", "y"),
        chunks.data("progress", 2, part_id="p"),
        chunks.data("other", 3, part_id="p"),
    ]
    names = [(p.name, p.data) for p in fold(EMPTY, sent).parts if isinstance(p, DataPart)]
    assert names == [("progress", 2), ("notice", {"code": "x", "message": "y"}), ("other", 3)]


def test_transient_data_is_not_kept() -> None:
    assert fold(EMPTY, [chunks.data("context", {}, transient=True)]).parts == ()


def test_files_and_sources_are_kept() -> None:
    source = {"type": "source-url", "sourceId": "s", "url": "https://example.org"}
    image = {"type": "file", "mediaType": "image/png", "url": "data:,"}
    expected = (OpaquePart(source), FilePart("image/png", "data:,"))
    assert fold(EMPTY, [source, image]).parts == expected


def test_an_error_or_an_abort_leaves_the_message_as_it_is() -> None:
    sent = [chunks.text_start("t"), chunks.text_delta("t", "so far"), chunks.text_end("t")]
    assert fold(EMPTY, [*sent, chunks.error("no"), chunks.abort("stopped")]).text == "so far"


def test_metadata_is_merged_object_by_object() -> None:
    base = {"usage": {"input_tokens": 1}, "model": "a", "list": [1]}
    update = {"usage": {"output_tokens": 2}, "model": "b", "list": [2]}
    assert merged(base, update) == {
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "model": "b",
        "list": [2],
    }


@pytest.mark.parametrize(
    "chunk",
    [
        chunks.text_delta("t", "x"),
        chunks.text_end("t"),
        chunks.reasoning_delta("t", "x"),
        chunks.tool_input_delta("c", "{"),
        chunks.tool_output_available("c", 1, on_server=True),
        chunks.tool_output_denied("c"),
        chunks.tool_approval_request("c", "a"),
        {"type": "tool-unheard-of", "toolCallId": "c"},
        {"type": "unheard-of"},
    ],
    ids=lambda chunk: chunk["type"],
)
def test_a_chunk_that_no_client_would_accept_is_refused(chunk: Chunk) -> None:
    with pytest.raises(ValueError, match=r"not started|unknown"):
        fold(EMPTY, [chunk])


def test_a_part_is_closed_when_its_step_ends() -> None:
    opened = [chunks.start_step(), chunks.text_start("t"), chunks.finish_step()]
    with pytest.raises(ValueError, match="not started"):
        fold(EMPTY, [*opened, chunks.text_delta("t", "x")])


def test_a_call_part_is_a_tool_part_with_its_title_and_place() -> None:
    message = fold(EMPTY, [chunks.start_step(), *announced(value={"slug": "a"})])
    assert message.parts == (
        StepStart(),
        ToolPart(
            "c",
            "getUserSkill",
            "input-available",
            input={"slug": "a"},
            title="Read the skill",
            provider_executed=True,
        ),
    )
