"""Counts of this ComfyUI's packages, node types and models, for the system message (R7).

The counts are stored in `environment/summary.json` of the user's folder. Counting walks the model
folders, which may be large and slow, so `refresh_environment` runs in a thread. The caller passes
the number of node types and the model folders.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import files
from .sources import SourceCache

MODEL_SUFFIXES = frozenset(
    (".safetensors", ".sft", ".ckpt", ".pt", ".pt2", ".pth", ".bin", ".pkl", ".gguf", ".onnx")
)
"""Suffixes of model files in ComfyUI and in its commonest extensions (GGUF, ONNX)."""

_SUMMARY = ("environment", "summary.json")


@dataclass(frozen=True, slots=True)
class EnvironmentSummary:
    """Counts of installed Python packages, node types and model files."""

    packages: int
    node_types: int
    models: int

    def __str__(self) -> str:
        """A line such as `87 packages, 523 node types, 150 models`."""
        counts = (
            (self.packages, "package"),
            (self.node_types, "node type"),
            (self.models, "model"),
        )
        return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts)


def load_environment_summary(user_path: Path, cache: SourceCache | None = None) -> str:
    """The counts as one line, from the user's folder; empty before the first count."""
    summary = (cache or SourceCache()).read(user_path.joinpath(*_SUMMARY), parse_summary)
    return str(summary) if summary else ""


def parse_summary(text: str) -> EnvironmentSummary | None:
    try:
        counts = json.loads(text)
        return EnvironmentSummary(
            *(int(counts[name]) for name in ("packages", "node_types", "models"))
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


async def refresh_environment(
    user_path: Path, node_types: int, model_folders: Iterable[Path]
) -> EnvironmentSummary:
    """Count in a thread and store the result; the file is written only if a count changed.

    Raises `OSError` when the file cannot be written.
    """
    return await asyncio.to_thread(_refresh, user_path, node_types, tuple(model_folders))


def _refresh(
    user_path: Path, node_types: int, model_folders: tuple[Path, ...]
) -> EnvironmentSummary:
    summary = EnvironmentSummary(_count_packages(), node_types, count_models(model_folders))
    path = user_path.joinpath(*_SUMMARY)
    if SourceCache().read(path, parse_summary) != summary:
        files.write_text(path, json.dumps(asdict(summary)) + "\n")
    return summary


def _count_packages() -> int:
    found = (distribution.metadata for distribution in importlib.metadata.distributions())
    return len({metadata["Name"].lower() for metadata in found if "Name" in metadata})


def count_models(folders: Iterable[Path]) -> int:
    """The number of model files in `folders` and below, each counted once; links are followed, as
    ComfyUI does."""
    seen: set[str] = set()
    files: set[str] = set()
    for folder in folders:
        for root, names, file_names in os.walk(folder, followlinks=True):
            real = os.path.realpath(root)
            if real in seen:
                names.clear()
                continue
            seen.add(real)
            files.update(
                os.path.join(real, name)
                for name in file_names
                if os.path.splitext(name)[1].lower() in MODEL_SUFFIXES
            )
    return len(files)
