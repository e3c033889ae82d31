"""Which limit is named in a report, and how far each limit is, over HTTP (R32)."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin.tests.chatting import chatting
from plugin.tests.turn.idling import TOLD
from plugin.tests.turn.test_compacting import BY_RULE, context, talk, until_cut

NO_COUNT = {"LLM_HISTORY_MAX_MESSAGES": "0"}
SETTINGS = (
    "LLM_HISTORY_MAX_MESSAGES",
    "LLM_SUMMARY_MAX_MESSAGES",
    "LLM_SUMMARY_MAX_TURNS",
    "LLM_SUMMARY_MAX_TOKENS",
    "LLM_SUMMARY_TRIGGER",
    "LLM_CONTEXT_WINDOW",
)
CAUSES = {
    "LLM_HISTORY_MAX_MESSAGES": {"LLM_HISTORY_MAX_MESSAGES": "12"},
    "LLM_SUMMARY_MAX_MESSAGES": {**NO_COUNT, "LLM_SUMMARY_MAX_MESSAGES": "10"},
    "LLM_SUMMARY_MAX_TURNS": {**NO_COUNT, "LLM_SUMMARY_MAX_TURNS": "4"},
    "LLM_SUMMARY_MAX_TOKENS": {
        **NO_COUNT,
        "LLM_SUMMARY_MAX_MESSAGES": "0",
        "LLM_SUMMARY_MAX_TURNS": "0",
        "LLM_SUMMARY_MAX_TOKENS": "7000",
    },
    "LLM_SUMMARY_TRIGGER": {**NO_COUNT, "LLM_CONTEXT_WINDOW": "8192"},
    "LLM_CONTEXT_WINDOW": {"LLM_PROMPT_CACHE": "auto", "LLM_CONTEXT_WINDOW": "8192"},
}


@pytest.mark.parametrize("setting", CAUSES)
async def test_a_limit_is_named_only_if_it_was_the_one(tmp_path: Path, setting: str) -> None:
    async with chatting(tmp_path, {**BY_RULE, **CAUSES[setting]}) as chat:
        await until_cut(chat)
        named = set((await context(chat))["limits_applied"])
        assert named & set(SETTINGS) == {setting}


async def test_a_cut_by_the_user_names_no_limit(tmp_path: Path) -> None:
    async with chatting(tmp_path, NO_COUNT) as chat:
        await talk(chat, 8)
        chat.provider.queue(TOLD)
        assert (await chat.command(type="compact")).status == 202
        report = await context(chat)
        assert report["cuts"] == 1
        assert not set(report["limits_applied"]) & set(SETTINGS)


async def test_every_limit_is_told_with_its_progress(tmp_path: Path) -> None:
    async with chatting(tmp_path, BY_RULE) as chat:
        await talk(chat, 3)
        report = await context(chat)
        triggers = {trigger["setting"]: trigger for trigger in report["triggers"]}
        assert set(triggers) == {
            "LLM_SUMMARY_TRIGGER",
            "LLM_HISTORY_MAX_MESSAGES",
            "LLM_SUMMARY_MAX_MESSAGES",
            "LLM_SUMMARY_MAX_TURNS",
        }
        assert triggers["LLM_HISTORY_MAX_MESSAGES"] == {
            "what": "messages",
            "setting": "LLM_HISTORY_MAX_MESSAGES",
            "now": 5,
            "at": 24,
            "share": 0.208,
        }
        assert triggers["LLM_SUMMARY_MAX_TURNS"]["now"] == 3
        nearest = max(report["triggers"], key=lambda trigger: trigger["share"])
        assert report["next_trigger"] == {n: nearest[n] for n in ("what", "now", "at", "share")}
        text = (await chat.say("/context")).text
        assert "The next summary comes when one of these limits is passed:" in text
        assert "- 5 of 24 messages (21 %): LLM_HISTORY_MAX_MESSAGES" in text
        assert "- 5 of 30 messages since the last summary (17 %): LLM_SUMMARY_MAX_MESSAGES" in text
        assert "- 3 of 20 turns since the last summary (15 %): LLM_SUMMARY_MAX_TURNS" in text
        assert "The next turn meets none of these limits." in text


async def test_a_report_says_whether_the_next_turn_meets_a_limit(tmp_path: Path) -> None:
    async with chatting(tmp_path, {**BY_RULE, "LLM_HISTORY_MAX_MESSAGES": "16"}) as chat:
        due = [
            (await talk(chat, 1, turn)).of("data-context")[-1]["data"]["due"] for turn in range(8)
        ]
        # After eight turns there are 16 messages, and the next one is one too many.
        assert due == [False] * 7 + [True]
        report = await context(chat)
        assert (report["cuts"], report["due"]) == (1, False)


async def test_without_summaries_the_limits_that_cut_are_told_as_such(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_SUMMARY": "off"}) as chat:
        await talk(chat, 2)
        report = await context(chat)
        assert report["next_trigger"] is None
        assert [trigger["setting"] for trigger in report["triggers"]] == [
            "LLM_CONTEXT_WINDOW",
            "LLM_HISTORY_MAX_MESSAGES",
        ]
        assert "Summaries are off." in (await chat.say("/context")).text
