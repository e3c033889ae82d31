"""Where a workflow itself says that its model files can be had.

Two places: `properties.models` of a node (`{"name", "url", "directory"}`), and notes, which have
links to files and trees of folders. An address is taken only where its last part is the file's own
name, so a note cannot give one file the address of another by its words alone. What is said here
is the workflow's author's word, not ours: nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from .graph import Graph
from .inputs import mapping, sequence
from .parts import NOTES
from .validation_files import MODEL_ENDINGS

LONGEST_NOTE = 100_000
"""Characters of one note that are searched."""
LONGEST_ADDRESS = 1_000
_ADDRESS = re.compile(r"https?://[^\s<>\"'\])}`|]{1,1000}")
_FOLDER = re.compile(r"^[\s│├└─┬|`+\-*\\]*(?:[^\w\s]{1,3} ?)?([\w.-]{1,60})/\s*$")
_TREE = "│├└─┬|`+-* \t"
"""What stands before a file in a tree."""


@dataclass(frozen=True)
class Source:
    """A model file as the workflow names it: its folder below `models`, and its web address."""

    name: str
    folder: str | None = None
    address: str | None = None


def file_sources(graph: Graph) -> dict[str, Source]:
    """The sources by the file's own name in lower case, without folders."""
    found: dict[str, Source] = {}
    for source in _said(graph):
        key = source.name.lower()
        known = found.get(key)
        if known is not None:
            source = Source(
                known.name, known.folder or source.folder, known.address or source.address
            )
        found[key] = source
    return found


def _said(graph: Graph) -> Iterator[Source]:
    """What the nodes say, then what the notes say, which counts less."""
    notes: list[str] = []
    for scope in graph.scopes():
        for node in scope.nodes.values():
            for model in sequence(node.properties.get("models")):
                source = _model(mapping(model))
                if source is not None:
                    yield source
            if node.type in NOTES:
                notes.extend(text for text in node.values[:1] if isinstance(text, str))
    for note in notes:
        yield from note_sources(note[:LONGEST_NOTE])


def _model(model: Mapping[str, object]) -> Source | None:
    name, url, folder = model.get("name"), model.get("url"), model.get("directory")
    if not isinstance(name, str) or not name:
        return None
    web = isinstance(url, str) and url.startswith(("https://", "http://"))
    return Source(
        _last_part(name),
        folder if isinstance(folder, str) and folder else None,
        url if isinstance(url, str) and web and len(url) <= LONGEST_ADDRESS else None,
    )


def note_sources(text: str) -> Iterator[Source]:
    """The files that a note links to, and the folders that its trees put files in."""
    for found in _ADDRESS.finditer(text):
        address = found[0].rstrip(".,;:!?*_")
        try:
            name = unquote(_last_part(urlsplit(address).path))
        except ValueError:  # no address after all, such as a bracket without its other one
            continue
        if name.lower().endswith(MODEL_ENDINGS):
            yield Source(name, None, address)
    folder: str | None = None
    for line in text.splitlines():
        opened = _FOLDER.match(line[:200])
        if opened:
            folder = opened[1]
        elif folder and line.rstrip().lower().endswith(MODEL_ENDINGS):
            yield Source(_last_part(line.strip(_TREE).split()[-1]), folder, None)
        elif line.startswith("```"):
            folder = None


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
