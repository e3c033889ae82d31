"""The preview's canvas makes the prompts that a ComfyUI with the full node definitions makes.

`scripts/make_prompts.py --compare` does the same with all official templates.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from plugin.preview.catalog import load_catalog
from plugin.tests.hosts import running_canvas
from plugin.tests.prompts import PromptPage, prompt_page, recorded_prompts, template_text

SAMPLE = (
    "image_z_image_turbo",
    "image_krea2_turbo_t2i",
    "image_moss_image_t2i",
    "image_qwen_image_2_1_image_edit",
    "image_firered_image_edit1_1",
    "Image_capybara_v0_1_image_edit",
    "video_bernini_r_image_editing",
    "utility_depth_anything3_image_depth_estimation",
    "image_anima_lllite_depth_control_to_image",
    "api_google_gemini_image",
    "templates-textured_logotype-v2.1",
    "api_nano_banana_pro",
    "api_google_nano_banana2_image_edit",
    "api_hunyuan3d_part",
    "api_hunyuan3d_model2uv",
    "basic_image_color_adjustment",
    "video_ltx2_3_i2v",
    "templates_mjm_looped_restyler",
    "image_ming_image_01_design_image_edit",
    "utility_sam3d_body",
)


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PromptPage]:
    with (
        running_canvas(load_catalog(), tmp_path_factory.mktemp("canvas")) as url,
        prompt_page(browser, url) as opened,
    ):
        yield opened


@pytest.mark.parametrize("identity", SAMPLE)
def test_a_template_has_the_prompt_of_the_full_definitions(page: PromptPage, identity: str) -> None:
    expected = recorded_prompts()[identity]["output"]
    assert page.prompt(template_text(identity)) == expected
