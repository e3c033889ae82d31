"""`/skill` in a message: which texts are the command, and the message that is stored."""

from pathlib import Path

import pytest
from plugin.assistant.messages.fences import fenced
from plugin.assistant.messages.parts import DataPart, FilePart, Message, Role, TextPart
from plugin.assistant.turn.slash.skill_command import expand, has_content
from plugin.assistant.turn.slash.slash_commands import Slash
from plugin.assistant.user_context.skills import SkillLibrary
from plugin.assistant.user_context.sources import SourceCache


@pytest.fixture
def skills(tmp_path: Path) -> SkillLibrary:
    library = SkillLibrary(tmp_path / "system", tmp_path, SourceCache())
    library.create("Moon light", "Blue light", "Use blue.")
    library.create("Moon rise", "Red light", "Use red.")
    return library


def message(text: str, role: Role = "user") -> Message:
    return Message("u", role, (TextPart(text),))


@pytest.mark.parametrize(
    "text",
    ["/skill moon-light", "/skill Moon light", "  /skill\tmoon-l", "/skill moon-light\n"],
)
async def test_a_skill_is_found_by_slug_name_or_beginning(skills: SkillLibrary, text: str) -> None:
    expanded = await expand(message(text), skills)
    data = expanded.message.data("skill")
    assert (data["slug"], data["name"]) == ("moon-light", "Moon light")
    assert "Use blue." in data["prompt"]
    assert expanded.message.text == text
    assert expanded.answer is None


async def test_what_follows_the_command_stays_the_users_request(skills: SkillLibrary) -> None:
    expanded = await expand(message("/skill moon-light\nPaint my\n\ncat."), skills)
    data = expanded.message.data("skill")
    assert "Paint my\n\ncat." in data["prompt"]
    assert data["prompt"][: data["skill_chars"]].endswith(fenced("Use blue."))
    assert data["request"] == "Paint my\n\ncat."


@pytest.mark.parametrize("text", ["/skill", "/skill ", "/skill sun", "/skill moon"])
async def test_an_unknown_or_ambiguous_name_is_answered_with_the_list(
    skills: SkillLibrary, text: str
) -> None:
    expanded = await expand(message(text), skills)
    assert expanded.answer is not None
    assert "moon-light" in expanded.answer
    assert "moon-rise" in expanded.answer
    assert expanded.message == message(text)


@pytest.mark.parametrize("text", ["say /skill moon-light", "//skill x", "/skill's moon-light"])
async def test_other_text_is_left_as_it_is(skills: SkillLibrary, text: str) -> None:
    expanded = await expand(message(text), skills)
    assert (expanded.message, expanded.answer) == (message(text), None)


async def test_a_command_may_begin_with_a_capital_letter(skills: SkillLibrary) -> None:
    expanded = await expand(message("/Skill moon-light"), skills)
    assert expanded.message.data("skill")["slug"] == "moon-light"


@pytest.mark.parametrize("name", ["skillful", "skill-moon"])
async def test_a_name_that_only_begins_like_the_command_is_an_unknown_command(
    skills: SkillLibrary, name: str
) -> None:
    expanded = await expand(message(f"/{name}"), skills)
    assert expanded.slash == Slash(name, known=False)


async def test_only_a_user_commands(skills: SkillLibrary) -> None:
    said = message("/skill moon-light", "assistant")
    assert (await expand(said, skills)).message == said


async def test_what_was_expanded_once_stays_so(skills: SkillLibrary) -> None:
    once = (await expand(message("/skill moon-light"), skills)).message
    skills.delete("moon-light")
    assert (await expand(once, skills)).message is once


@pytest.mark.parametrize(
    ("parts", "content"),
    [
        ((), False),
        ((TextPart(" \n"),), False),
        ((DataPart("x", 1),), False),
        ((TextPart("a"),), True),
        ((FilePart("image/png", "data:,x"),), True),
    ],
)
def test_a_message_needs_something_to_answer(parts: tuple[TextPart, ...], content: bool) -> None:
    assert has_content(Message("u", "user", parts)) is content
