"""The workflows that a tool finds by name: those that a ComfyUI user saved, and the templates."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Final

from ..comfy_port import ComfyPort
from ..errors import NotAWorkflow, ToolError
from ..workflow.graph import Graph
from ..workflow.parse import read_workflow

ENDING: Final = ".json"
MOST_BYTES: Final = 64_000_000
"""Of a file that is read; what ComfyUI's front end opens is smaller."""
MOST_FILES: Final = 5_000
"""Saved workflows that are listed when a name is not found."""
LONGEST_NAME: Final = 300
"""Characters of a path, as file systems have them."""


class WorkflowLibrary:
    """For one ComfyUI user. All methods read files: call them in a thread."""

    def __init__(self, comfyui: ComfyPort, user: str) -> None:
        self._comfyui = comfyui
        self._user = user

    def saved(self, name: str) -> Graph | None:
        """The workflow of this name, a path below `workflows/` with or without `.json`; None where
        there is none. Raises ToolError for a file that is no workflow."""
        path = self._path(name)
        return None if path is None else _read(path)

    def has_saved(self, name: str) -> bool:
        """Whether the user has a saved workflow of this name."""
        return self._path(name) is not None

    def _path(self, name: str) -> Path | None:
        """The file of the saved workflow of this name, if it is there. A whole path is not even
        looked up: of `\\\\host\\share` Windows asks that machine, and tells it who the user is."""
        folder = self._folder()
        if folder is None or not 0 < len(name) <= LONGEST_NAME or "\0" in name:
            return None
        if name.startswith(("/", "\\")):
            return None
        path = (folder / f"{name.removesuffix(ENDING)}{ENDING}").resolve()
        return path if folder in path.parents and path.is_file() else None

    def template(self, identity: str) -> Graph | None:
        """The template with this id; None where there is none. Raises ToolError for a file that is
        no workflow."""
        path = self._comfyui.template_files().get(identity.removesuffix(ENDING))
        return None if path is None else _read(path)

    def nearest(self, name: str, count: int) -> list[str]:
        """The names of saved workflows and the ids of templates that are most like this name."""
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(name[:LONGEST_NAME].casefold())

        def likeness(other: str) -> float:
            matcher.set_seq1(other.casefold())
            return matcher.ratio()

        return sorted(self._names(), key=likeness, reverse=True)[:count]

    def _names(self) -> list[str]:
        folder, names = self._folder(), list(self._comfyui.template_files())
        if folder is None:
            return names
        found = islice(folder.rglob(f"*{ENDING}"), MOST_FILES)
        saved = [path.relative_to(folder).with_suffix("").as_posix() for path in found]
        return [*sorted(saved), *names]

    def _folder(self) -> Path | None:
        folder = self._comfyui.workflows_folder(self._user)
        return None if folder is None else folder.resolve()


def _read(path: Path) -> Graph:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ToolError(f"This workflow's file has more than {MOST_BYTES // 1_000_000} MB.")
        return read_workflow(path.read_bytes())
    except OSError as error:
        raise ToolError(f"This workflow's file cannot be read: {error.strerror}.") from error
    except NotAWorkflow as error:
        raise ToolError(error.message) from error
