"""Replay: one line for each point before an assistant message, and every handle's content."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.window import Budget
from plugin.bench.replay import points, run
from plugin.bench.session import Session, Shape, write_session
from plugin.bench.truth import Truth
from plugin.bench.validity import faults

pytest.importorskip("comfyui_workflow_templates_json")

WINDOW = 8_000


@pytest.fixture(scope="module")
def session() -> Session:
    return write_session(3, Shape(messages=200))


def chat(cache: str = "none") -> ChatContext:
    return ChatContext(replace(Settings(), prompt_cache=cache), Budget.of_messages(WINDOW))


@pytest.mark.parametrize("cache", ["none", "auto"])
def test_every_point_before_an_assistant_message_has_one_valid_line(
    session: Session, cache: str
) -> None:
    lines = list(points(chat(cache), session.messages))
    asked = [at for at, row in enumerate(session.messages) if row["role"] == "assistant"]
    assert [line["at"] for line in lines] == asked
    assert all(faults(line["messages"]) == [] for line in lines)
    assert set(lines[0]) == {"at", "messages", "tokens", "ms", "left_out", "report"}


def test_every_fact_is_shown_or_behind_a_handle_that_is_written(session: Session) -> None:
    out, handles = io.StringIO(), io.StringIO()
    run(chat(), session.messages, out, handles)
    contents = [json.loads(line) for line in handles.getvalue().splitlines()]
    assert len({row["handle"] for row in contents}) == len(contents)
    truth = Truth(
        session.messages,
        session.facts,
        session.edits,
        {row["handle"]: row["content"] for row in contents},
    )
    last = json.loads(out.getvalue().splitlines()[-1])
    assert last["left_out"]
    assert "lost" not in truth.place_of_facts(last).values()
    assert "lost" not in truth.place_of_edits(last).counts


def test_a_refused_plan_is_a_line_that_says_why() -> None:
    log: list[dict[str, Any]] = [
        {"role": "user", "content": "word " * 50_000},
        {"role": "assistant", "content": "ok"},
    ]
    (line,) = points(chat(), log)
    assert line["messages"] == []
    assert "window" in line["error"]
