"""The report of a plan, in words and as JSON."""

import json
from dataclasses import fields

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.context.report import PARTS, Report, RequestUsage, Size
from plugin.assistant.formats import MOST

LIMITS = tuple(
    field.metadata["variable"]
    for field in fields(Settings)
    if field.name.endswith(("_chars", "_rounds", "_messages", "_rules", "_window"))
)
WORST = Report(
    first_turn=False,
    system_kind="continuation",
    parts={part.name: Size(MOST, MOST) for part in PARTS},
    window=MOST,
    reserve=4_096,
    limits_applied=LIMITS,
    left_out=tuple(f"40_a_long_name_of_a_section_{n}.md" for n in range(99)),
    rounds_omitted=99_999,
    results_clamped=99_999,
    messages_trimmed=99_999,
    messages_sent=99_999,
    repairs=99_999,
    request=25,
)


def test_the_header_is_under_a_kilobyte_in_the_worst_case() -> None:
    assert len(json.dumps(WORST.to_header(), separators=(",", ":")).encode()) < 1_000


def test_the_chunk_has_every_part_and_figure_and_no_text() -> None:
    body = WORST.to_json()
    assert list(body["parts"]) == [part.name for part in PARTS]
    assert {"request", "phase", "first_turn", "system_kind", "total", "window", "reserve"} <= set(
        body
    )
    assert {"limits_applied", "rounds_omitted", "results_clamped", "messages_trimmed"} <= set(body)
    assert {"messages_sent", "left_out", "usage"} <= set(body)
    assert json.loads(json.dumps(body)) == body


def test_the_total_is_the_sum_of_the_parts() -> None:
    assert WORST.total == Size(MOST * len(PARTS), MOST * len(PARTS))


def test_after_the_answer_the_report_has_the_provider_s_count() -> None:
    answered = WORST.answered(RequestUsage(1_000, 50, 250)).to_json()
    assert answered["phase"] == "answer"
    assert answered["request"] == WORST.request
    assert answered["usage"] == {
        "input_tokens": 1_000,
        "output_tokens": 50,
        "cached_tokens": 250,
        "cached_share": 0.25,
    }


@pytest.mark.parametrize(
    "usage",
    [RequestUsage(), RequestUsage(0, 0, 0), RequestUsage(10, 1, None), RequestUsage(None, 1, 5)],
)
def test_a_share_that_is_not_known_is_not_made_up(usage: RequestUsage) -> None:
    assert usage.cached_share is None
