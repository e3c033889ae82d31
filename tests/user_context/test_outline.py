"""What falls out of the user context is counted and named where it stood (R6)."""

import re
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st
from plugin.agent_prompts import format_user_context, get_system_message
from plugin.assistant.user_context.outline import LONGEST_GIST, outline
from plugin.user_context_loader import TRUNCATED, Preference, Rule, UserContext

SENTENCES = st.lists(st.integers(3, 400), max_size=12)
"""Lengths of statements, in characters."""
COUNTED = re.compile(
    r"^(?:\[Left out of (?P<file>\S+), (?P<gone>\d+) of \d+"
    r"|- (?P<more>\d+) more (?P<kind>rule|preference)s? omitted)",
    re.MULTILINE,
)
NAMES = {"rule": "rules", "preference": "preferences"}


def statements(name: str, lengths: Sequence[int]) -> list[str]:
    """A statement of each length, which begins with a name of its own."""
    words = "very useful words "
    return [
        f"{name}{number} {words * (length // 18)}".strip() for number, length in enumerate(lengths)
    ]


@given(SENTENCES, SENTENCES, SENTENCES, SENTENCES, st.integers(400, 3000), st.integers(200, 1500))
@example([300] * 12, [300] * 12, [300] * 12, [300] * 12, 400, 200)
def test_every_statement_that_falls_out_is_counted_in_its_part_and_the_report(
    rules: list[int],
    soul: list[int],
    goals: list[int],
    preferences: list[int],
    block: int,
    narrative: int,
) -> None:
    context = UserContext(
        tuple(Rule(str(n), text, "2026") for n, text in enumerate(statements("rule", rules))),
        "\n".join(f"- {text}" for text in statements("soul", soul)),
        "\n".join(f"- {text}" for text in statements("goal", goals)),
        tuple(Preference(f"key{n}", text) for n, text in enumerate(statements("", preferences))),
    )
    prompt = get_system_message("", context, "", block, narrative_max_chars=narrative, max_rules=8)
    text = format_user_context(context, block, narrative, 8)
    assert text in prompt.text
    assert len(text) <= block
    said = {
        found["file"] or NAMES[found["kind"]]: int(found["gone"] or found["more"])
        for found in COUNTED.finditer(text)
    }
    reported = {words.split()[-1]: int(words.split()[0]) for words in prompt.left_out}
    assert said == reported
    assert (TRUNCATED in text) == bool(
        {"LLM_NARRATIVE_MAX_CHARS", "LLM_USER_CONTEXT_MAX_CHARS"} & set(prompt.limits)
    )


@given(SENTENCES.filter(len), st.integers(0, 2000))
def test_an_outline_fits_its_room_and_names_or_counts_each_text(
    lengths: list[int], room: int
) -> None:
    texts = statements("t", lengths)
    line = outline("[Left out", "]", texts, room)
    assert len(line) <= room
    if not line:
        assert room < len("[Left out]")
        return
    named = sum(f"t{number}" in re.split(r"[;: .\]]+", line) for number in range(len(texts)))
    unnamed = re.search(r"; and (\d+) more\]$", line)
    if named:
        assert named + (int(unnamed[1]) if unnamed else 0) == len(texts)
    else:
        assert line == "[Left out]"


@given(SENTENCES.filter(len), st.integers(20, 2000))
def test_more_room_never_names_fewer(lengths: list[int], room: int) -> None:
    texts = statements("t", lengths)

    def named(most: int) -> int:
        return outline("[Left out", "]", texts, most).count(";")

    assert named(room) <= named(room + 50)


def test_with_room_for_all_each_statement_is_whole_up_to_its_most() -> None:
    texts = ["# Manner", "- Be kind,  always.", "1. " + "word " * 100]
    line = outline("Left out", "", texts, 1_000)
    assert line.startswith("Left out: Manner; Be kind, always.; word word")
    assert line.endswith("word...")
    assert LONGEST_GIST - 5 <= len(line.rpartition("; ")[2]) <= LONGEST_GIST
