"""The skill tools over a real library in a folder."""

from collections.abc import Callable
from typing import Any

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.messages.parts import ToolPart, ToolState
from plugin.assistant.tools.skill_tools import skill_read
from plugin.assistant.tools.tool import ToolContext
from plugin.assistant.tools.toolset import standard_toolset
from plugin.assistant.user_context.skills import Skill

MOON = {"name": "Moon light", "description": "Blue light", "instructions": "Use blue."}


@pytest.fixture
def scene(tool_context: Callable[[None], ToolContext]) -> ToolContext:
    return tool_context(None)


async def call(scene: ToolContext, name: str, /, **arguments: Any) -> Any:
    tool = standard_toolset().get(name)
    assert tool is not None
    assert tool.run is not None
    return await tool.run(tool.parse(arguments), scene)


def test_saving_a_skill_asks_first() -> None:
    tool = standard_toolset().get("createUserSkill")
    assert tool is not None
    assert (tool.kind, tool.asks_first) == ("acts", True)


async def test_a_skill_is_made_listed_and_read(scene: ToolContext) -> None:
    assert await call(scene, "listUserSkills") == {"skills": []}
    made = await call(scene, "createUserSkill", **MOON)
    assert made == {"created": True, "slug": "moon-light", "name": "Moon light"}
    listed = await call(scene, "listUserSkills")
    assert listed["skills"] == [
        {"slug": "moon-light", "name": "Moon light", "description": "Blue light"}
    ]
    assert await call(scene, "getUserSkill", slug="moon-light") == {"slug": "moon-light", **MOON}


async def test_the_guides_to_models_are_listed_and_read(scene: ToolContext) -> None:
    slugs = [skill["slug"] for skill in (await call(scene, "listSystemSkills"))["skills"]]
    assert "20_model_sdxl" in slugs
    guide = await call(scene, "getSystemSkill", slug="20_model_sdxl")
    assert "SDXL" in guide["instructions"]


@pytest.mark.parametrize("name", ["getUserSkill", "getSystemSkill"])
@pytest.mark.parametrize("slug", ["nothing", "../20_model_sdxl", "", "a" * 300, "CON", "a\0b"])
async def test_a_slug_that_names_no_skill_is_an_error_for_the_model(
    scene: ToolContext, name: str, slug: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await call(scene, name, slug=slug)
    assert caught.value.message


async def test_a_skill_that_exists_is_not_overwritten(scene: ToolContext) -> None:
    await call(scene, "createUserSkill", **MOON)
    with pytest.raises(ToolError, match="exists already"):
        await call(scene, "createUserSkill", **{**MOON, "instructions": "Use red."})
    read = await call(scene, "getUserSkill", slug="moon-light")
    assert read["instructions"] == "Use blue."


async def test_a_skill_without_a_usable_name_is_refused(scene: ToolContext) -> None:
    with pytest.raises(ToolError):
        await call(scene, "createUserSkill", **{**MOON, "name": ""})


@pytest.mark.parametrize("field", ["name", "description", "instructions"])
@pytest.mark.parametrize("trick", ["\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041"])
def test_a_skill_whose_text_is_not_what_it_looks_like_is_refused(field: str, trick: str) -> None:
    tool = standard_toolset().get("createUserSkill")
    assert tool is not None
    with pytest.raises(ToolError, match=f"{field}: .*not seen"):
        tool.parse({**MOON, field: f"Moon{trick} light"})


async def test_the_result_of_a_call_says_which_skill_was_read(scene: ToolContext) -> None:
    await call(scene, "createUserSkill", **MOON)
    output = await call(scene, "getUserSkill", slug="moon-light")
    read = skill_read(ToolPart("c", "getUserSkill", "output-available", output=output))
    assert read == Skill("moon-light", "Moon light", "Blue light", "Use blue.", "user")


@pytest.mark.parametrize(
    ("name", "state", "output"),
    [
        ("getUserSkill", "output-error", MOON),
        ("listUserSkills", "output-available", MOON),
        ("getUserSkill", "output-available", MOON),
        ("getUserSkill", "output-available", {**MOON, "slug": ["moon-light"]}),
        ("getSystemSkill", "output-available", "Use blue."),
        ("getSystemSkill", "output-available", None),
    ],
)
def test_no_other_call_reads_a_skill(name: str, state: ToolState, output: Any) -> None:
    assert skill_read(ToolPart("c", name, state, output=output)) is None
