"""A tool as data: its schema, and how arguments are checked."""

from typing import Any

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.tools.parameters import Arguments, Parameters
from plugin.assistant.tools.tool import Place, Tool, ToolContext
from plugin.assistant.tools.toolset import standard_toolset

SKILL = "createUserSkill"


def tool(name: str) -> Tool:
    [found] = [tool for tool in standard_toolset() if tool.name == name]
    return found


def test_a_schema_is_plain() -> None:
    parameters = tool(SKILL).schema()["function"]["parameters"]
    assert parameters["required"] == ["name", "description", "instructions"]
    assert "additionalProperties" not in parameters
    assert "title" not in parameters
    assert all("title" not in field for field in parameters["properties"].values())


def test_a_tool_without_arguments_has_an_empty_object_for_a_schema() -> None:
    parameters = tool("listUserSkills").schema()["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {}}


def test_a_schema_has_nothing_that_says_nothing() -> None:
    """Empty defaults, and null beside the type of an argument that may be missing. Arguments that
    the schema does not have are refused all the same."""
    properties = tool("recall_result").schema()["function"]["parameters"]["properties"]
    assert properties["path"]["type"] == "string"
    assert "default" not in properties["path"] and properties["start"]["default"] == 0
    assert tool("recall_result").parse({"handle": "r1", "path": None}).path is None


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("getUserSkill", {}, "slug: Field required"),
        ("getUserSkill", {"slug": 7}, "slug: Input should be a valid string"),
        ("getUserSkill", {"slug": "a", "more": 1}, "more: Extra inputs are not permitted"),
        ("listUserSkills", {"level": "all"}, "level: Extra inputs are not permitted"),
        (SKILL, {"name": "a"}, "description: Field required; instructions: Field required"),
    ],
)
def test_wrong_arguments_are_named_one_by_one(name: str, value: Any, said: str) -> None:
    with pytest.raises(ToolError) as caught:
        tool(name).parse(value)
    assert caught.value.message.startswith(f"The arguments of {name} are wrong. ")
    assert said in caught.value.message


def test_any_schema_with_a_function_that_parses_makes_a_tool() -> None:
    """Another server describes its tools by a schema, without a pydantic model."""

    def parse(value: Any) -> list[str]:
        if not isinstance(value.get("names"), list):
            raise ToolError("names: expected a list")
        return [str(name) for name in value["names"]]

    schema = {"type": "object", "properties": {"names": {"type": "array"}}}
    named = Tool(
        "named", "Named", "Names.", "reads", Parameters(schema, parse), "panel", group="lookup"
    )
    assert named.schema()["function"]["parameters"] == schema
    assert named.parse({"names": ["a", 1]}) == ["a", "1"]
    with pytest.raises(ToolError, match="names: expected a list"):
        named.parse({})


@pytest.mark.parametrize("place", ["server", "panel"])
def test_a_tool_has_code_exactly_where_it_runs_on_the_server(place: Place) -> None:
    async def run(_: Any, context: ToolContext) -> Any:
        raise AssertionError("not called")

    with pytest.raises(ValueError, match="mistaken: expected `run`"):
        Tool(
            "mistaken",
            "M",
            "M.",
            "reads",
            place=place,
            run=None if place == "server" else run,
            group="lookup",
        )


class NodeArguments(Arguments):
    node: int


async def _look(place: NodeArguments, context: ToolContext) -> Any:
    return place.node


async def _rest(_: Any, context: ToolContext) -> Any:
    return None


def test_the_annotation_of_the_code_names_the_arguments() -> None:
    looks = Tool("look", "L", "L.", "reads", run=_look, group="lookup")
    assert looks.schema()["function"]["parameters"]["required"] == ["node"]
    assert looks.parse({"node": 3}) == NodeArguments(node=3)
    rests = Tool("rest", "R", "R.", "reads", run=_rest, group="lookup")
    assert rests.schema()["function"]["parameters"]["properties"] == {}
