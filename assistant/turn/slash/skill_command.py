"""`/skill <name or slug>` in a user's message (R12).

The message in the log keeps the user's text. A `data-skill` part beside it holds the text that the
model reads instead; it is made once, so that later requests have the same bytes. Words after a slug
and further lines are the user's own request, which follows the skill.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....agent_prompts import skill_activation, skill_list_answer
from ...messages.parts import DataPart, FilePart, Message, TextPart
from ...user_context.skills import Match, SkillLibrary, Unknown
from ...user_context.slugs import handle_of
from .plain_words import command_in_words
from .slash_commands import Slash, slash_in

COMMAND = re.compile(
    r"\s*/(?i:skill)(?:[ \t]+(?P<argument>[^\n]*))?(?:\n(?P<rest>.*))?\Z", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Expanded:
    """`message` is the message to store, `answer` the answer where no model is needed, and `slash`
    the command where the message is a slash command."""

    message: Message
    answer: str | None = None
    slash: Slash | None = None


async def expand(
    message: Message, skills: SkillLibrary, before: Sequence[Message] = ()
) -> Expanded:
    """A user message with the skill that it activates; any other message unchanged. `before` are
    the messages before it.

    For an unknown or ambiguous name, `answer` lists names and slugs.
    """
    if message.role != "user":
        return Expanded(message)
    if slash := slash_in(message.text) or command_in_words(message.text, before):
        known = message.data("command") is not None
        part = DataPart("command", {"name": slash.name, "argument": slash.argument})
        marked = message if known else replace(message, parts=(*message.parts, part))
        return Expanded(marked, slash=slash)
    found = COMMAND.match(message.text)
    if found is None or message.data("skill") is not None:
        return Expanded(message)
    argument, rest = (found["argument"] or "").strip(), (found["rest"] or "").strip()
    resolved = await asyncio.to_thread(skills.resolve, argument)
    slug, _, request = argument.partition(" ")
    if isinstance(resolved, Unknown) and request:
        # "/skill moon-light make it night": a slug, then the request on the same line.
        first = await asyncio.to_thread(skills.resolve, slug)
        if isinstance(first, Match) and slug in (first.skill.slug, handle_of(first.skill.slug)):
            resolved, rest = first, f"{request.strip()}\n{rest}".strip()
    if not isinstance(resolved, Match):
        return Expanded(message, skill_list_answer(resolved))
    skill = resolved.skill
    prompt = skill_activation(skill, rest)
    own = len(skill_activation(skill).rstrip())
    data = {
        "slug": skill.slug,
        "name": skill.name,
        "prompt": prompt,
        "skill_chars": own,
        "request": rest,
    }
    return Expanded(replace(message, parts=(*message.parts, DataPart("skill", data))))


def has_content(message: Message) -> bool:
    """Whether the message has text or a file, which a model can answer."""
    return any(
        isinstance(part, FilePart) or (isinstance(part, TextPart) and part.text.strip())
        for part in message.parts
    )
