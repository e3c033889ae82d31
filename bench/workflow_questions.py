"""Which answers about a workflow a text view of it holds, whatever the view's format.

The questions (`workflow_questions.json`) were written from the raw templates before there was a
view; those of `workflow_questions_fresh.json` later, about other templates, by somebody who had not
seen the view. Each has facts, and the view holds the answer when it holds all of them:

- `value`: near one of the nodes `of`, one of the names `name` stands before one of the values `is`.
- `size`: near one of the nodes `of`, `width` and `height` have these values, or `W x H` is there.
- `says`: near one of the nodes `of`, each of `all` matches (regular expressions).
- `link`: the input `input` of the node `to` is said to come from one of the nodes `from`.
- `mode`: the node is said to be bypassed or muted.
- `text`: each of the regular expressions matches somewhere in one line.

*Near a node* means in its block: a line that begins with the node's address and its type, title or
subgraph, and the lines below it up to the line that begins another node. Inside a subgraph the last
number of the address is enough, since a view may show a subgraph once for all its instances.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plugin.bench.workflow_raw import Placed, Raw, placed, subgraphs

QUESTIONS = Path(__file__).with_name("workflow_questions.json")
FRESH = Path(__file__).with_name("workflow_questions_fresh.json")
HEAD = 160
"""Characters at the start of a line in which a node's address and type make it that node's line."""
MODES = {
    "bypass": r"bypass|skipped|mode\W{1,4}4\b",
    "mute": r"\bmute|disabled|\bnever\b|mode\W{1,4}2\b",
}
LABEL = r"(?:\(\"[^\"\n]*\"\)|:[\w,*]+){0,2}"
"""What may stand behind a name: another name for people, and a type."""
BETWEEN = LABEL + r"[^\w\n]{1,8}(?:(?:from|node|link|input)[^\w\n]{1,3})?"
"""What may stand between a name and its value or its source."""
DEFAULTS = re.compile(r"^\W*(?:\w+\W+)?defaults?\b", re.IGNORECASE)
"""A line that gives values for all nodes of a type."""


@dataclass(frozen=True, slots=True)
class Question:
    template: str
    question: str
    answer: str
    facts: tuple[Raw, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What may name a node in a view."""

    place: Placed
    names: tuple[str, ...]

    @property
    def ids(self) -> str:
        """The address or its end, not as a part of another number, address or word."""
        path = self.place.address.split(":")
        ends = (":".join(path[start:]) for start in range(len(path)))
        return rf"(?<![0-9A-Za-z.:])(?:{'|'.join(re.escape(one) for one in ends)})"

    @property
    def named(self) -> str:
        return rf"(?<!\w)(?:{'|'.join(re.escape(one) for one in self.names)})(?!\w)"


def questions(file: Path = QUESTIONS) -> list[Question]:
    stored = json.loads(file.read_text(encoding="utf-8"))["questions"]
    return [Question(**{**one, "facts": tuple(one["facts"])}) for one in stored]


def held(view: str, workflow: Raw, facts: Iterable[Raw]) -> bool:
    """Whether the view holds all of the facts about this workflow."""
    read = _View(view, workflow)
    return all(read.holds(fact) for fact in facts)


def score(
    load: Callable[[str], Raw], view: Callable[[Raw], str], file: Path = QUESTIONS
) -> tuple[list[Question], list[Question]]:
    """The questions of `file` whose answers `view` holds, and the others.

    `load` gives a template's workflow by its id.
    """
    texts: dict[str, tuple[Raw, str]] = {}
    found: list[Question] = []
    missing: list[Question] = []
    for one in questions(file):
        if one.template not in texts:
            workflow = load(one.template)
            texts[one.template] = (workflow, view(workflow))
        workflow, text = texts[one.template]
        (found if held(text, workflow, one.facts) else missing).append(one)
    return found, missing


class _View:
    """A view cut into the blocks of its nodes."""

    def __init__(self, text: str, workflow: Raw) -> None:
        self.lines = text.splitlines()
        self._known = _known(workflow)
        self._of_subgraph: dict[str, list[str]] = {}
        for address, known in self._known.items():
            if known.place.type in subgraphs(workflow):
                for name in known.names:
                    self._of_subgraph.setdefault(name, []).append(address)
        self._owners = [self._owner(line) for line in self.lines]
        self._defaults = "; ".join(line for line in self.lines if DEFAULTS.search(line))

    def holds(self, fact: Raw) -> bool:
        ((kind, body),) = fact.items()
        checks: dict[str, Callable[[Any], bool]] = {
            "value": self._value,
            "size": self._size,
            "says": self._says,
            "link": self._link,
            "mode": self._mode,
            "text": self._text,
        }
        return checks[kind](body)

    def _owner(self, line: str) -> tuple[str, ...]:
        """The addresses of the nodes whose block begins here: those named first in the line."""
        if DEFAULTS.search(line):
            return ()
        head, found = line[:HEAD], list[tuple[int, str]]()
        for address, known in self._known.items():
            if known.place.local not in head:
                continue
            ids = re.search(known.ids + r"(?![0-9]|[.:]\w)", head)
            named = re.search(known.named, head)
            if ids and named:
                found.append((max(ids.start(), named.start()), address))
        if found:
            first = min(found)[0]
            return tuple(address for place, address in found if place == first)
        for name, addresses in self._of_subgraph.items():
            if re.search(rf"^\W*(?:\w+\W+){{0,3}}{re.escape(name)}(?!\w)", head):
                return tuple(addresses)
        return ()

    def _blocks(self, addresses: Sequence[str]) -> list[str]:
        found = []
        for place, owners in enumerate(self._owners):
            here = [one for one in addresses if one in owners]
            if here:
                end = place + 1
                while end < len(self.lines) and not self._owners[end]:
                    end += 1
                block = "\n".join(self.lines[place:end])
                found.append(f"{block}\n{self._default_values(here[0], block)}")
        return found

    def _default_values(self, address: str, block: str) -> str:
        """What the line of defaults gives for the node's type and its block does not say."""
        known = self._known[address]
        listed = re.search(rf"(?<!\w){re.escape(known.names[0])} ([^;\n]*)", self._defaults)
        said = re.findall(r"([\w.]+)=(\S+)", listed[1]) if listed else []
        missing = (one for one in said if not re.search(rf"(?<![\w.]){one[0]}\W", block))
        return " ".join("=".join(one) for one in missing)

    def _value(self, body: Raw) -> bool:
        names = "|".join(re.escape(name) for name in body["name"])
        values = "|".join(_value_pattern(value) for value in body["is"])
        pattern = rf"(?<!\w)(?:{names})(?!\w){BETWEEN}(?:{values})"
        if any(re.search(pattern, block, re.I) for block in self._blocks(body["of"])):
            return True
        titled = rf"(?:{names})\W[^\n]*?(?<![\w.])(?:{values})"
        plain = [block for block in self._blocks(body["of"]) if re.search(titled, block, re.I)]
        return any(self._is_primitive(address) for address in body["of"]) and bool(plain)

    def _is_primitive(self, address: str) -> bool:
        """Whether the node has one value, which a view may show without a name."""
        known = self._known.get(address)
        return known is not None and known.place.type.startswith("Primitive")

    def _size(self, body: Raw) -> bool:
        width, height = body["width"], body["height"]
        both = rf"(?<!\d){width}\s*[x×*]\s*{height}(?!\d)"
        if any(re.search(both, block) for block in self._blocks(body["of"])):
            return True
        sides = (("width", width), ("height", height))
        return all(
            self._value({"of": body["of"], "name": [name], "is": [side]}) for name, side in sides
        )

    def _says(self, body: Raw) -> bool:
        return any(_all_match(body["all"], block) for block in self._blocks(body["of"]))

    def _text(self, body: list[list[str]]) -> bool:
        return any(_all_match(body, line) for line in self.lines)

    def _mode(self, body: Raw) -> bool:
        said, known = MODES[body["is"]], self._known[body["node"]]
        named = known.ids + r"(?![0-9]|[.:]\w)"
        for place, line in enumerate(self.lines):
            if body["node"] in self._owners[place] and re.search(said, line[:HEAD], re.I):
                return True
            listed = re.match(rf"\W*(?:\w+\W+)?(?:{said})", line, re.I)
            if listed and re.search(named, line):
                return True
            if body["node"] in self._owners[place] and self._below(place, said):
                return True
        return False

    def _below(self, place: int, said: str) -> bool:
        """Whether a line above, indented less than all between, says it: a group of such nodes."""
        indent = _indent(self.lines[place])
        for line in reversed(self.lines[:place]):
            if line.strip() and _indent(line) < indent:
                indent = _indent(line)
                if re.search(said, line[:HEAD], re.I) and not self._owner(line):
                    return True
        return False

    def _link(self, body: Raw) -> bool:
        slot = re.escape(body["input"])
        consumer = self._known[body["to"]]
        for source in body["from"]:
            known = self._known[source]
            by_id = rf"(?:\w+_)?{known.ids}(?![0-9])(?!:\d)(?!\.\d\d)"
            pattern = rf"(?<!\w){slot}(?!\w){BETWEEN}(?:{by_id}|{known.named})"
            if any(re.search(pattern, block) for block in self._blocks([body["to"]])):
                return True
            onward = rf"{known.ids}(?:[.\s]\w+)?\W{{1,6}}{consumer.ids}\.{slot}(?!\w)"
            if re.search(onward, "\n".join(self.lines)):
                return True
        return False


def _known(workflow: Raw) -> dict[str, Known]:
    definitions = subgraphs(workflow)
    found = {}
    for place in placed(workflow):
        definition = definitions.get(place.type)
        own = str(definition.get("name")) if definition else place.type
        title = place.node.get("title")
        names = (own, title) if isinstance(title, str) and len(title) > 1 else (own,)
        found[place.address] = Known(place, names)
    return found


def _value_pattern(value: str) -> str:
    if re.fullmatch(r"-?\d+(?:\.\d+)?", value):
        return rf"(?<![\w.]){re.escape(value)}(?:\.0+)?(?!\d)(?!\.\d)"
    return rf"(?<!\w){re.escape(value)}(?!\w)"


def _all_match(wanted: Iterable[Sequence[str]], text: str) -> bool:
    return all(any(re.search(one, text, re.I) for one in alternatives) for alternatives in wanted)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
