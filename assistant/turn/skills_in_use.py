"""The skills that a chat uses: which ones the short system message of a turn names (R2, R11, R12).

A skill is in use in the turn that activates it with `/skill` or reads it with a tool, and in the
next `TURNS_IN_USE` turns; a `/skill` ends an earlier `/skill`. The text of a skill that a tool read
is given in full once the requests have it no longer. The text of a `/skill` message holds for its
own turn (R12), so that such a skill is only named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..config import Settings
from ..messages.parts import Message
from ..tools.skill_tools import skill_read
from ..user_context.skills import Skill, SkillSummary
from .conversation import Conversation

TURNS_IN_USE = 3
"""Turns after the turn of a skill, as long as most tasks that need a skill take."""


def skills_in_use(
    history: Sequence[Message], conversation: Conversation, settings: Settings
) -> tuple[Skill | SkillSummary, ...]:
    """The skills in use in the turn that answers the last message of `history`, the newest first:
    a `Skill` where the text is to be given in full, else its summary. The conversation has been fed
    the history."""
    found: dict[str, Skill | SkillSummary] = {}
    for skill in _uses(history, conversation, settings):
        found.setdefault(skill.slug, skill)
    return tuple(found.values())


def activated(message: Message) -> SkillSummary | None:
    """The skill that a user message activates with `/skill`."""
    skill = message.data("skill")
    if message.role != "user" or not isinstance(skill, Mapping):
        return None
    return SkillSummary(str(skill.get("slug")), str(skill.get("name")), "", "user")


def _uses(
    history: Sequence[Message], conversation: Conversation, settings: Settings
) -> Iterator[Skill | SkillSummary]:
    """Each use of a skill, the newest first."""
    turns, ended = 0, False
    for message in reversed(history):
        if message.role == "user":
            skill = None if ended else activated(message)
            if skill is not None:
                ended = True
                yield skill
            turns += 1
            if turns > TURNS_IN_USE:
                return
        for part in reversed(message.tool_parts):
            read = skill_read(part)
            if read is not None:
                rounds = _rounds_after(part.tool_call_id, conversation)
                gone = rounds is None or _is_shortened(read, rounds, settings)
                yield read if gone else read.summary


def _rounds_after(call_id: str, conversation: Conversation) -> int | None:
    """How many rounds follow the call; None where the call is cut."""
    context, rounds = conversation.context, 0
    for row in reversed(context.rows(context.projections.end)):
        if any(call.id == call_id for call in row.tool_calls):
            return rounds
        rounds += bool(row.tool_calls)
    return None


def _is_shortened(skill: Skill, rounds: int, settings: Settings) -> bool:
    """Whether the requests of the turn have the skill's text no longer in full, when `rounds`
    rounds followed the round that read it (R14, R17)."""
    keep, longest = settings.tool_result_keep_last_rounds, settings.tool_output_trim_chars
    return 0 < keep <= rounds or 0 < longest < len(skill.instructions)
