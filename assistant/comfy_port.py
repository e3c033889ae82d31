"""The port to ComfyUI: what the assistant reads of the ComfyUI that it runs in.

`comfyui.py` implements it over ComfyUI's own modules, `preview/comfyui.py` for the preview, which
has no engine. All methods may read files or take a lock of ComfyUI: call them in a thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

RunState = Literal["queued", "running", "done", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class Queue:
    """Ids of the runs in ComfyUI's queue; `waiting` is in the order in which they will run."""

    running: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a workflow. `position` counts the runs before it while it waits, else 0. `outputs`
    maps addresses of nodes to their outputs, as ComfyUI's history has them."""

    id: str
    state: RunState
    position: int
    outputs: Mapping[str, Any]


class ComfyPort(Protocol):
    """The nodes, models, runs, log, saved workflows and templates of a ComfyUI."""

    def node_definitions(self) -> Mapping[str, Any]:
        """All node definitions by type, in the shape of `/object_info`."""

    def model_folders(self) -> Mapping[str, Sequence[Path]]:
        """The folders on disk of each kind of model, such as "loras"."""

    def model_files(self, kind: str) -> Sequence[str]:
        """Names of the model files of a kind, spelled as in ComfyUI's own choices; empty for an
        unknown kind."""

    def queue(self) -> Queue:
        """The ids of the runs that ComfyUI executes now, and of the runs that wait."""

    def run(self, run_id: str) -> Run | None:
        """A run that is in the queue or in ComfyUI's history; None for any other."""

    def log(self) -> Sequence[str] | None:
        """The lines that ComfyUI keeps of its log, oldest first; None where it keeps none."""

    def workflows_folder(self, user: str) -> Path | None:
        """The folder with the workflows that a ComfyUI user saved, which may not exist yet; None
        for an id that has no folder."""

    def template_files(self) -> Mapping[str, Path]:
        """The file of each workflow template by the template's id; empty where the package of
        templates is not installed."""

    def package_lists(self) -> Sequence[Path]:
        """The files in which ComfyUI-Manager lists the types of nodes that packages have
        (`extension-node-map.json`), newest first; none where it is not installed."""
