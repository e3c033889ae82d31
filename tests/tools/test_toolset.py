"""The toolset: its tools, the tools that a request offers, and the call of a tool."""

from typing import Any

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.messages.parts import ToolPart, ToolState
from plugin.assistant.messages.prompt import ToolCall
from plugin.assistant.tools.tool import Kind, Role, Tool, ToolContext
from plugin.assistant.tools.toolset import GROUPS, Listing, Toolset, standard_toolset
from plugin.scripts.knowledge.checker import TOOLS

CONTEXT = ToolContext(skills=None)  # type: ignore[arg-type]
SMALLEST = ("getWorkflowInfo", "recall_result")
SMALL = ("getWorkflowInfo", "getSystemSkill", "history_search", "recall_result")
SKILLS = ("listUserSkills", "getUserSkill", "listSystemSkills", "createUserSkill")


def tool(name: str) -> Tool:
    [found] = [tool for tool in standard_toolset() if tool.name == name]
    return found


def offered(window: int, *loaded: str) -> tuple[str, ...]:
    listing = Listing(window, loaded=loaded)
    return tuple(tool.name for tool in standard_toolset().list(listing))


def called(name: str, state: ToolState = "output-available", **arguments: Any) -> ToolPart:
    return ToolPart("c1", name, state, input=arguments)


# The tools of an installation


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
        assert each.group in GROUPS


def test_reads_may_run_in_parallel_and_nothing_else() -> None:
    for each in standard_toolset():
        assert each.parallel == (each.kind == "reads")


def test_a_name_that_is_used_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="two tools are named 'getUserSkill'"):
        Toolset((tool("getUserSkill"), tool("getUserSkill")))


def test_an_unknown_name_gives_nothing() -> None:
    assert standard_toolset().get("flyToTheMoon") is None


# Which tools a request offers


def test_a_large_window_is_offered_every_tool_and_no_loader() -> None:
    assert offered(16_384) == standard_toolset().names
    assert offered(1_000_000) == standard_toolset().names


@pytest.mark.parametrize(
    ("window", "names"), [(8_192, SMALL), (16_383, SMALL), (4_096, SMALLEST), (8_191, SMALLEST)]
)
def test_a_small_window_is_offered_the_smaller_set_and_the_loader(
    window: int, names: tuple[str, ...]
) -> None:
    assert offered(window) == (*names, "loadTools")


def test_loaded_groups_stand_after_the_others_in_the_order_of_loading() -> None:
    assert offered(8_192, "skills") == (*SMALL, "loadTools", *SKILLS)
    skills = (*SKILLS[:3], "getSystemSkill", *SKILLS[3:])
    assert offered(4_096, "skills", "lookup")[3:] == (*skills, "history_search")
    assert offered(4_096, "lookup", "skills")[3:] == ("history_search", *skills)


def test_the_schemas_of_a_turn_begin_alike_whatever_it_loads() -> None:
    def schemas(*loaded: str) -> list[dict[str, Any]]:
        listing = Listing(4_096, loaded=loaded)
        return [tool.schema() for tool in standard_toolset().list(listing)]

    assert schemas("skills")[: len(schemas())] == schemas()
    assert schemas("skills", "lookup")[: len(schemas("skills"))] == schemas("skills")


def test_the_loader_names_the_groups_that_the_set_lacks() -> None:
    def groups(window: int) -> Any:
        loader = standard_toolset().list(Listing(window))[len(offered(window)) - 1]
        function = loader.schema()["function"]
        named = function["parameters"]["properties"]["group"]["enum"]
        assert all(f"{name} {GROUPS[name]}" in function["description"] for name in named)
        return named

    assert groups(8_192) == ["skills"]
    assert groups(4_096) == ["lookup", "skills"]


def test_only_tools_of_the_role_and_of_allowed_kinds_are_offered() -> None:
    reads: frozenset[Kind] = frozenset({"reads"})
    names = {tool.name for tool in standard_toolset().list(Listing(allowed=reads))}
    assert names == TOOLS - {"createUserSkill"}
    elsewhere: tuple[Role, ...] = ()
    hidden = Tool("hidden", "Hid", "Hides.", "reads", roles=elsewhere)
    assert Toolset((hidden,)).list(Listing()) == ()


# Groups that calls load


def test_a_group_is_loaded_by_the_loader_or_by_calling_one_of_its_tools() -> None:
    calls = (
        called("getWorkflowInfo"),
        called("getUserSkill", "output-error", slug="x"),
        called("loadTools", group="lookup"),
        called("listUserSkills"),
    )
    assert standard_toolset().loaded_by(calls, 4_096) == ("skills", "lookup")
    assert standard_toolset().loaded_by(calls[:2], 16_384) == ()


@pytest.mark.parametrize("given", [None, "lookup", {}, {"group": ["lookup"]}, {"group": "none"}])
def test_a_loaders_call_that_a_client_made_up_loads_nothing(given: Any) -> None:
    made_up = ToolPart("c1", "loadTools", "output-available", input=given)
    loaded = standard_toolset().loaded_by((made_up,), 4_096)
    assert offered(4_096, *loaded) == offered(4_096)


@pytest.mark.parametrize("state", ["input-available", "output-error"])
def test_a_loader_that_has_not_succeeded_loads_nothing(state: ToolState) -> None:
    assert standard_toolset().loaded_by((called("loadTools", state, group=7),), 4_096) == ()


async def test_the_loader_answers_with_the_names_that_it_loads() -> None:
    toolset = standard_toolset()
    loader = toolset.get("loadTools")
    assert loader is not None
    assert await toolset.call(loader, {"group": "lookup"}, CONTEXT) == {
        "loaded": "lookup",
        "tools": ["getWorkflowInfo", "history_search", "recall_result"],
    }


@pytest.mark.parametrize("value", [{}, {"group": "all"}, {"group": "skills", "more": 1}])
async def test_a_group_that_there_is_not_is_an_error_that_names_them(value: Any) -> None:
    toolset = standard_toolset()
    loader = toolset.get("loadTools")
    assert loader is not None
    with pytest.raises(ToolError, match="expected one of lookup"):
        await toolset.call(loader, value, CONTEXT)


# Digests and changes


def test_a_list_of_skills_hands_in_its_slugs() -> None:
    value = {"skills": [{"slug": "a", "name": "A"}, {"slug": "b"}]}
    for name in ("listUserSkills", "listSystemSkills"):
        assert standard_toolset().digest(ToolCall("c", name), value) == "a, b"
    assert standard_toolset().digest(ToolCall("c", "listUserSkills"), {"skills": []}) == "none"


def test_other_tools_hand_in_nothing() -> None:
    for name in ("getUserSkill", "flyToTheMoon"):
        assert standard_toolset().digest(ToolCall("c", name), {"slug": "a"}) is None
        assert list(standard_toolset().changes(ToolCall("c", name), {})) == []


def test_texts_name_only_tools_that_there_are() -> None:
    whole = standard_toolset()
    assert (whole.recall_name, whole.search_name) == ("recall_result", "history_search")
    some = Toolset((tool("getUserSkill"),))
    assert (some.recall_name, some.search_name) == ("", "")
