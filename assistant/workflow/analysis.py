"""What a workflow does: family, task, size, samplers, LoRAs, outputs, and what nothing needs.

It is worked out from the API prompt, which says what ComfyUI would run. All of it is a reading of
names and numbers: what cannot be known is left out rather than guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .families import Family, family_of
from .flow import DEEPEST, Flow, Source
from .node_definitions import NodeDefinition

MODEL_KINDS = ("MODEL", "GUIDER")
LATENT_KINDS = ("LATENT", "NOISE")
FILE = re.compile(r"\.(safetensors|ckpt|pth?|bin|gguf|sft)$", re.IGNORECASE)
MOST_SAMPLERS = 50
"""Samplers that an analysis looks at; the largest template has 16."""
MADE = {
    "IMAGE": "image",
    "MASK": "image",
    "VIDEO": "video",
    "AUDIO": "audio",
    "SVG": "vector graphic",
    "STRING": "text",
}
"""What a type of output is called; types of meshes and splats are 3D models."""
IS_3D = re.compile(r"MESH|3D|SPLAT|VOXEL|GLB|POINT_CLOUD")
RANK = ("3D model", "video", "audio", "image", "vector graphic", "text")
"""What a workflow is said to make where it makes several: the rarest first."""
EDITORS = re.compile(r"ReferenceLatent|Kontext|TextEncode\w*Edit|ReferenceImages|DualCFGGuider")
INPAINTERS = re.compile(r"InpaintModelConditioning|SetLatentNoiseMask|VAEEncodeForInpaint|Inpaint")
EDITING = re.compile(r"\b(?:Edit|Kontext|E1)\b")
"""In the name of a family that edits pictures."""
PREVIEWS = re.compile(r"Preview|Compare")
LATENT_INPUTS = ("video_latent", "samples", "latent", "latent_image")
"""Where the pictures come in at nodes that take several latents, such as those with sound."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model file that the outputs need; `sampled` says that a sampler uses it."""

    address: str
    file: str
    family: Family | None
    sampled: bool


@dataclass(frozen=True, slots=True)
class Lora:
    """A LoRA between a model and its sampler. A strength of 0 does nothing."""

    address: str
    file: str
    strength: float | None
    family: Family | None


@dataclass(frozen=True, slots=True)
class Sampling:
    """A sampler that runs; None where a value is not known before the run or is not there.

    `model` is the loader's address; `size` width and height in pixels, `frames` the number of
    pictures of a video.
    """

    address: str
    steps: float | None
    cfg: float | None
    sampler: str | None
    scheduler: str | None
    denoise: float | None
    model: Model | None
    loras: tuple[Lora, ...]
    size: tuple[int, int] | None
    frames: int | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a workflow does. `samplers` begin with the last one before an output.

    `makes` is one of `RANK`, `task` such as "text to image" or "image editing"; both "" where no
    output is known. `service` is the company whose paid nodes do the work. `outputs` are the
    addresses where the result comes out, previews after files. `dead` are nodes that would run for
    nobody: no output needs them; `off` those behind a switch that is off.
    """

    makes: str
    task: str
    family: Family | None
    service: str
    models: tuple[Model, ...]
    samplers: tuple[Sampling, ...]
    outputs: tuple[str, ...]
    seconds: float | None
    dead: tuple[str, ...]
    off: tuple[str, ...]

    @property
    def main(self) -> Sampling | None:
        return self.samplers[0] if self.samplers else None


def analyse(prompt: Mapping[str, Any], definitions: Mapping[str, NodeDefinition]) -> Analysis:
    """The analysis of an API prompt, as `api_prompt` makes it."""
    flow = Flow(prompt, definitions)
    samplers = tuple(_sampling(flow, address) for address in _samplers(flow))
    made, outputs = _outputs(flow)
    sampled = {one.model.address for one in samplers if one.model}
    models = tuple(_models(flow, sampled))
    service = _service(flow, made, samplers)
    family = _main_family(samplers, models)
    return Analysis(
        makes=made,
        task=_task(flow, made, family, bool(samplers)),
        family=family,
        service=service,
        models=models,
        samplers=samplers,
        outputs=outputs,
        seconds=_seconds(flow, samplers, made),
        dead=_without_notes(flow, flow.nodes.keys() - flow.reached),
        off=_without_notes(flow, flow.reached - flow.distances.keys()),
    )


def _without_notes(flow: Flow, addresses: set[str] | frozenset[str]) -> tuple[str, ...]:
    return tuple(one for one in flow.nodes if one in addresses and flow.definition(one))


def _samplers(flow: Flow) -> list[str]:
    """Nodes that turn a latent into another by a model; those that feed no other one first."""
    found = [address for address in flow.distances if _samples(flow, address)]
    earlier = flow.ancestors(*found)
    found.sort(key=lambda address: (address in earlier, flow.distances[address]))
    return found[:MOST_SAMPLERS]


def _samples(flow: Flow, address: str) -> bool:
    definition = flow.definition(address)
    names = {one.name for one in definition.inputs} if definition else set()
    return "latent_image" in names and not names.isdisjoint(("model", "guider"))


def _sampling(flow: Flow, address: str) -> Sampling:
    """A sampler's values, also where nodes for guidance, sigmas and noise hold them."""
    guider = flow.source(address, "guider")
    sigmas = flow.source(address, "sigmas")
    chosen = flow.source(address, "sampler")
    at_sigmas = sigmas.address if sigmas else address
    size, frames = _latent(flow, address)
    model, loras = _model_of(flow, address)
    return Sampling(
        address=address,
        steps=flow.number(at_sigmas, "steps"),
        cfg=_cfg(flow, guider.address if guider else address),
        sampler=_text(flow, chosen.address if chosen else address, "sampler_name"),
        scheduler=_text(flow, at_sigmas, "scheduler"),
        denoise=flow.number(at_sigmas, "denoise"),
        model=model,
        loras=loras,
        size=size,
        frames=frames,
    )


def _cfg(flow: Flow, address: str) -> float | None:
    for name in ("cfg", "cfg_conds", "cfg_scale"):
        found = flow.number(address, name)
        if found is not None:
            return found
    return None


def _text(flow: Flow, address: str, name: str) -> str | None:
    found = flow.value(address, name)
    return found if isinstance(found, str) else None


def _model_of(flow: Flow, sampler: str) -> tuple[Model | None, tuple[Lora, ...]]:
    """The model that a sampler uses, and the LoRAs on the way, in the order they are applied."""
    model: Model | None = None
    loras: list[Lora] = []
    for address in flow.before(sampler, *MODEL_KINDS):
        file = file_of(flow, address)
        if file is None:
            continue
        if _file_input(flow, address, "lora"):
            strength = flow.number(address, "strength_model")
            loras.insert(0, Lora(address, file, strength, family_of(file)))
        elif model is None and not any(flow.linked(address, *MODEL_KINDS)):
            model = Model(address, file, family_of(file), True)
    return model, tuple(loras)


def file_of(flow: Flow, address: str) -> str | None:
    """The first file of a model that a node names."""
    for name in flow.inputs(address):
        value = flow.value(address, name)
        if isinstance(value, str) and FILE.search(value):
            return value
    return None


def _file_input(flow: Flow, address: str, word: str) -> bool:
    return any(word in name for name in flow.inputs(address) if name.endswith("_name"))


def _models(flow: Flow, sampled: set[str]) -> Iterator[Model]:
    """The model files that outputs need, without LoRAs; those of samplers first."""
    found = []
    for address in flow.distances:
        file = file_of(flow, address)
        if file is not None and not _file_input(flow, address, "lora"):
            found.append(Model(address, file, family_of(file), address in sampled))
    yield from sorted(found, key=lambda one: (not one.sampled, flow.distances[one.address]))


def _main_family(samplers: tuple[Sampling, ...], models: tuple[Model, ...]) -> Family | None:
    """The family of the last sampler; without one, that of the first model known by name."""
    sampled = [one.model.family for one in samplers if one.model and one.model.family]
    known = sampled or [one.family for one in models if one.family and not samplers]
    return next((one for one in known if not one.helps), known[0] if known else None)


def _service(flow: Flow, made: str, samplers: tuple[Sampling, ...]) -> str:
    """The company whose paid node makes the result, nearer to an output than any sampler.

    Its name is the end of the node's category.
    """
    paid = [
        (distance, definition)
        for address, distance in flow.distances.items()
        if (definition := flow.definition(address)) is not None
        and definition.costs_money
        and made in {_kind_name(output.type) for output in definition.outputs}
    ]
    sampled = min((flow.distances[one.address] for one in samplers), default=None)
    if not paid:
        return ""
    distance, nearest = min(paid, key=lambda one: one[0])
    last = sampled is None or distance <= sampled
    return nearest.category.rpartition("/")[2] if last else ""


def _latent(flow: Flow, sampler: str) -> tuple[tuple[int, int] | None, int | None]:
    """Size and frames of the empty latent that a sampler's latent was made of.

    A latent that was upscaled by a model that says its factor counts as that much larger; the size
    of one that was enlarged or cut otherwise is not known.
    """
    link: Source | None = flow.source(sampler, "latent_image")
    factor: int | None = 1
    for _ in range(DEEPEST):
        if link is None:
            break
        address = link.address
        if {"width", "height"} <= flow.inputs(address).keys():
            frames = flow.number(address, "length")
            size = _size(flow, address, factor)
            return size, int(frames) if frames is not None else None
        if RESIZES.search(flow.type(address)):
            factor = _enlarged(flow, address, factor)
        earlier = dict(flow.linked(address, *LATENT_KINDS))
        named = [earlier[name] for name in LATENT_INPUTS if name in earlier]
        link = next(iter(named or earlier.values()), None)
    return None, None


RESIZES = re.compile(r"upscal|upsampl|crop(?!guides)|resize", re.IGNORECASE)


def _size(flow: Flow, address: str, factor: int | None) -> tuple[int, int] | None:
    width, height = flow.number(address, "width"), flow.number(address, "height")
    if not width or not height or factor is None or min(width, height) < 1:
        return None
    return int(width) * factor, int(height) * factor


def _enlarged(flow: Flow, address: str, before: int | None) -> int | None:
    """The factor after an upscaler whose file says `x2`; None for all others."""
    source = flow.source(address, "upscale_model")
    file = file_of(flow, source.address) if source else None
    named = re.search(r"(?:^|[-_])x(\d)(?:[-_.]|$)", file or "")
    return before * int(named[1]) if named and before is not None else None


def _outputs(flow: Flow) -> tuple[str, tuple[str, ...]]:
    """What the workflow makes, and the addresses where it comes out, files before previews."""
    found = [(address, _made_by(flow, address)) for address in flow.ends]
    files = [one for one in found if not PREVIEWS.search(flow.type(one[0]))]
    shown = [one for one in found if one not in files]
    for some in (files, shown):
        kinds = {kind for _, kind in some if kind}
        made = next((kind for kind in RANK if kind in kinds), "")
        if made:
            return made, tuple(address for address, _ in (*files, *shown))
    return "", tuple(address for address, _ in (*files, *shown))


def _made_by(flow: Flow, address: str) -> str:
    """What an output node takes, or makes itself where it is a service's node."""
    definition = flow.definition(address)
    if definition is None:
        return ""
    if definition.costs_money:
        kinds = [one.type for one in definition.outputs]
    else:
        kinds = [_taken(flow, address, definition, name) for name in flow.inputs(address)]
    named = {_kind_name(kind) for kind in kinds}
    return next((kind for kind in RANK if kind in named), "")


def _taken(flow: Flow, address: str, definition: NodeDefinition, name: str) -> str:
    """The type of a linked input: the declared one, or what comes where anything may come."""
    source = flow.source(address, name)
    if source is None:
        return ""
    declared = definition.input(name)
    own = declared.type if declared else ""
    return own if _kind_name(own) else flow.kind(source)


def _kind_name(kind: str) -> str:
    if kind in MADE:
        return MADE[kind]
    return "3D model" if IS_3D.search(kind) else ""


def _task(flow: Flow, made: str, family: Family | None, samples: bool) -> str:
    """What is made from what, in the usual words."""
    if made in ("", "text"):
        return "text generation" if made else ""
    needed = {flow.type(address) for address in flow.distances}
    given = [kind for kind, loader in _GIVEN.items() if any(loader.search(one) for one in needed)]
    if made == "image" and "image" in given:
        if any(INPAINTERS.search(one) for one in needed):
            return "inpainting"
        if any(EDITORS.search(one) for one in needed) or EDITING.search(
            family.name if family else ""
        ):
            return "image editing"
    sources = " and ".join(given) or ("text" if samples or _is_prompted(flow) else "")
    return f"{sources} to {made}" if sources else ""


_GIVEN = {
    "image": re.compile(r"^LoadImage"),
    "video": re.compile(r"^LoadVideo"),
    "audio": re.compile(r"^(LoadAudio|RecordAudio)"),
    "3D model": re.compile(r"^Load3D"),
}
"""What a workflow starts from, by the types of nodes that load it."""


def _is_prompted(flow: Flow) -> bool:
    names = (name for address in flow.distances for name in flow.inputs(address))
    return any(name.rpartition(".")[2] in ("prompt", "text") for name in names)


def _seconds(flow: Flow, samplers: tuple[Sampling, ...], made: str) -> float | None:
    """The length of a video by its frames and rate, or of a sound by its empty latent."""
    if made == "audio":
        lengths = (flow.number(address, "seconds") for address in flow.distances)
        return next((one for one in lengths if one), None)
    frames = next((one.frames for one in samplers if one.frames), None)
    if made != "video" or not frames:
        return None
    rates = (flow.number(one, "fps") for one in flow.distances if "fps" in flow.inputs(one))
    rate = next((one for one in rates if one), None)
    return frames / rate if rate else None
