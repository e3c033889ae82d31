"""The parameters that the command `set_params` changes, as they are read from JSON."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ..chats import ApprovalMode, RunBudget
from ..chats.permissions import APPROVAL_MODES, MOST_MINUTES, MOST_RUNS
from ..config import REASONING_EFFORTS, TEMPERATURES
from ..errors import InvalidRequest
from ..validation import Body, Changes, Number, Whole

LONGEST_NAME = 200
"""Characters of a provider's or a model's name."""

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=r"\S")]


@dataclass(frozen=True, slots=True)
class ApprovalChange:
    """The chat's approval mode from now on; None is the default. A `budget` without a `mode` renews
    that of a chat in the mode `budget`."""

    mode: ApprovalMode | None
    budget: RunBudget | None


class BudgetBody(Body):
    """How many runs of workflows go through without a question, and for how many minutes."""

    runs: Annotated[Whole, Field(ge=1, le=MOST_RUNS)]
    minutes: Annotated[Number, Field(gt=0, le=MOST_MINUTES)]


class ParamChanges(Changes):
    """null gives a parameter the value of the settings again."""

    provider: Name | None = None
    model: Name | None = None
    temperature: Annotated[Number, Field(ge=TEMPERATURES[0], le=TEMPERATURES[1])] | None = None
    reasoning: Literal[REASONING_EFFORTS] | None = None  # type: ignore[valid-type]
    approval: Literal[APPROVAL_MODES] | None = None  # type: ignore[valid-type]
    budget: BudgetBody | None = None

    @property
    def approval_change(self) -> ApprovalChange | None:
        """Raises InvalidRequest for a mode and a budget that do not go together."""
        if not self.model_fields_set & {"approval", "budget"}:
            return None
        chosen = "approval" in self.model_fields_set
        if self.budget is None and (self.approval == "budget" or not chosen):
            raise InvalidRequest("expected the runs and minutes", where="params.budget")
        if self.budget is not None and chosen and self.approval != "budget":
            raise InvalidRequest("this approval mode takes no budget", where="params.budget")
        budget = RunBudget(self.budget.runs, self.budget.minutes) if self.budget else None
        return ApprovalChange(self.approval, budget)
