"""The analysis of official templates for the tests, each worked out once."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from plugin.assistant.workflow.analysis import Analysis, analyse
from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.preview.catalog import load_catalog
from plugin.preview.templates import templates_folder

Prompt = dict[str, Any]


@cache
def definitions() -> NodeDefinitions:
    return NodeDefinitions(load_catalog().nodes)


@cache
def template_prompt(template: str) -> Prompt:
    """The API prompt of a template. Callers that change it copy it first."""
    text = (templates_folder() / f"{template}.json").read_text(encoding="utf-8")
    return api_prompt(parse_workflow(json.loads(text)), definitions())


@cache
def template_analysis(template: str) -> Analysis:
    return analyse(template_prompt(template), definitions())
