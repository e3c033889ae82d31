"""The node *Assistant Prompt* in the stock front end, with the definition that the plugin gives."""

import json
from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from playwright.sync_api import Browser, Route
from plugin.assistant.startup import Startup
from plugin.nodes import DISPLAY_NAME, NAME, node_mappings
from plugin.tests.e2e.panel import Panel, opened_panel

pytestmark = pytest.mark.e2e

ADD_NODE = """name => {
    const node = window.LiteGraph.createNode(name)
    window.app.rootGraph.add(node)
    return node.id
}"""
WIDGETS = """id => Object.fromEntries(
    window.app.rootGraph.getNodeById(id).widgets.map(({name, value}) => [name, value]))"""
EXECUTED = """([id, text]) => window.app.api.dispatchCustomEvent('executed', {
    node: String(id), display_node: String(id), prompt_id: 'p', output: {text: [text]}})"""
STORED = """id => window.app.rootGraph.serialize().nodes
    .find(node => String(node.id) === String(id)).widgets_values"""


def definition() -> dict[str, object]:
    """The node as ComfyUI's `/object_info` describes it."""
    node = node_mappings(Mock(spec=Startup))[0][NAME]
    inputs = node.INPUT_TYPES()
    return {
        "name": NAME,
        "display_name": DISPLAY_NAME,
        "description": node.DESCRIPTION,
        "category": node.CATEGORY,
        "input": inputs,
        "input_order": {kind: list(of_kind) for kind, of_kind in inputs.items()},
        "output": node.RETURN_TYPES,
        "output_name": node.RETURN_NAMES,
        "output_is_list": [False],
        "output_node": node.OUTPUT_NODE,
        "python_module": "custom_nodes.assistant",
    }


@pytest.fixture
def with_node(browser: Browser, url: str) -> Iterator[Panel]:
    def add(route: Route) -> None:
        nodes = route.fetch().json()
        route.fulfill(body=json.dumps({**nodes, NAME: definition()}))

    with opened_panel(browser, url) as panel:
        panel.page.route("**/api/object_info", add)
        panel.reload()
        yield panel


def test_the_seed_stays_and_the_answer_is_shown_on_the_node(with_node: Panel) -> None:
    panel = with_node
    node = panel.evaluate(ADD_NODE, NAME)
    widgets = panel.evaluate(WIDGETS, node)
    assert widgets["control_after_generate"] == "fixed"
    stored = panel.evaluate(STORED, node)
    panel.evaluate(EXECUTED, [node, "A fox in the snow"])
    assert panel.evaluate(WIDGETS, node)["answer"] == "A fox in the snow"
    panel.evaluate(EXECUTED, [node, "A hare"])
    assert panel.evaluate(WIDGETS, node)["answer"] == "A hare"
    assert panel.evaluate(STORED, node) == stored
