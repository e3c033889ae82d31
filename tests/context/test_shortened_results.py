"""Shortened tool results of any chat stay JSON, whole characters, and visibly failed (R14, R17)."""

import json
from dataclasses import replace

from hypothesis import given
from plugin.assistant.config import Settings
from plugin.assistant.context.plan import Budget
from plugin.assistant.messages.json_text import is_utf8

from .histories import Messages, chat_law
from .planning import (
    BUDGETS,
    HUGE,
    LIMITS,
    LOGS,
    planned,
    requests,
    row_of,
    text_of,
)


@chat_law
@given(LOGS, LIMITS, BUDGETS)
def test_shortened_results_stay_json_and_split_no_code_point(
    log: Messages, settings: Settings, budget: Budget
) -> None:
    for request in requests(log, settings, replace(budget, alternation=False)):
        for message in request.messages:
            row = row_of(message)
            if message.role != "tool" or row is None:
                continue
            whole = request.log[row].text
            if whole.lstrip()[:1] in ("{", "[") and is_json(whole):
                assert is_json(message.text)
            if is_utf8(whole):
                assert is_utf8(message.text)
            elif "\ud83d\ude00" in whole and "\ufffd" not in text_of([request.log[row]]):
                assert "\ufffd" not in text_of([message])


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@chat_law
@given(LOGS, LIMITS)
def test_a_failed_call_stays_visibly_failed(log: Messages, settings: Settings) -> None:
    failing = tuple(
        replace(m, content=json.dumps({"error": "boom " + m.text})) if m.failed else m for m in log
    )
    made = planned(failing, settings, Budget(HUGE))
    if made is None or settings.tool_output_trim_chars in (1, 17):
        return
    for message in made.messages:
        if message.role == "tool" and message.failed:
            said = json.loads(message.text)
            said = said.get("value", said)
            assert "error" in said or "boom" in said["excerpt"]
            assert said.get("outcome", "failed") == "failed"
