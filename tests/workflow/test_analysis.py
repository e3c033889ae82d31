"""What official templates make, from what, with which models and values."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.workflow.analysis import MOST_SAMPLERS, analyse
from plugin.assistant.workflow.findings import findings
from plugin.assistant.workflow.flow import Flow
from plugin.assistant.workflow.node_definitions import NO_DEFINITIONS
from plugin.assistant.workflow.summary import details, sentence
from plugin.tests.workflow.prompts_of_templates import (
    definitions,
    template_analysis,
    template_prompt,
)

TASKS = {
    "image_z_image_turbo": "text to image",
    "flux_depth_lora_example": "image to image",
    "image_qwen_image_edit_2511": "image editing",
    "flux_kontext_dev_basic": "image editing",
    "flux_fill_inpaint_example": "inpainting",
    "video_wan2_2_14B_t2v": "text to video",
    "video_wan2_2_14B_i2v": "image to video",
    "video_wan2_2_14B_s2v": "image and audio to video",
    "video_capybara_v0_1_video_edit": "video to video",
    "audio_stable_audio_example": "text to audio",
    "audio_ace_step_1_m2m_editing": "audio to audio",
    "3d_hunyuan3d_multiview_to_model": "image to 3D model",
    "3d_triposplat_image_to_gaussian_splat": "image to 3D model",
    "llm_qwen3_text_gen": "text generation",
    "api_kling_o3_flf2v": "image to video",
}


@pytest.mark.parametrize(("template", "task"), TASKS.items())
def test_the_task_of_a_template(template: str, task: str) -> None:
    assert template_analysis(template).task == task


def test_a_sampler_has_its_values_model_and_size() -> None:
    found = template_analysis("image_z_image_turbo")
    main = found.main
    assert found.family is not None and found.family.name == "Z-Image Turbo"
    assert main is not None and main.model is not None
    assert main.address == "57:3"
    assert (main.steps, main.cfg, main.sampler, main.scheduler) == (8, 1, "res_multistep", "simple")
    assert main.model.file == "z_image_turbo_bf16.safetensors"
    assert main.size == (1024, 1024)
    assert found.outputs == ("9",)


def test_values_are_found_at_the_nodes_of_a_custom_sampler() -> None:
    main = template_analysis("hunyuan_video_text_to_video").main
    assert main is not None
    assert (main.steps, main.sampler, main.scheduler) == (20, "euler", "simple")
    assert (main.size, main.frames) == ((848, 480), 73)


def test_values_behind_switches_are_those_of_the_side_that_is_on() -> None:
    main = template_analysis("video_wan2_2_14B_i2v").main
    assert main is not None
    assert (main.steps, main.cfg, main.loras) == (20, 3.5, ())
    prompt = copy.deepcopy(template_prompt("video_wan2_2_14B_i2v"))
    prompt["129:131"]["inputs"]["value"] = True
    main = analyse(prompt, definitions()).main
    assert main is not None
    assert (main.steps, main.cfg) == (4, 1)
    assert [(one.address, round(one.strength or 0, 3)) for one in main.loras] == [("129:102", 1)]


def test_loras_stand_in_the_order_of_the_chain_with_their_strengths() -> None:
    main = template_analysis("image_qwen_image_edit_2509_relight").main
    assert main is not None
    assert [one.file.partition("-Edit-2509-")[2] for one in main.loras] == [
        "Lightning-4steps-V1.0-bf16.safetensors",
        "Relight.safetensors",
    ]
    assert [one.strength for one in main.loras] == [1, 1]


def test_the_base_model_names_a_workflow_with_a_refiner_and_the_last_sampler_comes_first() -> None:
    found = template_analysis("sdxl_simple_example")
    assert found.family is not None and found.family.name == "SDXL"
    assert [one.address for one in found.samplers] == ["11", "10"]


def test_a_latent_that_a_model_doubles_counts_twice() -> None:
    main = template_analysis("video_ltx2_3_i2v").main
    assert main is not None and main.size == (1280, 720)


def test_a_size_that_a_picture_decides_is_not_known() -> None:
    main = template_analysis("image_qwen_image_edit_2511").main
    assert main is not None and main.size is None


def test_the_length_of_a_video_is_its_frames_by_its_rate() -> None:
    assert template_analysis("video_wan2_2_14B_t2v").seconds == pytest.approx(81 / 16)
    assert template_analysis("audio_ace_step_1_5_checkpoint").seconds == 120


def test_a_paid_service_is_named_where_its_node_makes_the_result() -> None:
    assert template_analysis("api_kling_o3_flf2v").service == "Kling"
    assert template_analysis("image_z_image_turbo").service == ""


def test_nodes_that_no_output_needs_are_dead_and_those_behind_a_switch_are_off() -> None:
    found = template_analysis("video_wan2_2_14B_i2v")
    assert found.dead == ()
    assert {"129:101", "129:102"} <= set(found.off)
    prompt = copy.deepcopy(template_prompt("image_z_image_turbo"))
    prompt["77"] = {"class_type": "LoadImage", "inputs": {"image": "x.png"}}
    assert analyse(prompt, definitions()).dead == ("77",)


def test_without_definitions_and_without_nodes_nothing_is_said() -> None:
    for prompt in ({}, template_prompt("image_z_image_turbo")):
        found = analyse(prompt, NO_DEFINITIONS)
        assert (found.makes, found.task, found.family, found.samplers) == ("", "", None, ())


def test_values_of_wrong_kinds_are_left_out() -> None:
    prompt = copy.deepcopy(template_prompt("image_z_image_turbo"))
    prompt["57:3"]["inputs"].update(steps="flow", cfg=True, sampler_name=7, scheduler=None)
    prompt["57:13"]["inputs"].update(width="wide", height=float("nan"))
    prompt["57:28"]["inputs"]["unet_name"] = 4096
    main = analyse(prompt, definitions()).main
    assert main is not None
    assert (main.steps, main.cfg, main.sampler, main.scheduler) == (None,) * 4
    assert (main.size, main.model) == (None, None)


def test_a_chain_of_thousands_of_samplers_is_cut_short() -> None:
    prompt = {
        str(number): {
            "class_type": "KSampler",
            "inputs": {"latent_image": [str(number - 1), 0], "model": ["m", 0], "steps": number},
        }
        for number in range(1, 3_000)
    }
    prompt["m"] = {"class_type": "UNETLoader", "inputs": {"unet_name": "z_image_turbo.safetensors"}}
    prompt["d"] = {"class_type": "VAEDecode", "inputs": {"samples": ["2999", 0]}}
    prompt["o"] = {"class_type": "SaveImage", "inputs": {"images": ["d", 0]}}
    found = analyse(prompt, definitions())
    assert found.main is not None and found.main.address == "2999"
    assert len(found.samplers) == MOST_SAMPLERS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
LINKS = st.tuples(st.sampled_from("1234"), st.integers(-1, 4)).map(list)
NAMES = st.sampled_from(
    "model lora_name strength_model unet_name steps cfg latent_image samples width height length "
    "switch on_true on_false value expression values.a images vae clip positive type "
    "aspect_ratio megapixels multiple".split()
)
NODES = st.fixed_dictionaries(
    {
        "class_type": st.sampled_from(
            "KSampler SaveImage VAEDecode LoraLoader UNETLoader VAELoader EmptyLatentImage "
            "CLIPTextEncode CLIPLoader ComfySwitchNode ComfyMathExpression ResolutionSelector "
            "PrimitiveInt NotInstalled".split()
        )
        | VALUES,
        "inputs": st.dictionaries(NAMES, LINKS | VALUES, max_size=8) | VALUES,
    }
)


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from("1234"), NODES | VALUES, min_size=1))
def test_any_prompt_has_an_analysis(prompt: dict[str, Any]) -> None:
    found = analyse(prompt, definitions())
    odd = findings(Flow(prompt, definitions()), found)
    assert all(one.node in prompt for one in odd)
    assert isinstance(sentence(found), str)
    assert all("\n" not in line for line in details(found))
