"""What a workflow does and what is odd about it, from its graph: the way in to the analysis."""

from __future__ import annotations

from dataclasses import dataclass

from .analysis import Analysis, analyse
from .api_prompt import api_prompt
from .findings import Finding, findings
from .flow import Flow
from .graph import Graph
from .node_definitions import NodeDefinitions
from .summary import details, sentence


@dataclass(frozen=True, slots=True)
class Explanation:
    """`sentence` says what the workflow makes ("" where no output is known), `lines` how, and
    `findings` what is odd."""

    analysis: Analysis
    sentence: str
    lines: tuple[str, ...]
    findings: tuple[Finding, ...]

    def text(self) -> str:
        """All of it for a model, a line each."""
        odd = (f"Odd at {one.node}.{one.input}: {one.message}" for one in self.findings)
        return "\n".join(line for line in (self.sentence, *self.lines, *odd) if line)


def explain(graph: Graph, definitions: NodeDefinitions) -> Explanation:
    """The explanation of a workflow or an API prompt. It takes as long as making the prompt."""
    prompt = api_prompt(graph, definitions)
    found = analyse(prompt, definitions)
    odd = findings(Flow(prompt, definitions), found)
    return Explanation(found, sentence(found), tuple(details(found)), tuple(odd))
