"""Each fact about a model family stands in the official template that the table names."""

from __future__ import annotations

import re

import pytest
from plugin.assistant.workflow.analysis import Sampling, file_of
from plugin.assistant.workflow.families import (
    FAMILIES,
    Family,
    family_of,
    is_speed_lora,
    plain_name,
)
from plugin.assistant.workflow.findings import HIGHEST_CFG, encoders, sampled_before
from plugin.assistant.workflow.flow import Flow
from plugin.preview.templates import templates_folder
from plugin.tests.workflow.prompts_of_templates import (
    definitions,
    template_analysis,
    template_prompt,
)

FILE_NAME = re.compile(r"[\w.\- ]+\.(?:safetensors|pth)")

by_name = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


def sampler_of(family: Family) -> Sampling | None:
    found = template_analysis(family.template).samplers
    return next((one for one in found if one.model and one.model.family is family), None)


@by_name
def test_a_file_of_the_family_stands_in_its_template(family: Family) -> None:
    text = (templates_folder() / f"{family.template}.json").read_text(encoding="utf-8")
    assert family in {family_of(file) for file in FILE_NAME.findall(text)}


@by_name
def test_a_distilled_family_has_a_low_cfg_in_its_template(family: Family) -> None:
    sampling = sampler_of(family)
    if family.distilled and sampling is not None and sampling.cfg is not None:
        assert sampling.cfg <= HIGHEST_CFG


@by_name
def test_the_encoder_is_loaded_as_a_type_of_the_family(family: Family) -> None:
    sampling = sampler_of(family)
    flow = Flow(template_prompt(family.template), definitions())
    if sampling is not None and family.encoder_types:
        types = {flow.value(loader, "type") for loader in encoders(flow, sampling)}
        assert types <= {*family.encoder_types, None}
        assert types & set(family.encoder_types)


@by_name
def test_the_vae_has_a_name_of_the_family(family: Family) -> None:
    if not family.vae or sampler_of(family) is None:
        return
    flow = Flow(template_prompt(family.template), definitions())
    analysis = template_analysis(family.template)
    files = {
        file_of(flow, source.address)
        for decoder in flow.distances
        if (before := sampled_before(flow, analysis, decoder)) is not None
        and before.model is not None
        and before.model.family is family
        for _, source in flow.linked(decoder, "VAE")
        if flow.type(source.address) == "VAELoader"
    }
    assert all(file and re.search(family.vae, plain_name(file)) for file in files)


@by_name
def test_the_size_of_the_template_is_a_trained_one(family: Family) -> None:
    sampling = sampler_of(family)
    if family.area is not None and sampling is not None and sampling.size is not None:
        assert family.area[0] <= sampling.size[0] * sampling.size[1] <= family.area[1]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("z_image_turbo_bf16.safetensors", "Z-Image Turbo"),
        ("folder\\Z-Image-bf16.gguf", "Z-Image"),
        ("sd_xl_base_1.0_0.9vae.safetensors", "SDXL"),
        ("flux1-dev-kontext_fp8_scaled.safetensors", "Flux.1 Kontext"),
        ("flux2_dev_fp8mixed.safetensors", "Flux.2 dev"),
        ("qwen_image_edit_2509_fp8_e4m3fn.safetensors", "Qwen-Image Edit 2509"),
        ("qwen_image_2.1_turbo_int8_convrot.safetensors", "Qwen-Image 2.1 Turbo"),
        ("wan2.2_ti2v_5B_fp16.safetensors", "Wan 2.2 5B"),
        ("Wan2_1-I2V-14B-480p_fp8_e4m3fn_scaled_KJ.safetensors", "Wan 2.1 14B"),
        ("wan2.1_t2v_1.3B_fp16.safetensors", "Wan 2.1 1.3B"),
        ("ltx-2.3-22b-distilled-fp8.safetensors", "LTX-2.3 distilled"),
        ("ltx-2.3-22b-distilled-lora-384.safetensors", "LTX-2.3"),
    ],
)
def test_a_file_is_known_by_its_name(file: str, name: str) -> None:
    found = family_of(file)
    assert found is not None and found.name == name


@pytest.mark.parametrize("file", ["my_style.safetensors", "", "epoch-12.safetensors"])
def test_a_name_that_tells_nothing_is_no_family(file: str) -> None:
    assert family_of(file) is None


def test_speed_loras_are_known_by_their_names() -> None:
    assert is_speed_lora("Qwen-Image-Lightning-4steps-V1.0.safetensors")
    assert is_speed_lora("wan2.2_i2v_lightx2v_4steps_lora_v1_low_noise.safetensors")
    assert is_speed_lora("Wan21_CausVid_14B_T2V_lora_rank32.safetensors")
    assert not is_speed_lora("flux1-depth-dev-lora.safetensors")
    assert not is_speed_lora("train_2000_steps.safetensors")
