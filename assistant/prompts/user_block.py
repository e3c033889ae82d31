"""The user context as one block of text within its caps (R6).

Over a cap, whole statements are left out. The newest rules and preferences stay; of SOUL.md and
goals.md, whose sentences have no date, the shortest sentences stay, because more of them fit. The
rest keeps its order. Only a single sentence that exceeds the cap is cut. A cap of 0 is no cap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...user_context_loader import TRUNCATED, UserContext, cut

RULES_LIMIT = "LLM_MAX_RULES"
NARRATIVE_LIMIT = "LLM_NARRATIVE_MAX_CHARS"
BLOCK_LIMIT = "LLM_USER_CONTEXT_MAX_CHARS"

RULES = "## The user's rules"
SOUL = "## Who the user wants you to be"
GOALS = "## The user's goals"
PREFERENCES = "## The user's preferences"

# Sentences end at a full stop before a space, and in Chinese and Japanese without one.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_OMITTED_CHARS = len("- 1000000 more rules omitted\n")


@dataclass(frozen=True, slots=True)
class UserBlock:
    """`limits` names the settings whose caps applied; `left_out` describes what is missing."""

    text: str = ""
    limits: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence, a list item or a rule. Statements with the same `line` are joined to one line."""

    part: str
    line: int
    text: str
    place: int = 0  # within the line

    @property
    def is_heading(self) -> bool:
        return self.part in (SOUL, GOALS) and self.text.startswith("#")


def user_block(
    user_context: UserContext, max_chars: int, max_narrative_chars: int, max_rules: int
) -> UserBlock:
    """The block without a heading; empty if there is no user context."""
    rules = [
        _Statement(RULES, number, "- " + _indented(rule.text))
        for number, rule in enumerate(user_context.rules)
    ]
    kept_rules = rules[-max_rules:] if max_rules else rules
    whole = _narrative(user_context.soul, SOUL) + _narrative(user_context.goals, GOALS)
    fits = len(user_context.soul + user_context.goals) <= max_narrative_chars
    narrative = whole if fits or not max_narrative_chars else _shortened(whole, max_narrative_chars)
    preferences = [
        _Statement(PREFERENCES, number, f"- {item.key}: {_indented(item.value)}")
        for number, item in enumerate(user_context.preferences)
    ]
    kept = kept_rules + narrative + preferences
    limits = [RULES_LIMIT] if kept_rules != rules else []
    limits += [NARRATIVE_LIMIT] if narrative != whole else []
    if narrative == whole:  # as the user wrote it, blank lines and all
        narrative = [
            _Statement(SOUL, 0, user_context.soul),
            _Statement(GOALS, 0, user_context.goals),
        ]
    shown = kept_rules + [each for each in narrative if each.text] + preferences
    text = _block(shown, len(rules) - len(kept_rules), NARRATIVE_LIMIT in limits)
    if max_chars and len(text) > max_chars:
        limits.append(BLOCK_LIMIT)
        kept = _fitting(kept, max_chars)
        omitted = len(rules) - sum(statement.part == RULES for statement in kept)
        # A cap that is smaller than a heading cuts even that.
        text = cut(_block(kept, omitted, True), max_chars)
    return UserBlock(text, tuple(limits), _left_out(rules + whole + preferences, kept))


def _narrative(text: str, part: str) -> list[_Statement]:
    """The statements of a Markdown text: headings, list items, and the sentences of other lines."""
    statements = []
    for number, line in enumerate(text.splitlines()):
        if line.startswith("#") or _LIST_ITEM.match(line):
            statements.append(_Statement(part, number, line.rstrip()))
        else:
            sentences = (sentence.strip() for sentence in _SENTENCE_END.split(line))
            statements += [
                _Statement(part, number, each, place)
                for place, each in enumerate(sentences)
                if each
            ]
    return statements


def _shortened(statements: list[_Statement], max_chars: int) -> list[_Statement]:
    """The shortest statements that fit into `max_chars` together; of equal length, the later."""
    room = max_chars - len(TRUNCATED) - 1
    kept = _greedy(_shortest_first(statements), room)
    if not any(not statement.is_heading for statement in kept):
        shortest = next((each for each in _shortest_first(statements) if not each.is_heading), None)
        if shortest is None:
            return []
        text = cut(shortest.text, max_chars).removesuffix(TRUNCATED)
        return [_Statement(shortest.part, shortest.line, text)]
    return _without_empty_headings([each for each in statements if each in kept])


def _shortest_first(statements: Sequence[_Statement]) -> list[_Statement]:
    latest_first = statements[::-1]
    return sorted(latest_first, key=lambda statement: len(statement.text))


def _fitting(statements: Sequence[_Statement], max_chars: int) -> list[_Statement]:
    """The statements within the block's cap: first rules, then preferences, then the two files."""
    rules = [each for each in statements if each.part == RULES]
    preferences = [each for each in statements if each.part == PREFERENCES]
    narrative = [each for each in statements if each.part in (SOUL, GOALS)]
    wanted = rules[::-1] + preferences[::-1] + _shortest_first(narrative)
    kept = _greedy(wanted, max_chars - len(TRUNCATED) - 1 - _OMITTED_CHARS)
    return _without_empty_headings([each for each in statements if each in kept])


def _greedy(wanted: Iterable[_Statement], room: int) -> set[_Statement]:
    """The statements, taken in the order of `wanted`, that fit into `room` characters."""
    kept: set[_Statement] = set()
    parts: set[str] = set()
    for statement in wanted:
        heading = 0 if statement.part in parts else len(statement.part) + 3  # three line ends
        if statement not in kept and len(statement.text) + 1 + heading <= room:
            room -= len(statement.text) + 1 + heading
            kept.add(statement)
            parts.add(statement.part)
    return kept


def _without_empty_headings(statements: Sequence[_Statement]) -> list[_Statement]:
    """The statements without the headings that have no statement below them."""
    kept: list[_Statement] = []
    for statement in reversed(statements):
        below = kept[-1] if kept else None
        if statement.is_heading and (
            below is None or below.is_heading or below.part != statement.part
        ):
            continue
        kept.append(statement)
    return kept[::-1]


def _block(statements: Sequence[_Statement], rules_omitted: int, truncated: bool) -> str:
    """The text of the block: each part with a heading, and a note about left-out statements."""
    parts = []
    for part in (RULES, SOUL, GOALS, PREFERENCES):
        lines: list[str] = []
        last = None
        for statement in statements:
            if statement.part != part:
                continue
            if statement.line == last:
                lines[-1] += " " + statement.text
            else:
                lines.append(statement.text)
            last = statement.line
        if part == RULES and rules_omitted:
            rules = "rule" if rules_omitted == 1 else "rules"
            lines.append(f"- {rules_omitted} more {rules} omitted")
        if lines:
            parts.append("\n".join([part, *lines]))
    text = "\n\n".join(parts)
    return f"{text}\n{TRUNCATED}".lstrip() if truncated else text


def _indented(text: str) -> str:
    """The text of a list item, its further lines indented."""
    return "\n  ".join(text.splitlines())


def _left_out(all_of_them: Sequence[_Statement], kept: Sequence[_Statement]) -> tuple[str, ...]:
    """How many statements of each part are missing, such as `2 of 14 rules`."""
    names = {RULES: "rules", SOUL: "SOUL.md", GOALS: "goals.md", PREFERENCES: "preferences"}
    said = []
    for part, name in names.items():
        every = sum(statement.part == part for statement in all_of_them)
        here = sum(statement.part == part for statement in kept)
        if here < every:
            said.append(f"{every - here} of {every} {name}")
    return tuple(said)
