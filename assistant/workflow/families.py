"""Model families by the names of their files, with what is true of each.

Every entry names the official template that shows it; `tests/workflow/test_families.py` asserts
that the template still does. `kin` is what fits together: LoRAs, ControlNets and text encoders are
made for one kin, and families of one kin share them. The knowledge skills in `system_context/` say
the same in words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MEGAPIXEL = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Family:
    """One family of models.

    `pattern` is searched in a file's name, in lower case with `-` and blanks as `_`. `distilled`
    families were trained to need no guidance, or have it as an input of its own: their CFG is 1.
    `encoder_types` are the right types of a text encoder's loader, `vae` a pattern of its VAE's
    file; empty where a checkpoint holds them or nothing is known. `area` are the least and the most
    pixels that the family was trained for; None where its template does not say. A family that
    `helps` works on what another family made.
    """

    name: str
    pattern: str
    kin: str
    template: str
    distilled: bool = False
    encoder_types: tuple[str, ...] = ()
    vae: str = ""
    area: tuple[int, int] | None = None
    helps: bool = False


def _flux1(name: str, pattern: str, template: str) -> Family:
    """Flux.1 dev takes its guidance from `FluxGuidance`, schnell needs none: CFG is 1 for all."""
    vae = r"^ae\b|flux1?_?vae"
    return Family(name, pattern, "flux.1", template, True, ("flux",), vae, _ABOUT_ONE)


def _flux2(name: str, pattern: str, kin: str, template: str, distilled: bool) -> Family:
    return Family(name, pattern, kin, template, distilled, ("flux2",), _FLUX2_VAE)


def _qwen(name: str, pattern: str, template: str) -> Family:
    return Family(name, pattern, "qwen-image", template, False, ("qwen_image",), r"qwen_image")


def _wan(name: str, pattern: str, template: str, kin: str = "wan 14b") -> Family:
    vae = r"wan2\.2_vae" if kin == "wan 5b" else r"wan_?2\.?_?1_vae|wan_alpha"
    return Family(name, pattern, kin, template, False, ("wan",), vae)


def _hidream(name: str, pattern: str, template: str, distilled: bool = False) -> Family:
    return Family(name, pattern, "hidream", template, distilled)


def _own(name: str, pattern: str, template: str, *types: str, distilled: bool = False) -> Family:
    """A family that shares nothing with others but its own variants."""
    kin = re.sub(r"(?: (?:Turbo|Edit|Control|distilled|dev|base))+$", "", name).lower()
    return Family(name, pattern, kin, template, distilled, types)


_FLUX2_VAE = r"flux_?2|full_encoder_small_decoder"
_ABOUT_ONE = (MEGAPIXEL // 2, 2 * MEGAPIXEL)
_SDXL_AREA = (1536 * 640, 1024 * 1024)
"""The trained sizes that the note of `sdxl_simple_example` lists."""

FAMILIES: tuple[Family, ...] = (
    # Stable Diffusion
    Family("SDXL Turbo", r"sd_?xl_turbo", "sdxl", "sdxlturbo_example", True, area=(512**2, 512**2)),
    Family("SDXL refiner", r"sd_?xl_refiner", "sdxl", "sdxl_simple_example", helps=True),
    Family("SDXL", r"sd_?xl", "sdxl", "image_sdxl_simple", area=_SDXL_AREA),
    Family("Stable Diffusion 3.5", r"sd_?3[._]5", "sd3.5", "sd3.5_simple_example", area=_ABOUT_ONE),
    Family("Stable Video Diffusion", r"^svd", "svd", "txt_to_image_to_video"),
    # Flux
    _flux1("Flux.1 schnell", r"flux\.?1?_schnell", "flux_schnell_full_text_to_image"),
    _flux1("Flux.1 Kontext", r"flux.*kontext", "flux_kontext_dev_basic"),
    _flux1("Flux.1 Fill", r"flux\.?1?_fill", "flux_fill_inpaint_example"),
    _flux1("Flux.1 Krea", r"flux\.?1?_krea", "flux1_krea_dev"),
    _flux1("Flux.1 Canny", r"flux\.?1?_canny", "flux_canny_model_example"),
    _flux1("Flux.1 dev", r"flux\.?1?_.*dev", "flux_dev_full_text_to_image"),
    _flux2("Flux.2 Klein base 4B", r"flux_?2_klein_base_4b", "flux.2 klein 4b",
           "image_flux2_klein_image_edit_4b_base", False),
    _flux2("Flux.2 Klein base 9B", r"flux_?2_klein_base_9b", "flux.2 klein 9b",
           "image_flux2_klein_image_edit_9b_base", False),
    _flux2("Flux.2 Klein 4B", r"flux_?2_klein_4b", "flux.2 klein 4b",
           "image_flux2_klein_image_edit_4b_distilled", True),
    _flux2("Flux.2 Klein 9B", r"flux_?2_klein_9b", "flux.2 klein 9b",
           "image_flux2_klein_image_edit_9b_distilled", True),
    _flux2("Flux.2 dev", r"flux_?2_?(dev|turbo)|flux2turbo", "flux.2 dev", "image_flux2_fp8", True),
    Family("Flux.3 Klein base", r"flux_?3_(image_)?klein_base", "flux.3", "image_flux3_klein_t2i",
           False, ("flux3",)),
    Family("Flux.3 Klein", r"flux_?3_(image_)?klein", "flux.3", "image_flux3_klein_distilled_t2i",
           True, ("flux3",)),
    # Qwen
    _qwen("FireRed Image Edit", r"firered", "image_firered_image_edit1_1"),
    _qwen("Qwen-Image Edit 2511", r"qwen_(image_)?edit_2511", "image_qwen_image_edit_2511"),
    _qwen("Qwen-Image Edit 2509", r"qwen_(image_)?edit_2509", "image_qwen_image_edit_2509"),
    _qwen("Qwen-Image Edit", r"qwen_(image_)?edit", "image_qwen_image_edit"),
    _qwen("Qwen-Image Layered Control", r"qwen_image_layered_control",
          "image_qwen_image_layered_control"),
    _qwen("Qwen-Image Layered", r"qwen_image_layered", "image_qwen_image_layered"),
    _qwen("Qwen-Image 2512", r"qwen_image_2512", "image_qwen_Image_2512"),
    Family("Qwen-Image 2.1 Turbo", r"qwen_image_2\.1_turbo", "qwen-image 2.1",
           "image_qwen_image_2_1_turbo_t2i", True, ("qwen_image",)),
    Family("Qwen-Image 2.1", r"qwen_image_2\.1", "qwen-image 2.1", "image_qwen_image_2_1_t2i",
           False, ("qwen_image",)),
    _qwen("Qwen-Image", r"qwen_image|(_|\b)qwen\.|_qwen$", "image_qwen_image"),
    # Pictures
    Family("Z-Image Turbo", r"z_?image_turbo", "z-image", "image_z_image_turbo", True,
           ("lumina2",), r"^ae\b"),
    Family("Z-Image", r"z_?image", "z-image", "image_z_image", False, ("lumina2",), r"^ae\b"),
    _hidream("HiDream-E1.1", r"hidream_e1_1", "hidream_e1_1"),
    _hidream("HiDream-E1", r"hidream_e1", "hidream_e1_full"),
    _hidream("HiDream-I1 fast", r"hidream_i1_fast", "hidream_i1_fast", True),
    _hidream("HiDream-I1 dev", r"hidream_i1_dev", "hidream_i1_dev", True),
    _hidream("HiDream-I1", r"hidream_i1", "hidream_i1_full"),
    _own("HiDream-O1 dev", r"hidream_o1_image_dev", "image_hidream_o1_dev", distilled=True),
    _own("HiDream-O1", r"hidream_o1", "image_hidream_o1"),
    _own("Chroma1-Radiance", r"chroma.?radiance", "image_chroma1_radiance_text_to_image", "chroma"),
    _own("Chroma1", r"chroma1|chroma_", "image_chroma_text_to_image", "chroma"),
    _own("Anima", r"^anima", "image_anima_base_v1", "stable_diffusion"),
    _own("NetaYume Lumina", r"netayume|neta_lumina", "image_netayume_lumina_t2i"),
    _own("NewBie-Image", r"newbie", "image_newbieimage_exp0_1-t2i", "newbie"),
    _own("OmniGen 2", r"omnigen2", "image_omnigen2_t2i", "omnigen2"),
    _own("Ovis-Image", r"ovis_image", "image_ovis_text_to_image", "ovis"),
    _own("PixelDiT", r"pixeldit", "image_pixeldit_t2i", "pixeldit"),
    _own("Lens Turbo", r"^lens_turbo", "image_lens_turbo_t2i", "lens", distilled=True),
    _own("Lens", r"^lens", "image_lens_t2i", "lens"),
    _own("LongCat-Image Edit", r"longcat_image_edit", "image_longcat_image_edit", "longcat_image"),
    _own("LongCat-Image", r"longcat_image", "image_longcat_text_to_image", "longcat_image"),
    _own("Mage-Flow Edit Turbo", r"mage_flow_edit_turbo", "image_mage_flow_edit_turbo_int8", "mage",
         distilled=True),
    _own("Mage-Flow Edit", r"mage_flow_edit", "image_mage_flow_edit_int8", "mage"),
    _own("Mage-Flow Turbo", r"mage_flow_turbo", "image_mage_flow_turbo_t2i_int8", "mage",
         distilled=True),
    _own("Mage-Flow", r"mage_flow", "image_mage_flow_t2i_int8", "mage"),
    _own("Krea 2 Turbo", r"krea2_turbo", "image_krea2_turbo_t2i", "krea2", distilled=True),
    _own("Krea 2", r"krea2", "image_krea2_turbo_t2i", "krea2"),
    _own("JoyAI Image Edit", r"joyai|joyimage", "image_joyai_image_edit", "joyimage"),
    _own("Ideogram 4", r"ideogram4", "image_ideogram4_t2i", "ideogram4"),
    _own("ERNIE-Image Turbo", r"ernie_image_turbo", "image_ernie_image_turbo", "flux2",
         distilled=True),
    _own("ERNIE-Image", r"ernie_image", "image_ernie_image", "flux2"),
    _own("Boogu-Image Edit", r"boogu_image_edit", "image_boogu_image_0_1_edit", "boogu"),
    _own("Boogu-Image Turbo", r"boogu_image_turbo", "image_boogu_image_0_1_turbo_t2i", "boogu",
         distilled=True),
    _own("FIBO 2 Edit Turbo", r"fibo2_edit_turbo", "image_fibo2_edit_turbo_pe", "fibo2",
         distilled=True),
    _own("FIBO 2", r"fibo2", "image_fibo2_edit_dev_pe", "fibo2"),
    _own("Ming-Image Design", r"ming_image", "image_ming_image_01_design_t2i", "qwen_image"),
    _own("MOSS-Image base", r"moss_image_base", "image_moss_image_base_t2i", "moss_image"),
    _own("MOSS-Image", r"moss_image", "image_moss_image_t2i", "moss_image"),
    _own("Kandinsky 5 Image", r"kandinsky5lite_t2i", "image_kandinsky5_t2i", "kandinsky5_image"),
    Family("PiD", r"^pid_", "pid", "utility_pid_latent_upscale_dit", True, helps=True),
    # Videos
    _own("Kandinsky 5 Video", r"kandinsky5", "video_kandinsky5_t2v", "kandinsky5"),
    _own("Capybara", r"capybara", "Image_capybara_v0_1_text_to_image", "hunyuan_video_15"),
    _wan("ChronoEdit", r"chrono_?edit", "image_chrono_edit_14B"),
    _wan("Wan 2.2 5B", r"wan2[._]2.*_5b|wan22.*5b", "video_wan2_2_5B_ti2v", "wan 5b"),
    _wan("Wan 2.2 Bernini", r"bernini", "video_bernini_r_video_editing"),
    _wan("Wan 2.2 Dancer", r"dancer", "video_wan_dancer"),
    _wan("Wan 2.2 14B", r"wan_?2[._]?2", "video_wan2_2_14B_t2v"),
    _wan("Wan Animate 2", r"wan_?animate", "video_wan_animate2"),
    _wan("Wan 2.1 SCAIL 2", r"scail", "video_wan21_scail2_character_replacement"),
    _wan("Wan 2.1 VACE 14B", r"vace_14b", "video_wan_vace_14B_t2v"),
    _wan("Wan 2.1 VACE 1.3B", r"vace_1[._]3b", "video_wan_vace_14B_t2v", "wan 1.3b"),
    _wan("Wan 2.1 1.3B", r"wan_?2[._]?1.*1[._]3b", "text_to_video_wan", "wan 1.3b"),
    _wan("Wan 2.1 14B", r"wan_?2?[._]?1|wan_?alpha|causvid|lightx2v", "image_to_video_wan"),
    _wan("HuMo", r"^humo", "video_humo"),
    _wan("Causal Forcing", r"causal_forcing", "video_causal_forcing_i2v", "wan 1.3b"),
    _own("VOID", r"^void_", "utility_void_video_inpainting", "cogvideox"),
    _own("LTX-2.5", r"ltx_?2\.5", "video_ltx2_5_t2v", "ltxv", distilled=True),
    _own("LTX-2.3 distilled", r"ltx_?2\.3_22b_distilled(?!.*lora)", "video_ltx2_3_flf2v",
         distilled=True),
    _own("LTX-2.3", r"ltx_?2\.3", "video_ltx2_3_t2v"),
    _own("LTX-2 distilled", r"ltx_?2_19b_distilled(?!.*lora)", "video_ltx2_t2v_distilled",
         distilled=True),
    _own("LTX-2", r"ltx_?2", "video_ltx2_t2v"),
    _own("LTX-Video", r"ltx_?video|ltxv", "ltxv_text_to_video", "ltxv"),
    _own("HunyuanVideo 1.5", r"hunyuan_?video_?1\.?5", "video_hunyuan_video_1.5_720p_t2v",
         "hunyuan_video_15"),
    _own("HunyuanVideo", r"hunyuan_?video", "hunyuan_video_text_to_video", "hunyuan_video"),
    _own("MiniMax H3", r"minimax_h3|fasth3", "video_minimax_h3_t2v", "minimax"),
    # Sound
    _own("MiniMax Music 3", r"minimax_music", "audio_minimax_music_3", "minimax"),
    _own("ACE-Step 1.5 Turbo", r"ace_?step_?v?1\.5(_xl)?_turbo", "audio_ace_step_1_5_split",
         "ace", distilled=True),
    _own("ACE-Step 1.5", r"ace_?step_?v?1\.5", "audio_ace_step1_5_xl_base", "ace"),
    _own("ACE-Step", r"ace_?step", "audio_ace_step_1_t2a_song"),
    _own("Stable Audio 3", r"stable_audio_3", "audio_stable_audio_3_medium", "stable_audio"),
    _own("Stable Audio Open", r"stable_audio", "audio_stable_audio_example", "stable_audio"),
    _own("YuE 2", r"^yue2", "audio_yue2_text2music"),
    # Three dimensions
    _own("Hunyuan3D 2.1", r"hunyuan_?3d_(dit_)?v?2\.1", "3d_hunyuan3d-v2.1"),
    _own("Hunyuan3D 2", r"hunyuan_?3d", "3d_hunyuan3d_image_to_model"),
    _own("Pixal3D", r"pixal3d", "3d_pixal3d_multi_views"),
    _own("TRELLIS 2", r"trellis_?2", "3d_pixal3d_trellis2_image_to_model"),
    _own("TripoSplat", r"triposplat_fp|triposplat_bf", "3d_triposplat_image_to_gaussian_splat"),
    # Models that measure, cut out and enlarge
    _own("Lotus Depth", r"lotus_depth", "image_lotus_depth_v1_1"),
    _own("MoGe", r"^moge", "utility_moge_depth_estimation"),
    _own("Depth Anything 3", r"depth_anything_3", "utility_depth_anything3_image_depth_estimation"),
    _own("SAM 3D Body", r"sam_?3d_body", "utility_sam3d_body"),
    _own("SAM 3", r"^sam_?3", "utility_image_segment_sam3"),
    _own("SDPose", r"sdpose", "utility_sdpose_ood_image_to_pose"),
    _own("SeedVR2", r"seedvr2", "utility_seedvr2_3b_int8_upscale_image"),
    _own("BiRefNet", r"birefnet", "utility_birefnet_remove_background"),
    _own("Real-ESRGAN", r"realesrgan", "utility-gan_upscaler"),
    _own("FILM", r"^film_net", "utility_video_frame_interpolation"),
    # Language models
    _own("Qwen3.5", r"^qwen3\.5", "llm_qwen3_5_text_gen"),
    _own("Qwen3-VL", r"^qwen3vl", "llm_qwen3vl_text_gen"),
    _own("Qwen3", r"^qwen_?3_", "llm_qwen3_text_gen"),
    _own("Gemma 4", r"^gemma_?4", "llm_gemma4_text_gen"),
)  # fmt: skip

SPEED_LORA = re.compile(
    r"lightning|lightx2v|causvid|(?<!\d)\d_?steps|turbo|distill|hyper_?sd|lcm_lora"
)
"""In the name of a LoRA that makes a model need few steps and no guidance."""

_COMPILED = tuple((re.compile(family.pattern), family) for family in FAMILIES)


def plain_name(file: str) -> str:
    """A file's name without folders and ending, in lower case with `_` between words."""
    name = re.split(r"[\\/]", file)[-1].lower()
    return re.sub(r"[\s\-]+", "_", re.sub(r"\.(safetensors|ckpt|pth?|bin|gguf|sft)$", "", name))


def family_of(file: str) -> Family | None:
    """The family that a model's or LoRA's file name tells; the first pattern that fits counts."""
    name = plain_name(file)
    return next((family for pattern, family in _COMPILED if pattern.search(name)), None)


def is_speed_lora(file: str) -> bool:
    return SPEED_LORA.search(plain_name(file)) is not None
