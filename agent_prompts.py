"""Renders system messages from the values of `user_context_loader` (R1, R2, R5, R8).

Pure functions that fill jinja2 templates (`assistant/prompts`). Text of a user, a file or a skill
is a value in a template, never a template itself. The same values give the same bytes (R9): no
function depends on a clock, a locale or the order of a set. `SystemPrompts` in
`assistant/prompts/composition.py` decides which message a request gets and what fits the window.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jinja2

from .assistant.messages.fences import mark_for, plain_line, quoted
from .assistant.prompts.user_block import BLOCK_LIMIT, UserBlock, user_block
from .assistant.user_context.slugs import handle_of
from .user_context_loader import (
    MAX_NARRATIVE_CHARS,
    MAX_SKILLS_FULL_CHARS,
    MAX_USER_CONTEXT_CHARS,
    Ambiguous,
    Skill,
    SkillSummary,
    Unknown,
    UserContext,
    aggregate_skills,
)

DEFAULT_USER_CONTEXT_MAX_CHARS = MAX_USER_CONTEXT_CHARS
DEFAULT_NARRATIVE_MAX_CHARS = MAX_NARRATIVE_CHARS
DEFAULT_MAX_RULES = 12
DEFAULT_CONTINUATION_MAX_CHARS = 1500

CONTINUATION = (
    "You are ComfyUI Assistant. Continue the conversation. Apply the same rules, tools, and user"
    " context as in the initial system message."
)
"""The beginning of the continuation, word for word as R2 has it."""

CONTINUATION_LIMIT = "LLM_CONTINUATION_MAX_CHARS"
WINDOW_LIMIT = "LLM_CONTEXT_WINDOW"

_IDENTITY = re.compile(r"^# IDENTITY AND PURPOSE[ \t]*$", re.MULTILINE)
_TOOL_RULES = re.compile(r"^# TOOL USAGE RULES[ \t]*$", re.MULTILINE)
_USER_HEADING = "\n\n# USER CONTEXT\n\n"
_SKILLS_IN_USE = "Skills in use, the newest first; follow them where they apply:\n"
_LEAST_BLOCK_CHARS = 80
"""With fewer characters than this the user context would be a heading without content."""

_FOLDER = Path(__file__).parent / "assistant" / "prompts"
# All templates are read when this module is imported: an update that replaces them while ComfyUI
# runs must not mix new templates with the old code. They count after a restart, like the code.
_TEMPLATES = jinja2.Environment(
    loader=jinja2.DictLoader(
        {path.name: path.read_text(encoding="utf-8") for path in sorted(_FOLDER.glob("*.j2"))}
    ),
    auto_reload=False,
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # plain text for a model; there is no HTML to protect
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["oneline"] = lambda text: plain_line(str(text))
_TEMPLATES.filters["quoted"] = lambda text: quoted(str(text))

Kind = Literal["full", "continuation", "compact"]


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """A system message, and what the context report says about it.

    `limits` are the settings whose caps applied, `left_out` describes what is missing.
    `user_context_chars` are the characters of the user context in `text`, `rules` all rules of the
    user, oldest first, whether they fit `text` or not.
    """

    text: str
    kind: Kind
    user_context_chars: int = 0
    limits: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def revision(self) -> str:
        """A hash of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:12]


def format_user_context(
    user_context: UserContext,
    max_chars: int = DEFAULT_USER_CONTEXT_MAX_CHARS,
    max_narrative_chars: int = DEFAULT_NARRATIVE_MAX_CHARS,
    max_rules: int = DEFAULT_MAX_RULES,
) -> str:
    """Rules, SOUL.md, goals.md, preferences in at most `max_chars` characters (R6; 0: no cap)."""
    return user_block(user_context, max_chars, max_narrative_chars, max_rules).text


def get_system_message(
    system_context_text: str,
    user_context: UserContext,
    environment_summary: str,
    user_context_max_chars: int = DEFAULT_USER_CONTEXT_MAX_CHARS,
    *,
    narrative_max_chars: int = DEFAULT_NARRATIVE_MAX_CHARS,
    max_rules: int = DEFAULT_MAX_RULES,
    skills: Sequence[SkillSummary] = (),
    tools: bool = True,
    max_steps: int = 0,
    memories: str = "",
) -> SystemPrompt:
    """The full system message, in the order of R8: the parts that change least come first.

    `system_context_text` is the body; a section that R8 names and the body lacks is added in a
    short form. `skills` are the on-demand system skills for the index. `max_steps` 0: no budget
    section. `memories` end the user context (R45).
    """
    body = system_context_text or _render("minimal", tools=tools)
    found = _TOOL_RULES.search(body)
    block = user_block(user_context, user_context_max_chars, narrative_max_chars, max_rules)
    text = _render(
        "full",
        has_identity=_IDENTITY.search(body) is not None,
        before_tools=(body[: found.start()] if found else body).strip(),
        tool_rules=body[found.start() :].strip() if found else "",
        tools=tools,
        max_steps=max_steps,
        skills=skills,
        environment=environment_summary,
        user_block=(about_user := _joined(block.text, memories)),
    )
    return SystemPrompt(text, "full", len(about_user), block.limits, block.left_out)


def get_system_message_continuation(
    user_context: UserContext | None = None,
    max_chars: int = DEFAULT_CONTINUATION_MAX_CHARS,
    *,
    narrative_max_chars: int = DEFAULT_NARRATIVE_MAX_CHARS,
    max_rules: int = DEFAULT_MAX_RULES,
    skills: Sequence[SkillSummary] = (),
    pinned_skills: Sequence[Skill | SkillSummary] = (),
    max_skills_full_chars: int = MAX_SKILLS_FULL_CHARS,
    tools: bool = True,
    max_steps: int = 0,
) -> SystemPrompt:
    """The system message of later turns, in `max_chars` characters: `CONTINUATION`, then a digest
    (R2).

    The digest holds, as far as they fit: the number of steps of a turn (`max_steps` 0: no limit),
    the rules that the tools depend on, the skill index, the pinned skills (as a `SkillSummary` if
    the request has the skill's text already), and the user context. `max_chars` 0: `CONTINUATION`
    alone.
    """
    text, left_out = CONTINUATION, []
    if not max_chars:
        return SystemPrompt(text, "continuation")
    rules = [_render("continuation_rules", tools=tools, max_steps=0)]
    if tools and max_steps:
        # The headings make paragraphs of their own.
        rules.insert(0, "\n" + _render("continuation_rules", tools=tools, max_steps=max_steps))
    digest = [("rules", rules)]
    if tools:
        digest.append(("skill index", [_render("continuation_skills", skills=skills)]))
    if pinned_skills:
        digest.append(("active skills", _pinned(pinned_skills, max_skills_full_chars)))
    for name, versions in digest:
        room = max_chars - len(text) - 1
        fitting = next((version for version in versions if len(version) <= room), None)
        if fitting is None:
            left_out.append(name)
        else:
            text += "\n" + fitting
    if len(rules) > 1 and rules[0] not in text:
        left_out.append("iteration budget")
    room = max_chars - len(text) - len(_USER_HEADING)
    block = _block_within(user_context or UserContext(), room, narrative_max_chars, max_rules)
    left_out += block.left_out
    return SystemPrompt(
        text + (_USER_HEADING + block.text if block.text else ""),
        "continuation",
        len(block.text),
        (CONTINUATION_LIMIT,) if left_out else (),
        tuple(left_out),
    )


def get_compact_system_message(
    compact_text: str,
    user_context: UserContext,
    max_chars: int,
    user_context_max_chars: int = DEFAULT_USER_CONTEXT_MAX_CHARS,
    *,
    narrative_max_chars: int = DEFAULT_NARRATIVE_MAX_CHARS,
    max_rules: int = DEFAULT_MAX_RULES,
    tools: bool = False,
    memories: str = "",
) -> SystemPrompt:
    """The system message for small windows, in at most `max_chars` characters.

    If `compact_text` is empty or too long, the minimal prompt is used. Without `tools` the text
    mentions no tools. `memories` end the user context where there is room for them (R45).
    """
    text = _render("compact", text=compact_text, tools=tools) if compact_text else ""
    if not text or len(text) > max_chars:
        text = _render("minimal", tools=tools)
    room = max_chars - len(text) - len(_USER_HEADING)
    limit = WINDOW_LIMIT
    if user_context_max_chars and user_context_max_chars < room:
        room, limit = user_context_max_chars, BLOCK_LIMIT
    block = _block_within(user_context, room, narrative_max_chars, max_rules)
    about_user = _joined(block.text, memories)
    if len(text) + len(_USER_HEADING) + len(about_user) > max_chars:
        about_user = block.text
    if about_user:
        text += _USER_HEADING + about_user
    limits = tuple(limit if name == BLOCK_LIMIT else name for name in block.limits)
    return SystemPrompt(text, "compact", len(about_user), limits, block.left_out)


def skill_activation(skill: Skill, rest: str = "") -> str:
    """The text that the model reads in place of `/skill name` (R12): a note that the user activated
    the skill, its instructions between marks that they cannot contain, and `rest`, the text after
    the command."""
    mark = mark_for(skill.instructions)
    return _render("skill_activation", skill=skill, mark=mark, rest=rest)


def skill_list_answer(unresolved: Unknown | Ambiguous) -> str:
    """The answer (Markdown) to a `/skill` that fits no skill or several: names, and what to type
    for each (R12): its handle, or its slug where several skills have the handle."""
    slugs = [skill.slug for skill in unresolved.skills]
    handles = [handle_of(slug) for slug in slugs]
    taken = Counter(name for pair in zip(slugs, handles, strict=True) for name in {*pair})
    typed = [
        handle if taken[handle] == 1 else slug for slug, handle in zip(slugs, handles, strict=True)
    ]
    return _render(
        "skill_list",
        ambiguous=isinstance(unresolved, Ambiguous),
        argument=unresolved.argument,
        skills=list(zip(unresolved.skills, typed, strict=True)),
    )


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def _block_within(
    user_context: UserContext, room: int, narrative_max_chars: int, max_rules: int
) -> UserBlock:
    """The user context in `room` characters; empty if the room is too small for a sentence."""
    whole = user_block(user_context, 0, narrative_max_chars, max_rules)
    if len(whole.text) <= room:
        return whole
    if room < _LEAST_BLOCK_CHARS:
        return UserBlock("", (BLOCK_LIMIT,), ("user context",))
    return user_block(user_context, room, narrative_max_chars, max_rules)


def _pinned(skills: Sequence[Skill | SkillSummary], max_full_chars: int) -> list[str]:
    """The skills in use, as short as is needed: with their texts, with a line about each, with
    their names alone."""
    summaries = [skill.summary if isinstance(skill, Skill) else skill for skill in skills]
    texts = (
        aggregate_skills(skills, max_full_chars),
        aggregate_skills(summaries),
        aggregate_skills(summaries, about=False),
    )
    return [_SKILLS_IN_USE + text for text in texts]


def _render(template: str, **values: object) -> str:
    return _TEMPLATES.get_template(f"{template}.j2").render(**values).strip()
