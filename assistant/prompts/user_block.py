"""The user context as one block of text within its caps (R6).

Over a cap, whole statements are left out. The newest rules and preferences stay; of SOUL.md and
goals.md, whose sentences have no date, the shortest sentences stay, because more of them fit. The
rest keeps its order. Only a single sentence that exceeds the cap is cut. A cap of 0 is no cap.

Nothing falls out in silence: each part ends with a line that counts its left-out statements and
says what they begin with (`outline`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...user_context_loader import TRUNCATED, UserContext, cut
from ..user_context.outline import beginning, outline, wanted_chars

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
PARTS = {RULES: "rules", SOUL: "SOUL.md", GOALS: "goals.md", PREFERENCES: "preferences"}
"""The parts in their order, and what the report calls them."""
OUTLINE_SHARE = 4
"""Where a cap leaves something out, a quarter of it is kept free for the outlines."""
RULES_OUTLINE_CHARS = 400
"""Of the rules over `LLM_MAX_RULES`, which is no cap in characters."""
_LEAST_OUTLINE = len("[Left out of goals.md, 1000 of 1000]")


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
    def place_in_part(self) -> tuple[str, int, int]:
        return self.part, self.line, self.place

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
    every = rules + whole + preferences
    kept = kept_rules + narrative + preferences
    limits = [RULES_LIMIT] if kept_rules != rules else []
    limits += [NARRATIVE_LIMIT] if narrative != whole else []
    text = _capped(user_context, every, kept, max_narrative_chars, max_chars)
    if max_chars and len(text) > max_chars:
        limits.append(BLOCK_LIMIT)
        kept = _fitting(kept, max_chars - len(TRUNCATED) - 1 - _for_outlines(every, max_chars))
        rooms = _rooms(_omitted(every, kept), kept, max_chars - len(_block(kept, {}, True)))
        # A cap that is smaller than a heading cuts even that.
        text = cut(_block(kept, _outlines(every, kept, rooms), True), max_chars)
    return UserBlock(text, tuple(limits), _left_out(every, kept))


def _capped(
    user_context: UserContext,
    every: Sequence[_Statement],
    kept: Sequence[_Statement],
    max_narrative_chars: int,
    max_chars: int,
) -> str:
    """The block after the caps of the rules and of the two files, before the cap of the block."""
    narrative = [each for each in kept if each.part in (SOUL, GOALS)]
    omitted = [each for each in _omitted(every, kept) if each.part in (SOUL, GOALS)]
    shown, rooms = list(kept), {}
    shortened = bool(omitted) or not set(every).issuperset(narrative)
    if shortened:
        room = max_narrative_chars - len(_block(narrative, {}, True))
        rooms = _rooms(omitted, narrative, room)
    else:  # as the user wrote it, blank lines and all
        texts = ((SOUL, user_context.soul), (GOALS, user_context.goals))
        shown = [_Statement(part, 0, text) for part, text in texts if text]
        shown += [each for each in kept if each.part not in (SOUL, GOALS)]
    text = _block(shown, _outlines(every, kept, rooms), shortened)
    if len(text) < max_chars or not max_chars:
        # The rules have no cap in characters: their outline has what the block leaves.
        left = max_chars - len(text) - 1 if max_chars else RULES_OUTLINE_CHARS
        rooms[RULES] = max(min(RULES_OUTLINE_CHARS, left), _LEAST_OUTLINE)
        text = _block(shown, _outlines(every, kept, rooms), shortened)
    return text


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
    room = max_chars - _for_outlines(statements, max_chars) - len(TRUNCATED) - 1
    kept = _greedy(_shortest_first(statements), room)
    if not any(not statement.is_heading for statement in kept):
        shortest = next((each for each in _shortest_first(statements) if not each.is_heading), None)
        if shortest is None:
            return []
        most = room - _heading_chars(shortest.part) - 1
        return [replace(shortest, text=beginning(shortest.text, most))] if most > 0 else []
    return _without_empty_headings([each for each in statements if each in kept])


def _shortest_first(statements: Sequence[_Statement]) -> list[_Statement]:
    latest_first = statements[::-1]
    return sorted(latest_first, key=lambda statement: len(statement.text))


def _fitting(statements: Sequence[_Statement], room: int) -> list[_Statement]:
    """The statements that fit `room` characters: first rules, then preferences, then the files."""
    rules = [each for each in statements if each.part == RULES]
    preferences = [each for each in statements if each.part == PREFERENCES]
    narrative = [each for each in statements if each.part in (SOUL, GOALS)]
    wanted = rules[::-1] + preferences[::-1] + _shortest_first(narrative)
    kept = _greedy(wanted, room)
    return _without_empty_headings([each for each in statements if each in kept])


def _greedy(wanted: Iterable[_Statement], room: int) -> set[_Statement]:
    """The statements, taken in the order of `wanted`, that fit into `room` characters."""
    kept: set[_Statement] = set()
    parts: set[str] = set()
    for statement in wanted:
        heading = 0 if statement.part in parts else _heading_chars(statement.part)
        if statement not in kept and len(statement.text) + 1 + heading <= room:
            room -= len(statement.text) + 1 + heading
            kept.add(statement)
            parts.add(statement.part)
    return kept


def _heading_chars(part: str) -> int:
    return len(part) + 3  # a line end after it, two before it


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


def _block(statements: Sequence[_Statement], outlines: Mapping[str, str], truncated: bool) -> str:
    """The text of the block: each part with a heading, and its outline last; a part of which only
    the outline is left has no heading, since the outline names it."""
    parts = []
    for part in PARTS:
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
        found = [part, *lines] if lines else []
        if outlines.get(part):
            found.append(outlines[part])
        if found:
            parts.append("\n".join(found))
    text = "\n\n".join(parts)
    return f"{text}\n{TRUNCATED}".lstrip() if truncated else text


def _for_outlines(statements: Sequence[_Statement], max_chars: int) -> int:
    """The characters of a cap that are kept free for outlines: at least enough to count what each
    part leaves out, unless that is more than half of the cap."""
    counts = len({statement.part for statement in statements}) * (_LEAST_OUTLINE + 2)
    return max(max_chars // OUTLINE_SHARE, min(counts, max_chars // 2))


def _omitted(every: Sequence[_Statement], kept: Sequence[_Statement]) -> list[_Statement]:
    """The statements that are not among `kept`, not even shortened."""
    places = {statement.place_in_part for statement in kept}
    return [statement for statement in every if statement.place_in_part not in places]


def _rooms(omitted: Sequence[_Statement], kept: Sequence[_Statement], room: int) -> dict[str, int]:
    """The characters of each part's outline, together at most `room` with the line ends before
    them: enough for a count, and the rest in proportion to what the parts leave out."""
    wanted = {}
    for part in PARTS:
        texts = [each.text for each in omitted if each.part == part]
        if texts:
            wanted[part] = wanted_chars(texts)
    ends = {part: 1 if any(each.part == part for each in kept) else 2 for part in wanted}
    spare = room - sum(ends.values()) - _LEAST_OUTLINE * len(wanted)
    whole = sum(wanted.values())
    rooms = {}
    for part, chars in wanted.items():
        share = _LEAST_OUTLINE + max(spare, 0) * chars // whole
        rooms[part] = max(min(share, room - ends[part]), 0)
        room -= rooms[part] + ends[part]
    return rooms


def _outlines(
    every: Sequence[_Statement], kept: Sequence[_Statement], rooms: Mapping[str, int]
) -> dict[str, str]:
    """The outline of each part that leaves statements out."""
    omitted = _omitted(every, kept)
    lines = {}
    for part, name in PARTS.items():
        gone = [each for each in omitted if each.part == part]
        if not gone:
            continue
        if part in (SOUL, GOALS):
            number = sum(each.part == part for each in every)
            start, end = f"[Left out of {name}, {len(gone)} of {number}", "]"
            texts = [each.text for each in _first_of_lines(gone)]
        else:
            words = name if len(gone) > 1 else name.removesuffix("s")
            start, end = f"- {len(gone)} more {words} omitted", ""
            texts = [each.text for each in reversed(gone)]  # the newest first
        lines[part] = outline(start, end, texts, rooms.get(part, 0))
    return lines


def _first_of_lines(statements: Sequence[_Statement]) -> list[_Statement]:
    """The first statement of each line, then the others: so each paragraph is named before a
    second sentence of one is."""
    lines = {each.line: each for each in reversed(statements)}
    first = list(lines.values())[::-1]
    others = set(statements).difference(first)
    return first + [each for each in statements if each in others]


def _indented(text: str) -> str:
    """The text of a list item, its further lines indented."""
    return "\n  ".join(text.splitlines())


def _left_out(all_of_them: Sequence[_Statement], kept: Sequence[_Statement]) -> tuple[str, ...]:
    """How many statements of each part are missing, such as `2 of 14 rules`."""
    said = []
    for part, name in PARTS.items():
        every = sum(statement.part == part for statement in all_of_them)
        here = sum(statement.part == part for statement in kept)
        if here < every:
            said.append(f"{every - here} of {every} {name}")
    return tuple(said)
