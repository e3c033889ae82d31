"""Compares `system_context/` with ComfyUI's node definitions and official templates.

It reads the `code spans` of a section. A span has one of these forms, or is a data type, a word of
`WORDS`, or an input or choice of a node that the same section names:

    Type                          a node type; with ("Title") after it, its title is checked too
    Type.input                    an input of that node
    Type.input = value            a value that this input accepts
    Type -> Type.input            a link whose types fit
    models/folder/file, models/folder
    getWorkflowInfo               a tool of the assistant

A line `Templates: `id`, `id`` in a section names official templates: the section's values, links
and model files must then occur in one of them. A value that comes through a link is followed
through primitives and switches. Whether a whole workflow runs is not checked.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .node_definitions import NUMBERS, NodeDefinitions, load_json
from .template_facts import Facts, Link, merge, template_facts

CANVAS_ONLY = frozenset({"Note", "MarkdownNote", "Reroute", "PrimitiveNode"})
TOOLS = frozenset(
    "getWorkflowInfo validateWorkflow compareWorkflows listSystemSkills getSystemSkill "
    "listUserSkills getUserSkill createUserSkill history_search recall_result "
    "askUser updatePlan editWorkflow openWorkflow undoEdits memory_write memory_search "
    "memory_recall".split()
)
# Terms of ComfyUI's file formats, folders, widgets and options that no definition holds.
WORDS = frozenset(
    "nodes links groups definitions.subgraphs widgets_values class_type inputs mode models "
    "control_after_generate fixed increment decrement randomize 57:8 /skill "
    "checkpoints diffusion_models text_encoders vae loras controlnet upscale_models clip_vision "
    "embeddings --fp32-vae --disable-all-custom-nodes models/".split()
) | {"[id, from node, output, to node, input, type]", '["4", 0]'}

SPAN = re.compile(r'`([^`\n]+)`(?: \("([^"]+)"\))?')
VALUE = re.compile(r"^(\w+)\.(\w+) = (.+)$")
INPUT = re.compile(r"^(\w+)\.(\w+)$")
LINK = re.compile(r"^(\w+) -> (\w+)\.(\w+)$")
MODEL_PATH = re.compile(r"^models/([\w]+)(?:/(.+))?$")

FLOAT_NOISE = 1e-6  # templates hold 5.000000000000001 where 5 was typed


@dataclass(frozen=True)
class Section:
    """The text below one heading of a file; `line` (from 1) is that of the heading."""

    source: str
    line: int
    text: str
    templates: tuple[str, ...]


def sections(folder: Path) -> Iterator[Section]:
    """Every section of every Markdown file below `folder`, with the templates that it names."""
    for path in sorted(folder.rglob("*.md")):
        line = 1
        for text in re.split(r"(?m)^(?=#)", path.read_text(encoding="utf-8")):
            cited = re.findall(r"(?m)^Templates: (.*)$", text)
            ids = tuple(span[1] for line in cited for span in SPAN.finditer(line))
            body = re.sub(r"(?m)^Templates: .*$", "", text)
            yield Section(path.relative_to(folder).as_posix(), line, body, ids)
            line += text.count("\n")


class Checker:
    """Checks sections against node definitions and templates."""

    def __init__(self, definitions: Mapping[str, Any], templates: Path) -> None:
        self.definitions = NodeDefinitions(definitions)
        self.templates = templates
        self._facts = lru_cache(maxsize=None)(self._read_template)

    def check(self, section: Section) -> list[str]:
        """One sentence for each wrong name or value."""
        missing = [name for name in section.templates if not self._template(name).is_file()]
        if missing:
            return [f"{section.source}:{section.line}: no template `{name}`" for name in missing]
        proof = merge([self._facts(name) for name in section.templates])
        spans = [(match[1], match[2]) for match in SPAN.finditer(section.text)]
        known = self._words(spans)
        problems = [self._problem(span, title, section, proof, known) for span, title in spans]
        return [
            f"{section.source}:{section.line}: `{span}`: {problem}"
            for (span, _), problem in zip(spans, problems, strict=True)
            if problem
        ]

    def _template(self, name: str) -> Path:
        return self.templates / f"{name}.json"

    def _read_template(self, name: str) -> Facts:
        return template_facts(load_json(self._template(name)), self.definitions)

    def _words(self, spans: list[tuple[str, str | None]]) -> frozenset[str]:
        """Input names and choices of the node types that a section names."""
        words: set[str] = set()
        for node in {re.split(r"\W", span)[0] for span, _ in spans} & set(self.definitions.types):
            for name, (kind, _) in self.definitions.inputs(node).items():
                words.add(name)
                words.update(str(choice) for choice in kind if isinstance(kind, list))
        return frozenset(words)

    def _problem(
        self, span: str, title: str | None, section: Section, proof: Facts, known: frozenset[str]
    ) -> str | None:
        if match := VALUE.match(span):
            return self._wrong_value(match[1], match[2], match[3], section, proof)
        if match := LINK.match(span):
            return self._wrong_link((match[1], match[2], match[3]), section, proof)
        if (match := MODEL_PATH.match(span)) and span not in WORDS:
            return _wrong_model(match[1], match[2], section, proof)
        if (match := INPUT.match(span)) and span not in WORDS:
            return self._wrong_input(match[1], match[2])
        if span in self.definitions.types:
            shown = self.definitions.types[span].get("display_name") or span
            return f"its title is {shown!r}" if title and title != shown else None
        if span in CANVAS_ONLY | TOOLS | WORDS | self.definitions.data_types | known:
            return None
        if section.templates and self._template(span).is_file():
            return None
        return "no such node type, tool, data type, template or known word"

    def _wrong_input(self, node: str, name: str) -> str | None:
        if node not in self.definitions.types:
            return f"no node type {node}"
        return None if name in self.definitions.inputs(node) else f"{node} has no input {name}"

    def _wrong_value(
        self, node: str, name: str, text: str, section: Section, proof: Facts
    ) -> str | None:
        if wrong := self._wrong_input(node, name):
            return wrong
        kind, options = self.definitions.inputs(node)[name]
        value = _parse(text, kind)
        if isinstance(kind, list) and kind and value not in kind:
            return f"not among its choices {kind}"
        if kind in NUMBERS:
            low, high = options.get("min", value), options.get("max", value)
            if not isinstance(value, int | float) or not low <= value <= high:
                return f"not a number from {low} to {high}"
        if not section.templates:
            return None
        found = proof.values.get((node, name), ())
        return None if any(_same(value, one) for one in found) else f"templates have {found}"

    def _wrong_link(self, link: Link, section: Section, proof: Facts) -> str | None:
        origin, target, name = link
        if origin not in self.definitions.types:
            return f"no node type {origin}"
        if wrong := self._wrong_input(target, name):
            return wrong
        kind, _ = self.definitions.inputs(target)[name]
        outputs = self.definitions.types[origin].get("output") or ()
        if not any(isinstance(kind, str) and one in (*kind.split(","), "*") for one in outputs):
            return f"{origin} has no output of type {kind}"
        if section.templates and link not in proof.links:
            return "no such link in the templates"
        return None


def _wrong_model(folder: str, name: str | None, section: Section, proof: Facts) -> str | None:
    if name is None:
        return None if folder in WORDS else "no such folder of models"
    if f"{folder}/{name}" in proof.models:
        return None
    return f"templates {section.templates} do not use it"


def _parse(text: str, kind: Any) -> Any:
    if kind == "BOOLEAN":
        return {"true": True, "false": False}.get(text, text)
    if kind in NUMBERS:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return abs(one - other) < FLOAT_NOISE
    return bool(one == other)
