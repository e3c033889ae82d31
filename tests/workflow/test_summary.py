"""An analysis in words."""

from __future__ import annotations

import pytest
from plugin.assistant.workflow.analysis import analyse
from plugin.assistant.workflow.summary import details, sentence
from plugin.tests.workflow.prompts_of_templates import definitions, template_analysis

SENTENCES = {
    "image_z_image_turbo": "This makes 1024 × 1024 pictures with Z-Image Turbo.",
    "image_qwen_image_edit_2511": "This edits pictures with Qwen-Image Edit 2511.",
    "flux_fill_inpaint_example": "This repaints a part of a picture with Flux.1 Fill.",
    "video_wan2_2_14B_i2v": (
        "This makes 640 × 640 videos of 5.1 s from a picture with Wan 2.2 14B."
    ),
    "audio_ace_step_1_5_checkpoint": "This makes audio of 120 s with ACE-Step 1.5 Turbo.",
    "3d_hunyuan3d_multiview_to_model": "This makes 3D models from a picture with Hunyuan3D 2.",
    "api_kling_o3_flf2v": "This makes videos from a picture with Kling, a paid service.",
    "utility_image_stitch": "This makes pictures from a picture.",
}


@pytest.mark.parametrize(("template", "said"), SENTENCES.items())
def test_one_sentence_says_what_a_template_makes(template: str, said: str) -> None:
    assert sentence(template_analysis(template)) == said


def test_there_is_nothing_to_say_about_a_workflow_without_output() -> None:
    assert sentence(analyse({}, definitions())) == ""
    assert details(analyse({}, definitions())) == []


def test_details_name_samplers_loras_outputs_and_what_is_off() -> None:
    lines = details(template_analysis("flux_depth_lora_example"))
    assert lines[0] == ("Sampler 150:3: flux1-dev-fp8.safetensors, 20 steps, CFG 1, euler normal")
    assert "LoRA 150:37: flux1-depth-dev-lora.safetensors at 1" in lines
    assert "The result comes out at 9." in lines
    off = details(template_analysis("video_wan2_2_14B_i2v"))
    assert any(line.startswith("Behind a switch that is off: ") for line in off)
    assert "Sampler 129:85: wan2.2_i2v_low_noise_14B_fp8_scaled.safetensors" in off[0]
