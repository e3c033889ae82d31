"""The toolset: which tools there are, what a provider is told, and how arguments are checked."""

from typing import Any

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.tools.tool import Tool
from plugin.assistant.tools.toolset import Toolset, standard_toolset
from plugin.scripts.knowledge.checker import TOOLS


def tool(name: str) -> Tool:
    [found] = [tool for tool in standard_toolset() if tool.name == name]
    return found


def test_the_knowledge_checker_knows_exactly_these_tools() -> None:
    assert set(standard_toolset().names) == TOOLS


def test_only_what_changes_something_asks_first() -> None:
    kinds = {tool.name: (tool.kind, tool.asks_first) for tool in standard_toolset()}
    assert kinds.pop("createUserSkill") == ("acts", True)
    assert set(kinds.values()) == {("reads", False)}


def test_every_tool_of_the_server_has_code_and_words_for_people() -> None:
    for each in standard_toolset():
        assert each.place == "server"
        assert each.run is not None
        assert each.title
        assert each.title != each.name


def test_the_schemas_are_the_same_each_time() -> None:
    box = standard_toolset()
    assert box.schemas is box.schemas
    assert box.schemas == standard_toolset().schemas


def test_a_schema_is_plain_and_refuses_further_fields() -> None:
    [schema] = [s["function"] for s in standard_toolset().schemas if s["function"]["name"] == SKILL]
    parameters = schema["parameters"]
    assert parameters["required"] == ["name", "description", "instructions"]
    assert parameters["additionalProperties"] is False
    assert "title" not in parameters
    assert all("title" not in field for field in parameters["properties"].values())


SKILL = "createUserSkill"


def test_a_tool_without_arguments_has_an_empty_object_for_a_schema() -> None:
    parameters = tool("getWorkflowInfo").schema()["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("getUserSkill", {}, "slug: Field required"),
        ("getUserSkill", {"slug": 7}, "slug: Input should be a valid string"),
        ("getUserSkill", {"slug": "a", "more": 1}, "more: Extra inputs are not permitted"),
        ("getWorkflowInfo", {"level": "all"}, "level: Extra inputs are not permitted"),
        (SKILL, {"name": "a"}, "description: Field required; instructions: Field required"),
    ],
)
def test_wrong_arguments_are_named_one_by_one(name: str, value: Any, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        tool(name).parse(value)
    assert said in caught.value.message


def test_a_name_that_is_used_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two tools are named 'getUserSkill'"):
        Toolset((tool("getUserSkill"), tool("getUserSkill")))


def test_an_unknown_name_gives_nothing() -> None:
    assert standard_toolset().get("flyToTheMoon") is None
