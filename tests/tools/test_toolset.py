"""The toolset: its tools, the tools that a request offers, and the call of a tool.

How a toolset works is tested with `SAMPLE`, so that a new tool of the product changes nothing here.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.context.tokens import schema_text, schema_tokens
from plugin.assistant.errors import ToolError
from plugin.assistant.messages.parts import ToolPart, ToolState
from plugin.assistant.messages.prompt import ToolCall
from plugin.assistant.tools.tool import (
    EVERY_WINDOW,
    FULL_WINDOW,
    SMALL_WINDOW,
    Kind,
    Role,
    Tool,
    ToolContext,
    ToolGroup,
)
from plugin.assistant.tools.toolset import GROUPS, LOAD_TOOLS, Listing, Toolset, standard_toolset
from plugin.scripts.knowledge.checker import TOOLS

CONTRACT = Path(__file__).resolve().parents[2] / "docs" / "contracts" / "workflow-tools.md"
CONTEXT = ToolContext(skills=None)  # type: ignore[arg-type]


async def _nothing(_: Any, context: ToolContext) -> Any:
    return None


def made(name: str, kind: Kind, window: int, group: ToolGroup) -> Tool:
    """A tool of the server that does nothing."""
    return Tool(
        name,
        f"Used {name}",
        f"Is {name}.",
        kind,
        run=_nothing,
        parallel=kind == "reads",
        window=window,
        group=group,
    )


SAMPLE = Toolset(
    (
        made("look", "reads", EVERY_WINDOW, "lookup"),
        made("listGuides", "reads", FULL_WINDOW, "skills"),
        made("readGuide", "reads", SMALL_WINDOW, "skills"),
        made("saveGuide", "acts", FULL_WINDOW, "skills"),
        made("paint", "edits", FULL_WINDOW, "edit"),
        made("search", "reads", SMALL_WINDOW, "lookup"),
        made("recall", "reads", EVERY_WINDOW, "lookup"),
    )
)
SMALLEST = ("look", "recall")
SMALL = ("look", "readGuide", "search", "recall")
EACH_TOOLSET = pytest.mark.parametrize(
    "toolset", [SAMPLE, standard_toolset()], ids=["sample", "product"]
)


def tool(name: str) -> Tool:
    [found] = [tool for tool in standard_toolset() if tool.name == name]
    return found


def offered(window: int, *loaded: str) -> tuple[str, ...]:
    return tuple(tool.name for tool in SAMPLE.list(Listing(window, loaded=loaded)))


def called(name: str, state: ToolState = "output-available", **arguments: Any) -> ToolPart:
    return ToolPart("c1", name, state, input=arguments)


# The tools of the product


def test_the_knowledge_checker_knows_exactly_these_tools() -> None:
    names = set(standard_toolset().names)
    assert names == TOOLS, (
        f"Change TOOLS in scripts/knowledge/checker.py: add {sorted(names - TOOLS)}, "
        f"take out {sorted(TOOLS - names)}."
    )


def test_the_contract_names_every_tool_as_built() -> None:
    built = contract("## Built", "## Not built yet")
    missing = sorted(set(standard_toolset().names) - built)
    assert not missing, f"Add {missing} to 'Built' in docs/contracts/workflow-tools.md."


@pytest.mark.parametrize(
    ("window", "start", "end"),
    [
        (FULL_WINDOW, "From a window of 16k tokens on:", "From 8k:"),
        (SMALL_WINDOW, "From 8k:", "Below 8k:"),
        (SMALL_WINDOW - 1, "Below 8k:", "In a task's chat"),
    ],
)
def test_a_window_is_offered_what_the_contract_says(window: int, start: str, end: str) -> None:
    toolset = standard_toolset()
    said = contract(start, end) & set(toolset.names)
    if window == FULL_WINDOW:  # the contract: "all reads", and those that it names
        said |= {tool.name for tool in toolset if tool.kind == "reads"}
    found = {tool.name for tool in toolset.list(Listing(window))} - {LOAD_TOOLS}
    assert found == said, (
        f"A window of {window} tokens: the code offers {sorted(found - said)}, which 'Sets of "
        f"tools' in docs/contracts/workflow-tools.md leaves out, and lacks {sorted(said - found)}, "
        "which it names. Set `window` of the tool as the page says; a tool that the page does not "
        "know goes into the page."
    )


@pytest.mark.parametrize(
    ("words", "listing"),
    [
        ("the set from 16k under", Listing(FULL_WINDOW)),
        ("everything under", Listing(EVERY_WINDOW + 1, loaded=tuple(GROUPS))),
        ("the set from 8k under", Listing(SMALL_WINDOW)),
        ("the smallest under", Listing(SMALL_WINDOW - 1)),
    ],
)
def test_the_schemas_of_a_set_have_the_tokens_that_the_contract_allows(
    words: str, listing: Listing
) -> None:
    found = re.search(f"{words} ([0-9,]+)", CONTRACT.read_text(encoding="utf-8"))
    assert found, f"docs/contracts/workflow-tools.md has not {words!r}"
    schemas = tuple(tool.schema() for tool in standard_toolset().list(listing))
    assert schema_tokens(schema_text(schemas)) < int(found[1].replace(",", ""))


def contract(start: str, end: str) -> set[str]:
    """The names that the contract has in backticks between two marks."""
    text = CONTRACT.read_text(encoding="utf-8")
    assert text.count(start) == 1, f"docs/contracts/workflow-tools.md has not one {start!r}"
    part, found, _ = text.partition(start)[2].partition(end)
    assert found, f"docs/contracts/workflow-tools.md has no {end!r} after {start!r}"
    return set(re.findall(r"`(\w+)`", part))


# Rules for the tools of any toolset


@EACH_TOOLSET
def test_what_acts_asks_first_and_nothing_else(toolset: Toolset) -> None:
    for each in toolset:
        assert each.asks_first == (each.kind == "acts"), each.name


@EACH_TOOLSET
def test_every_tool_has_words_for_people_and_code_where_the_server_runs_it(
    toolset: Toolset,
) -> None:
    for each in toolset:
        assert (each.run is not None) == (each.place == "server"), each.name
        assert each.title, each.name
        assert each.title != each.name
        assert each.group in GROUPS, each.name


@EACH_TOOLSET
def test_reads_may_run_in_parallel_and_nothing_else(toolset: Toolset) -> None:
    for each in toolset:
        assert each.parallel == (each.kind == "reads"), f"{each.name}: set `parallel` for a read"


def test_a_name_that_is_used_twice_is_refused() -> None:
    twice = made("look", "reads", EVERY_WINDOW, "lookup")
    with pytest.raises(ValueError, match="two tools are named 'look'"):
        Toolset((twice, twice))


def test_an_unknown_name_gives_nothing() -> None:
    assert SAMPLE.get("flyToTheMoon") is None


# Which tools a request offers


def test_a_large_window_is_offered_every_tool_and_no_loader() -> None:
    assert offered(16_384) == SAMPLE.names
    assert offered(1_000_000) == SAMPLE.names


@pytest.mark.parametrize(
    ("window", "names"), [(8_192, SMALL), (16_383, SMALL), (4_096, SMALLEST), (8_191, SMALLEST)]
)
def test_a_small_window_is_offered_the_smaller_set_and_the_loader(
    window: int, names: tuple[str, ...]
) -> None:
    assert offered(window) == (*names, "loadTools")


def test_loaded_groups_stand_after_the_others_in_the_order_of_loading() -> None:
    assert offered(8_192, "skills") == (*SMALL, "loadTools", "listGuides", "saveGuide")
    skills = ("listGuides", "readGuide", "saveGuide")
    assert offered(4_096, "skills", "lookup")[3:] == (*skills, "search")
    assert offered(4_096, "lookup", "skills")[3:] == ("search", *skills)


@EACH_TOOLSET
def test_the_schemas_of_a_turn_begin_alike_whatever_it_loads(toolset: Toolset) -> None:
    def schemas(*loaded: str) -> list[dict[str, Any]]:
        return [tool.schema() for tool in toolset.list(Listing(4_096, loaded=loaded))]

    assert schemas("skills")[: len(schemas())] == schemas()
    assert schemas("skills", "lookup")[: len(schemas("skills"))] == schemas("skills")


def test_the_loader_names_the_groups_that_the_set_lacks() -> None:
    def groups(window: int) -> Any:
        loader = SAMPLE.list(Listing(window))[-1]
        function = loader.schema()["function"]
        named = function["parameters"]["properties"]["group"]["enum"]
        assert all(f"{name} {GROUPS[name]}" in function["description"] for name in named)
        return named

    assert groups(8_192) == ["edit", "skills"]
    assert groups(4_096) == ["lookup", "edit", "skills"]


def test_only_tools_of_the_role_and_of_allowed_kinds_are_offered() -> None:
    reads: frozenset[Kind] = frozenset({"reads"})
    names = {tool.name for tool in SAMPLE.list(Listing(allowed=reads))}
    assert names == set(SAMPLE.names) - {"saveGuide", "paint"}
    elsewhere: tuple[Role, ...] = ()
    hidden = Tool(
        "hidden", "Hid", "Hides.", "reads", place="panel", roles=elsewhere, group="lookup"
    )
    assert Toolset((hidden,)).list(Listing()) == ()


# Groups that calls load


def test_a_group_is_loaded_by_the_loader_or_by_calling_one_of_its_tools() -> None:
    calls = (
        called("look"),
        called("readGuide", "output-error", slug="x"),
        called("loadTools", group="lookup"),
        called("listGuides"),
    )
    assert SAMPLE.loaded_by(calls, 4_096) == ("skills", "lookup")
    assert SAMPLE.loaded_by(calls[:2], 16_384) == ()


@pytest.mark.parametrize("given", [None, "lookup", {}, {"group": ["lookup"]}, {"group": "none"}])
def test_a_loaders_call_that_a_client_made_up_loads_nothing(given: Any) -> None:
    made_up = ToolPart("c1", "loadTools", "output-available", input=given)
    loaded = SAMPLE.loaded_by((made_up,), 4_096)
    assert offered(4_096, *loaded) == offered(4_096)


@pytest.mark.parametrize("state", ["input-available", "output-error"])
def test_a_loader_that_has_not_succeeded_loads_nothing(state: ToolState) -> None:
    assert SAMPLE.loaded_by((called("loadTools", state, group=7),), 4_096) == ()


async def test_the_loader_answers_with_the_names_that_it_loads() -> None:
    loader = SAMPLE.get("loadTools")
    assert loader is not None
    assert await SAMPLE.call(loader, {"group": "lookup"}, CONTEXT) == {
        "loaded": "lookup",
        "tools": ["look", "search", "recall"],
    }


@pytest.mark.parametrize("value", [{}, {"group": "all"}, {"group": "skills", "more": 1}])
async def test_a_group_that_there_is_not_is_an_error_that_names_them(value: Any) -> None:
    loader = SAMPLE.get("loadTools")
    assert loader is not None
    with pytest.raises(ToolError, match="expected one of lookup"):
        await SAMPLE.call(loader, value, CONTEXT)


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


def test_no_approval_for_a_chat_covers_the_saving_of_a_skill() -> None:
    """`web/views/approval.js` offers no "Always" for it."""
    assert standard_toolset().asks_each_time == {"createUserSkill"}
