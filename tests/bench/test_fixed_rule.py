"""The fixed rule: which messages it keeps, replaces and drops."""

from typing import Any

from plugin.agent_prompts import CONTINUATION
from plugin.bench.fixed_rule import KEPT_MESSAGES, OMITTED, request, request_with_rules
from plugin.bench.validity import faults


def chat(rounds: int, calls: int = 1) -> list[dict[str, Any]]:
    log: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(rounds):
        ids = [f"{number}.{call}" for call in range(calls)]
        listed = [{"id": one, "function": {"name": "get", "arguments": "{}"}} for one in ids]
        log.append({"role": "assistant", "content": None, "tool_calls": listed})
        log += [{"role": "tool", "tool_call_id": one, "content": f"result {one}"} for one in ids]
    return log


def test_results_older_than_two_rounds_are_replaced() -> None:
    results = [row["content"] for row in request(chat(4)) if row["role"] == "tool"]
    assert results == [OMITTED, OMITTED, "result 2.0", "result 3.0"]


def test_one_orphan_is_dropped_from_the_last_24_messages() -> None:
    log = [*chat(20), {"role": "user", "content": "more"}]
    assert log[-KEPT_MESSAGES]["role"] == "tool"
    assert request(log)[0]["role"] == "assistant"
    assert len(request(log)) == KEPT_MESSAGES - 1
    assert faults(request(log)) == []


def test_parallel_calls_break_it() -> None:
    log = [*chat(9, 3), {"role": "user", "content": "more"}]
    assert faults(request(log)) == ["0: orphan result", "1: orphan result"]


def test_the_full_system_message_is_sent_on_the_first_turn_only() -> None:
    log = chat(1)
    assert request_with_rules(log, "rules")[0]["content"] == "rules"
    later = [*log, {"role": "assistant", "content": "done"}, {"role": "user", "content": "more"}]
    assert request_with_rules(later, "rules")[0]["content"] == CONTINUATION
