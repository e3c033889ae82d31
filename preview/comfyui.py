"""The port to ComfyUI in the preview, which has node definitions and nothing else of an engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..assistant.comfy_port import Queue, Run
from .catalog import Catalog
from .engine import MODEL_FOLDERS
from .templates import templates_folder


@dataclass(frozen=True)
class PreviewComfyUI:
    """Implements `comfy_port.ComfyPort`: no model files, an empty queue, no log. `user_folder` is
    that of the one user; None where nothing is saved."""

    catalog: Catalog
    user_folder: Path | None = None

    def node_definitions(self) -> Mapping[str, Any]:
        return self.catalog.nodes

    def model_folders(self) -> Mapping[str, Sequence[Path]]:
        return dict.fromkeys(MODEL_FOLDERS, ())

    def model_files(self, kind: str) -> Sequence[str]:
        return ()

    def queue(self) -> Queue:
        return Queue()

    def run(self, run_id: str) -> Run | None:
        return None

    def log(self) -> Sequence[str] | None:
        return None

    def workflows_folder(self, user: str) -> Path | None:
        return None if self.user_folder is None else self.user_folder / "workflows"

    def template_files(self) -> Mapping[str, Path]:
        try:
            folder = templates_folder()
        except ModuleNotFoundError:
            return {}
        paths = sorted(folder.glob("*.json"))
        return {path.stem: path for path in paths if not path.stem.startswith("index")}

    def package_lists(self) -> Sequence[Path]:
        return ()
