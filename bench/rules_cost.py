"""What it costs to keep all rules in view: the full system message in front of every request.

The seed sends it once and then a sentence; in `auto` this engine sends it always, because a cache
reads it for a tenth of the price. Priced on the same log for both.
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
from plugin.bench.measures import PRICE_MODELS, Messages, steps
from plugin.bench.replay import points
from plugin.bench.seed import request_with_rules
from plugin.user_context_loader import UserContext, load_system_context

SYSTEM_CONTEXT = Path(__file__).resolve().parent.parent / "system_context"
ENVIRONMENT = "87 packages, 523 node types, 150 models"


def rules_cost(log: Messages, window: int) -> dict[str, dict[str, float]]:
    """Mean priced tokens of a request under each price model: the seed's, ours in `auto` with the
    rules within `window` tokens, and ours as a share of the seed's."""
    full = get_system_message(load_system_context(SYSTEM_CONTEXT).text, UserContext(), ENVIRONMENT)
    spoken = [message for message in log if message["role"] != "system"]
    asked = [at for at, row in enumerate(spoken) if at and row["role"] == "assistant"]
    chat = ChatContext(
        replace(Settings(), prompt_cache="auto"),
        Budget.of_messages(window),
        SystemText(full.text, "full"),
    )
    ours = steps([line["messages"] for line in points(chat, spoken)])
    seeds = steps([request_with_rules(spoken[:at], full.text) for at in asked])
    return {
        model.name: {
            "seed": round(seed := fmean(step.price(model) for step in seeds), 1),
            "ours": round(own := fmean(step.price(model) for step in ours), 1),
            "share": round(own / seed, 3),
        }
        for model in PRICE_MODELS
    }
