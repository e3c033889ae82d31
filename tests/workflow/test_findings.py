"""Each rule speaks about what is odd, and none speaks about an official template."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from plugin.assistant.workflow.analysis import analyse
from plugin.assistant.workflow.findings import RULES, Finding, findings
from plugin.assistant.workflow.flow import Flow
from plugin.preview.templates import templates_folder
from plugin.tests.workflow.prompts_of_templates import definitions, template_prompt

SAMPLE = sorted(
    path.stem
    for path in templates_folder().glob("*.json")
    if not path.stem.startswith(("index", "fuse_options"))
)[::11]


def odd(prompt: dict[str, Any]) -> list[Finding]:
    flow = Flow(prompt, definitions())
    return findings(flow, analyse(prompt, definitions()))


def changed(template: str, address: str, **values: Any) -> list[tuple[str, str, str]]:
    """What is odd about a template with other values at one node: rule, node, input."""
    prompt = copy.deepcopy(template_prompt(template))
    prompt[address]["inputs"].update(values)
    return [(one.rule, one.node, one.input) for one in odd(prompt)]


@pytest.mark.parametrize("template", SAMPLE)
def test_nothing_is_odd_about_an_official_template(template: str) -> None:
    assert odd(template_prompt(template)) == []


def test_every_rule_has_a_test_of_its_name() -> None:
    named = {name.removeprefix("test_").partition("__")[0] for name in globals()}
    assert {rule.__name__ for rule in RULES} <= named


@pytest.mark.parametrize(
    ("template", "sampler"),
    [
        ("image_z_image_turbo", "57:3"),
        ("flux_schnell", "31"),
        ("flux_dev_full_text_to_image", "31"),
    ],
)
def test_cfg_on_distilled__above_two(template: str, sampler: str) -> None:
    prompt = template_prompt(template)
    address = sampler if sampler in prompt else _sampler(prompt)
    assert changed(template, address, cfg=7) == [("cfg_on_distilled", address, "cfg")]
    assert changed(template, address, cfg=2) == []


def _sampler(prompt: dict[str, Any]) -> str:
    return next(name for name, node in prompt.items() if node["class_type"] == "KSampler")


def test_cfg_on_distilled__with_a_lora_that_distils() -> None:
    template = "image_qwen_image_edit_2509_relight"
    prompt = copy.deepcopy(template_prompt(template))
    sampler = _sampler(prompt)
    prompt[sampler]["inputs"]["cfg"] = 4
    assert [one.rule for one in odd(prompt)] == ["cfg_on_distilled"]
    for node in prompt.values():
        if "Lightning" in str(node["inputs"].get("lora_name")):
            node["inputs"]["strength_model"] = 0
    assert odd(prompt) == []


def test_untrained_size() -> None:
    template = "image_sdxl_simple"
    prompt = template_prompt(template)
    sampler = _sampler(prompt)
    latent = next(name for name, node in prompt.items() if node["class_type"] == "EmptyLatentImage")
    wrong = [("untrained_size", sampler, "latent_image")]
    assert changed(template, latent, width=512, height=512) == wrong
    assert changed(template, latent, width=4096, height=4096) == wrong
    assert changed(template, latent, width=1344, height=768) == []


def test_lora_of_another_family() -> None:
    template, lora = "flux_depth_lora_example", "150:37"
    wrong = [("lora_of_another_family", lora, "lora_name")]
    assert changed(template, lora, lora_name="z_image_turbo_style.safetensors") == wrong
    assert changed(template, lora, lora_name="Flux2TurboComfyv2.safetensors") == wrong
    assert changed(template, lora, lora_name="my_style.safetensors") == []
    assert changed(template, lora, lora_name="sdxl_style.safetensors", strength_model=0) == []


def test_wrong_encoder_type() -> None:
    template, loader = "image_z_image_turbo", "57:30"
    wrong = [("wrong_encoder_type", loader, "type")]
    assert changed(template, loader, type="stable_diffusion") == wrong
    assert changed(template, loader, type="lumina2") == []


def test_vae_of_another_family() -> None:
    wrong = [("vae_of_another_family", "57:29", "vae_name")]
    template = "image_z_image_turbo"
    assert changed(template, "57:29", vae_name="qwen_image_vae.safetensors") == wrong
    assert changed(template, "57:29", vae_name="my_vae.safetensors") == []
    prompt = template_prompt("video_wan2_2_14B_t2v")
    loader = next(name for name, node in prompt.items() if node["class_type"] == "VAELoader")
    wrong = [("vae_of_another_family", loader, "vae_name")]
    assert changed("video_wan2_2_14B_t2v", loader, vae_name="wan2.2_vae.safetensors") == wrong


def test_swapped_noise_models() -> None:
    prompt = copy.deepcopy(template_prompt("video_wan2_2_14B_i2v"))
    high, low = prompt["129:95"]["inputs"], prompt["129:96"]["inputs"]
    high["unet_name"], low["unet_name"] = low["unet_name"], high["unet_name"]
    assert [(one.rule, one.node) for one in odd(prompt)] == [("swapped_noise_models", "129:85")]


def test_a_finding_says_what_is_wrong_and_what_is_right() -> None:
    prompt = copy.deepcopy(template_prompt("image_z_image_turbo"))
    prompt["57:3"]["inputs"]["cfg"] = 7.5
    (found,) = odd(prompt)
    assert found.message == (
        "CFG 7.5 is too high for Z-Image Turbo, which is distilled: it should be 1."
    )
