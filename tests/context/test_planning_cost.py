"""The cost of planning does not grow with the chat."""

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.context import draft as draft_module
from plugin.assistant.context.tokens import (
    TextTokens,
    message_tokens,
)
from plugin.assistant.messages.prompt import PromptMessage

from .histories import a_round, answer, joined, rounds, user
from .planning import (
    CACHED,
    SMALL,
    a_context,
    numbered,
    plan_of,
)
from .wild import wild_log


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["none", "auto"])
@pytest.mark.parametrize("seed", [3, 4])
def test_a_long_chat_is_opened_with_what_looking_at_all_of_it_would_give(
    monkeypatch: pytest.MonkeyPatch, cache: str, seed: int
) -> None:
    """Rows that are sure to be cut are not reduced to a fidelity first."""
    settings = Settings(prompt_cache=cache, repeat_min_chars=0)
    log = numbered(wild_log(seed, 400))
    context = a_context(settings, SMALL, log)
    quick = plan_of(context)
    monkeypatch.setattr(draft_module, "LONG_TAIL", len(log))
    whole = a_context(settings, SMALL, log)
    assert quick is not None
    assert quick == plan_of(whole)
    assert context.projections == whole.projections


def test_one_more_request_of_a_long_chat_counts_no_more_than_of_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test counts the messages whose tokens are estimated, since the estimate is the costliest
    step."""
    from plugin.assistant.context import log as module

    counted = 0

    def counting(message: PromptMessage, count: TextTokens | None) -> int:
        nonlocal counted
        counted += 1
        return message_tokens(message, count)

    monkeypatch.setattr(module, "message_tokens", counting)
    for settings in (Settings(), CACHED):
        work = []
        for turns in (30, 300):
            chat = joined((user(f"q{n}"), *rounds(1, "word " * 90), answer()) for n in range(turns))
            context = a_context(settings, SMALL)
            for message in (*chat, user()):
                context.append(message)
                if message.role == "user":
                    context.plan()
            counted = 0
            for message in (*a_round("new"), answer(), user("now")):
                context.append(message)
                context.plan()
            work.append(counted)
        assert work[1] <= work[0] + 12
