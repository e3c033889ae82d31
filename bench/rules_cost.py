"""The cost of the full system message in every request, compared with the fixed rule.

The fixed rule (`fixed_rule.py`) sends the full system message on the first turn and one sentence on
later turns; in `auto` the engine sends the full message with every request, because a cached token
costs a tenth of the price. Both are priced on the same log.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

from plugin.agent_prompts import get_system_message
from plugin.assistant.config import Settings
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.system import SystemText
from plugin.assistant.context.window import Budget
from plugin.bench.fixed_rule import request_with_rules
from plugin.bench.measures import PRICE_MODELS, Messages, steps
from plugin.bench.replay import points
from plugin.user_context_loader import UserContext, load_system_context

SYSTEM_CONTEXT = Path(__file__).resolve().parent.parent / "system_context"
ENVIRONMENT = "87 packages, 523 node types, 150 models"


def rules_cost(log: Messages, window: int) -> dict[str, dict[str, float]]:
    """Mean priced tokens of a request under each price model: with the fixed rule, with the
    engine in `auto` within `window` tokens (the rules included), and the second as a share of the
    first."""
    full = get_system_message(load_system_context(SYSTEM_CONTEXT).text, UserContext(), ENVIRONMENT)
    spoken = [message for message in log if message["role"] != "system"]
    asked = [at for at, row in enumerate(spoken) if at and row["role"] == "assistant"]
    chat = ChatContext(
        replace(Settings(), prompt_cache="auto"),
        Budget.of_messages(window),
        SystemText(full.text, "full"),
    )
    ours = steps([line["messages"] for line in points(chat, spoken)])
    theirs = steps([request_with_rules(spoken[:at], full.text) for at in asked])
    return {
        model.name: {
            "fixed_rule": round(fixed := fmean(step.price(model) for step in theirs), 1),
            "ours": round(own := fmean(step.price(model) for step in ours), 1),
            "share": round(own / fixed, 3),
        }
        for model in PRICE_MODELS
    }
