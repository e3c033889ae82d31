"""What is odd about a workflow that ComfyUI would run: rules with names over an analysis.

A rule speaks only where names and numbers leave no doubt: a file whose name tells no family, or a
value that is not known before the run, gives no finding. None of them speaks on an official
template but those that `tests/workflow/test_findings.py` names with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .analysis import Analysis, Sampling, file_of
from .families import FAMILIES, Family, is_speed_lora, plain_name
from .flow import Flow

HIGHEST_CFG = 2.0
"""Above it a distilled model burns; its templates have 1."""
SMALLEST, LARGEST = 0.5, 2.25
"""Times the trained area. SDXL at 512 x 512 has a quarter; 1.5 times each side is still drawn."""
NOISE = re.compile(r"(high|low)_noise")


@dataclass(frozen=True, slots=True)
class Finding:
    """One oddity: the rule's name, the node and input that show it, and a sentence."""

    rule: str
    node: str
    input: str
    message: str


Rule = Callable[[Flow, Analysis], Iterator[Finding]]


def findings(flow: Flow, analysis: Analysis) -> list[Finding]:
    """All findings, in the order of the rules; each node, input and rule once."""
    found = {(one.rule, one.node, one.input): one for rule in RULES for one in rule(flow, analysis)}
    return list(found.values())


def cfg_on_distilled(flow: Flow, analysis: Analysis) -> Iterator[Finding]:
    """CFG above 2 with a distilled model, or with a LoRA that distils one."""
    for one in analysis.samplers:
        if one.cfg is None or one.cfg <= HIGHEST_CFG:
            continue
        speed = [lora.file for lora in one.loras if lora.strength and is_speed_lora(lora.file)]
        family = one.model.family if one.model else None
        if speed or (family and family.distilled):
            name = speed[0] if speed else family.name if family else ""
            text = f"CFG {one.cfg:g} is too high for {name}, which is distilled: it should be 1."
            yield Finding("cfg_on_distilled", one.address, "cfg", text)


def untrained_size(flow: Flow, analysis: Analysis) -> Iterator[Finding]:
    """A size far from the sizes that the family was trained for."""
    for one in analysis.samplers:
        family = one.model.family if one.model else None
        if family is None or family.area is None or one.size is None:
            continue
        least, most = family.area
        if not SMALLEST * least <= one.size[0] * one.size[1] <= LARGEST * most:
            side = round(most**0.5)
            text = (
                f"{one.size[0]} × {one.size[1]} is far from what {family.name} was trained for, "
                f"about {side} × {side}."
            )
            yield Finding("untrained_size", one.address, "latent_image", text)


def lora_of_another_family(flow: Flow, analysis: Analysis) -> Iterator[Finding]:
    """A LoRA whose name tells another kin than that of the model it is applied to."""
    for one in analysis.samplers:
        family = one.model.family if one.model else None
        for lora in one.loras:
            if family and lora.family and lora.strength and lora.family.kin != family.kin:
                text = (
                    f"{lora.file} is a LoRA for {lora.family.name}; "
                    f"the model is {family.name}, which it does not fit."
                )
                yield Finding("lora_of_another_family", lora.address, "lora_name", text)


def wrong_encoder_type(flow: Flow, analysis: Analysis) -> Iterator[Finding]:
    """A text encoder that is loaded as the type of another family than the sampler's model."""
    for one in analysis.samplers:
        family = one.model.family if one.model else None
        if family is None or not family.encoder_types:
            continue
        for loader in encoders(flow, one):
            type_ = flow.value(loader, "type")
            if isinstance(type_, str) and type_ not in family.encoder_types:
                right = " or ".join(family.encoder_types)
                text = (
                    f"The text encoder is loaded as `{type_}`; for {family.name} it is `{right}`."
                )
                yield Finding("wrong_encoder_type", loader, "type", text)


def vae_of_another_family(flow: Flow, analysis: Analysis) -> Iterator[Finding]:
    """A sampler's result that is decoded by a VAE whose name tells another family."""
    for decoder in flow.distances:
        sampling = sampled_before(flow, analysis, decoder)
        family = sampling.model.family if sampling and sampling.model else None
        if family is None or not family.vae:
            continue
        for _, source in flow.linked(decoder, "VAE"):
            file = file_of(flow, source.address)
            other = _vae_family(file, family) if file else None
            if file and other is not None and flow.type(source.address) == "VAELoader":
                text = f"{file} is a VAE for {other.name}; the model is {family.name}."
                yield Finding("vae_of_another_family", source.address, "vae_name", text)


def swapped_noise_models(flow: Flow, analysis: Analysis) -> Iterator[Finding]:
    """Wan 2.2's low-noise model that samples before its high-noise model."""
    levels = {one.address: _noise(one) for one in analysis.samplers}
    for address, level in levels.items():
        before = flow.ancestors(address)
        if level == "high" and any(levels[one] == "low" for one in levels if one in before):
            text = "The model for low noise samples first: the one for high noise has to."
            yield Finding("swapped_noise_models", address, "model", text)


def _noise(sampling: Sampling) -> str:
    named = NOISE.search(plain_name(sampling.model.file)) if sampling.model else None
    return named[1] if named else ""


def encoders(flow: Flow, sampling: Sampling) -> Iterator[str]:
    """The loaders of the text encoders whose conditioning a sampler gets."""
    conditioning = [sampling.address]
    conditioning += flow.before(sampling.address, "GUIDER", "CONDITIONING")
    for address in conditioning:
        for _, source in flow.linked(address, "CLIP"):
            for loader in (source.address, *flow.before(source.address, "CLIP")):
                if not any(flow.linked(loader, "CLIP")):
                    yield loader


def sampled_before(flow: Flow, analysis: Analysis, decoder: str) -> Sampling | None:
    """The sampler whose latent a node with a VAE gets; the nearest."""
    if not any(flow.linked(decoder, "VAE")) or any(flow.linked(decoder, "IMAGE")):
        return None
    samplers = {one.address: one for one in analysis.samplers}
    before = flow.before(decoder, "LATENT")
    return next((samplers[one] for one in before if one in samplers), None)


def _vae_family(file: str, family: Family) -> Family | None:
    """Another family whose VAE the file's name tells; None where it may be this family's."""
    name = plain_name(file)
    if re.search(family.vae, name):
        return None
    return next((one for one in FAMILIES if one.vae and re.search(one.vae, name)), None)


RULES: tuple[Rule, ...] = (
    cfg_on_distilled,
    untrained_size,
    lora_of_another_family,
    wrong_encoder_type,
    vae_of_another_family,
    swapped_noise_models,
)
