"""The lines that stand before the user's message for a turn: the open workflow, the edits that the
user took back, and a reminder of the user's rules (R54).

The workflow that came with the turn is named, with the number of its nodes: a model that has lost
sight of it knows that there is one to read. In a long chat the reminder repeats, in the user's own
words, the newest corrections that a cut covers and the newest rules, and names the skill in use:
small models lose what stands far above the question. The reminder repeats what the system message
and the summary say; that is its purpose.

The calls of an answer whose edits the user took back say that the edits were made, so each turn
says that they were taken back, as long as requests have these calls; the summary knows it itself.

Where prompts are cached, a line that leaves with its turn breaks the prefix at that turn. So the
workflow is named there when it is another one than before, and the reminder comes once after each
cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..config import Settings
from ..context.chat_context import ChatContext
from ..context.clamp import clamp_text
from ..context.notes import REMINDER, TAKEN_BACK, WORKFLOW, Note
from ..context.summary.extract import corrections_in
from ..context.tokens import text_tokens
from ..context.window import Window
from ..messages.fences import quoted
from ..messages.parts import Message
from ..messages.prompt import PromptMessage
from ..user_context.skills import Skill, SkillSummary
from ..workflow.snapshot import Snapshot, count_nodes
from .conversation import Conversation

MOST_TOKENS: Final = 60
"""Of the reminder."""
LONGEST_NAME: Final = 80
"""Characters of the name of a workflow or a skill."""
LONGEST_QUESTION: Final = 60
"""Characters of the question whose answer's edits were taken back."""
MOST_TAKEN_BACK: Final = 3
"""Answers that are named by their questions."""
LONGEST_RULE: Final = 120
"""Characters of one rule or correction in the reminder."""
MOST_RULES: Final = 3
"""Rules, and corrections, that are tried for the reminder."""
SHORT_CHAT: Final = 4
"""User messages up to which a chat is in sight even in a small window."""
LONGEST_READ: Final = 20_000
"""Characters of a message that are searched for corrections."""
LOOKED_BACK: Final = 400
"""Rows before the last cut that are searched for corrections where there is no summary."""


def add_standing_notes(
    conversation: Conversation,
    history: Sequence[Message],
    workflow: Snapshot,
    rules: Sequence[str],
    skills: Sequence[Skill | SkillSummary],
    window: Window,
    settings: Settings,
) -> None:
    """Adds the lines to the tail of a turn that has just begun; the conversation has been fed
    `history`. `rules` are the user's, oldest first, `skills` those in use, newest first."""
    context, lines = conversation.context, {}
    cuts = len(context.projections.cuts)
    cached = settings.prompt_cache == "auto"
    lines[WORKFLOW] = workflow_line(workflow)
    lines[TAKEN_BACK] = taken_back_line(_questions_of_taken_back(conversation))
    if cuts or (not cached and window.compact and _turns(history) > SHORT_CHAT):
        corrections = _corrections(context, window)
        lines[REMINDER] = reminder_line(corrections, rules, skills)
    for kind, line in lines.items():
        news = f"{cuts}" if kind is REMINDER else line
        told = cached and kind is not TAKEN_BACK and conversation.lines.get(kind.name) == news
        if line and not told:
            conversation.tail = conversation.tail.with_note(Note(kind, (line,), text_tokens(line)))
            conversation.lines[kind.name] = news


def workflow_line(workflow: Snapshot) -> str:
    """The line about the workflow that came with a turn; empty where none came."""
    name = quoted(workflow.name[:LONGEST_NAME] or "unnamed")
    if workflow.too_large:
        return f"[Active workflow: {name}, too large to be read]"
    nodes = count_nodes(workflow)
    if nodes is None:
        return ""
    return f"[Active workflow: {name}, {nodes} {'node' if nodes == 1 else 'nodes'}]"


def taken_back_line(questions: Sequence[str]) -> str:
    """The line about edits that the user took back: those of the answers to these questions, the
    newest last; empty where there are none."""
    if not questions:
        return ""
    named = [quoted(clamp_text(one, LONGEST_QUESTION)) for one in questions[-MOST_TAKEN_BACK:]]
    more = len(questions) - len(named)
    earlier = f" and {more} earlier {'message' if more == 1 else 'messages'}" if more else ""
    said = ", ".join(named)
    return f"[The user took back your changes of the workflow that answered {said}{earlier}]"


def _questions_of_taken_back(conversation: Conversation) -> list[str]:
    """The questions of the answers whose edits were taken back, of which requests still have
    rows."""
    found, question = [], ""
    end = conversation.context.projections.end
    for message in conversation.messages if conversation.taken_back else ():
        if message.role == "user":
            question = message.text
        elif message.id in conversation.taken_back:
            known = conversation.message(message.id)
            if known is not None and known[1].stop > end:
                found.append(question)
    return found


def reminder_line(
    corrections: Sequence[str], rules: Sequence[str], skills: Sequence[Skill | SkillSummary]
) -> str:
    """The reminder in at most `MOST_TOKENS` tokens; empty where there is nothing to remind of. The
    newest stand last in `corrections` and `rules`, and first in `skills`."""
    line = ""
    names = [f"the skill {quoted(skill.name[:LONGEST_NAME])} is in use" for skill in skills[:1]]
    said = (*reversed(corrections[-MOST_RULES:]), *reversed(rules[-MOST_RULES:]))
    items = [*names, *(quoted(clamp_text(text, LONGEST_RULE)) for text in dict.fromkeys(said))]
    kept: list[str] = []
    for item in items:
        longer = f"[KEY CONTEXT REMINDER, the user's words in quotes: {'; '.join((*kept, item))}]"
        if text_tokens(longer) <= MOST_TOKENS:
            line = longer
            kept.append(item)
    return line


def _corrections(context: ChatContext, window: Window) -> tuple[str, ...]:
    """What the user corrected or forbade in rows that are cut; in a small window, which a model
    reads less well, also in the rows that are sent. The newest stand last."""
    projections = context.projections
    if projections.summary is not None:
        cut = [text for _, text in projections.summary.corrections]
    else:
        first = max(0, projections.end - LOOKED_BACK)
        cut = list(_corrections_in(context.rows(first, projections.end)))
    sent = context.rows(projections.end, context.asked_row) if window.compact else ()
    return tuple(dict.fromkeys((*cut, *_corrections_in(sent))))


def _corrections_in(rows: Iterable[PromptMessage]) -> Iterator[str]:
    for row in rows:
        if row.role == "user":
            # A skill or a file is not the user's own words.
            said = row.text if row.own_words is None else row.own_words
            found = corrections_in(said[:LONGEST_READ])
            if found:
                yield " ".join(found)


def _turns(history: Sequence[Message]) -> int:
    return sum(message.role == "user" for message in history)
