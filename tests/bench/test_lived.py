"""Chats lived through the product's own turns: what leaves is what the benchmark sees."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plugin.bench.lived import Round, Sent, Wanted, copied, living, text_messages
from plugin.bench.lived_log import LivedTurn, LoggedTurn, lived_turns, logged_turns
from plugin.bench.validity import faults
from plugin.bench.whole import Shown, due_whole, tail_start

WANTED = Wanted("none", 32_768)
CALL = Round("I look.", (("lookAround", '{"where": "here"}'),))
DONE = Round("Done.")


def contents(sent: Sent) -> list[Any]:
    return [message["content"] for message in sent.spoken]


async def lived(turns: Sequence[LoggedTurn], wanted: Wanted = WANTED) -> list[LivedTurn]:
    return [turn async for turn in lived_turns(turns, wanted)]


async def test_a_question_in_an_imported_chat_is_the_last_message_of_its_request(
    tmp_path: Path,
) -> None:
    async with living(tmp_path, WANTED) as chats:
        await chats.import_chat("c1", text_messages(["Hello", "Good morning"]))
        (sent,) = await chats.turn("c1", "What did I say?", [DONE])
    assert contents(sent) == ["Hello", "Good morning", "What did I say?"]
    assert sent.report["total"]["tokens"] > 0


async def test_a_copy_of_a_chat_does_not_know_the_question_of_another_copy(tmp_path: Path) -> None:
    async with living(tmp_path, WANTED) as chats:
        await chats.turn("c1", "Hello", [Round("Good morning")])
    for question in ("First?", "Second?"):
        with copied(tmp_path) as copy:
            async with living(copy, WANTED) as chats:
                (sent,) = await chats.turn("c1", question, [DONE])
        assert contents(sent) == ["Hello", "Good morning", question]


async def test_settings_are_those_of_the_variables_and_else_the_defaults() -> None:
    changed = Wanted("auto", 4_096, {"LLM_RECALL_TOKENS": "77"}).settings
    assert (changed.prompt_cache, changed.recall_tokens) == ("auto", 77)


async def test_calls_of_a_log_return_the_results_of_the_log() -> None:
    log: list[dict[str, Any]] = [
        {"role": "system", "content": "Of another program."},
        {"role": "user", "content": "Look around."},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "a", "function": {"name": "lookAround", "arguments": "{}"}},
                {"id": "b", "function": {"name": "lookBehind", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"seen": 1}'},
        {"role": "tool", "tool_call_id": "b", "content": "a tree"},
        {"role": "assistant", "content": "There is a tree."},
    ]
    (turn,) = await lived(list(logged_turns(log)))
    assert [row.text for row in turn.rounds[0]] == ["I look.", '{"seen":1}', "a tree"]
    assert [row.text for row in turn.rounds[1]] == ["There is a tree."]
    assert len(turn.sent) == 2
    assert contents(turn.sent[1])[-2:] == ['{"seen":1}', "a tree"]
    assert all(faults(sent.messages) == [] for sent in turn.sent)


async def test_results_of_the_running_turn_are_due_and_a_shortened_result_is_not_whole() -> None:
    result = json.dumps({"b": "x" * 50, "a": 2})
    (turn,) = await lived([LoggedTurn("Look.", (CALL, DONE), (result,))])
    assert due_whole(turn, 0, "none") == []
    (row,) = due_whole(turn, 1, "none")
    shown = Shown.of(turn.sent[1])
    assert shown.has(row)
    assert not Shown(tuple(text.replace("xxx", "") for text in shown.texts), shown.calls).has(row)
    assert not Shown.of(turn.sent[0]).has(turn.rounds[0][0])


async def test_the_tail_begins_after_the_last_row_that_the_request_lacks() -> None:
    *_, turn = await lived([LoggedTurn(f"Say {n}.", (Round(f"It is {n}."),)) for n in range(4)])
    rows, sent = (*turn.before, *turn.running(0)), turn.sent[0]
    assert tail_start(rows, sent) == 0
    without = [message for message in sent.messages if message["content"] != "It is 1."]
    assert tail_start(rows, Sent(without, sent.tools, sent.report)) == 4
    assert rows[4].role == "user"
