"""The index of node definitions is made once and kept until ComfyUI says something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from plugin.assistant.node_index import FRESH_SECONDS, NodeIndex
from plugin.preview.catalog import Catalog
from plugin.preview.comfyui import PreviewComfyUI

LOADER = {"input": {"required": {"image": [["a.png"], {}]}}, "output": ["IMAGE"]}


class CountedComfyUI(PreviewComfyUI):
    """Counts how often its definitions are read, and may fail."""

    nodes: dict[str, Any]
    reads = 0
    fails = False

    def node_definitions(self) -> Mapping[str, Any]:
        type(self).reads += 1
        if self.fails:
            raise OSError("the disk is gone")
        return dict(self.catalog.nodes)


class Clock:
    time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def port() -> CountedComfyUI:
    CountedComfyUI.reads, CountedComfyUI.fails = 0, False
    return CountedComfyUI(Catalog("", {"LoadImage": LOADER}))


async def test_fresh_definitions_are_not_read_again(port: CountedComfyUI, clock: Clock) -> None:
    index = NodeIndex(port, clock)
    first = await index.current()
    clock.time += FRESH_SECONDS
    assert await index.current() is first
    assert port.reads == 1
    assert first["LoadImage"].outputs[0].type == "IMAGE"


async def test_older_ones_are_read_again_and_kept_while_they_are_the_same(
    port: CountedComfyUI, clock: Clock
) -> None:
    index = NodeIndex(port, clock)
    first = await index.current()
    clock.time += FRESH_SECONDS + 1
    assert await index.current() is first
    assert port.reads == 2
    port.catalog.nodes["SaveImage"] = {"input": {}, "output": [], "output_node": True}
    clock.time += FRESH_SECONDS + 1
    second = await index.current()
    assert second is not first
    assert second["SaveImage"].is_output


async def test_a_failure_is_not_kept(port: CountedComfyUI, clock: Clock) -> None:
    index = NodeIndex(port, clock)
    CountedComfyUI.fails = True
    with pytest.raises(OSError, match="the disk is gone"):
        await index.current()
    CountedComfyUI.fails = False
    assert "LoadImage" in await index.current()
