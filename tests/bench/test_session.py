"""Benchmark sessions: the same seed gives the same log, and its facts and edits are those of the
log."""

import json
from typing import Any

import pytest
from plugin.bench.logs import message_of
from plugin.bench.session import Session, Shape, write_session
from plugin.bench.validity import faults

pytest.importorskip("comfyui_workflow_templates_json")

SHORT = Shape(messages=240)


@pytest.fixture(scope="module")
def session() -> Session:
    return write_session(7, SHORT)


def test_the_same_seed_gives_the_same_session(session: Session) -> None:
    assert write_session(7, SHORT) == session
    assert write_session(8, SHORT).messages != session.messages


def test_a_session_is_a_valid_request_of_the_asked_length(session: Session) -> None:
    assert len(session.messages) >= SHORT.messages
    assert faults(session.messages) == []


def test_a_fact_stands_in_its_message_and_in_none_before_it(session: Session) -> None:
    texts = [json.dumps(message, ensure_ascii=False) for message in session.messages]
    assert session.facts
    for fact in session.facts:
        assert fact["value"] in texts[fact["index"]]
        assert not any(fact["value"] in text for text in texts[: fact["index"]])


def test_a_fact_is_asked_for_without_its_value(session: Session) -> None:
    assert [query["id"] for query in session.queries] == [fact["id"] for fact in session.facts]
    assert not any(query["value"] in query["query"] for query in session.queries)


def test_facts_stand_in_every_kind_of_place() -> None:
    places = {fact["where"] for fact in write_session(1, Shape(messages=900)).facts}
    assert places == {"user", "assistant", "arguments", "result", "error"}


def test_the_net_ledger_is_the_outcome_of_the_steps(session: Session) -> None:
    widgets: dict[str, Any] = {}
    added: dict[str, str] = {}
    removed: dict[str, str] = {}
    for step in session.edits["steps"]:
        node = str(step["node"])
        if step["op"] == "set":
            widgets[f"{node}.{step['widget']}"] = step["new"]
        elif step["op"] == "add":
            added[node] = step["type"]
        else:
            if added.pop(node, None) is None:
                removed[node] = step["type"]
            widgets = {w: v for w, v in widgets.items() if not w.startswith(f"{node}.")}
    assert session.edits["net"] == {"widgets": widgets, "added": added, "removed": removed}


def test_an_edit_was_asked_for_by_the_message_that_the_ledger_names(session: Session) -> None:
    for step in session.edits["steps"]:
        calls = session.messages[step["index"]]["tool_calls"]
        arguments = " ".join(call["function"]["arguments"] for call in calls)
        told = str(step["node"]) if step["op"] != "add" else step["type"]
        assert told in arguments


def test_a_failed_edit_is_not_in_the_ledger(session: Session) -> None:
    failed = {
        message["tool_call_id"]
        for message in session.messages
        if message["role"] == "tool" and message_of(message).failed
    }
    steps = {step["index"] for step in session.edits["steps"]}
    for index, message in enumerate(session.messages):
        calls = [call["id"] for call in message.get("tool_calls", ())]
        if calls and all(call in failed for call in calls):
            assert index not in steps
