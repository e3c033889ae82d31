"""The body of POST /api/chat as a request for a turn."""

from typing import Any

import pytest
from plugin.assistant.chats.reconcile import REGENERATE, SUBMIT
from plugin.assistant.errors import InvalidRequest
from plugin.assistant.routes.turns import TurnBody
from plugin.assistant.validation import parsed


def trigger_of(given: Any) -> str:
    message = {"role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    body: TurnBody = parsed(TurnBody, {"message": message, "trigger": given})
    return body.turn_request().trigger


@pytest.mark.parametrize("given", [None, "", False, 0, [], {}, SUBMIT])
def test_an_empty_trigger_means_the_default(given: Any) -> None:
    assert trigger_of(given) == SUBMIT


def test_another_trigger_is_taken_as_it_is() -> None:
    assert trigger_of(REGENERATE) == REGENERATE


@pytest.mark.parametrize("given", [True, 1, "again", ["submit-message"]])
def test_a_trigger_that_there_is_not_is_refused(given: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        trigger_of(given)
    assert refused.value.where == "trigger"
