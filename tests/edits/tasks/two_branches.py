"""Branches are muted and enabled, links cut, nodes removed and replaced."""

from plugin.tests.edits.task import Task
from plugin.tests.edits.tasks.bodies import replaced

TASKS = (
    Task(
        name="mute_single_saves",
        kind="mute",
        template="templates-character_sheet",
        say="Only save the character sheet, not the close-up and the full body picture.",
        operations=(
            {"op": "mode", "node": "4", "mode": "mute"},
            {"op": "mode", "node": "6", "mode": "mute"},
        ),
        by_hand="mode('4', 'mute'); mode('6', 'mute')",
    ),
    Task(
        name="mute_splat_video",
        kind="mute",
        template="3d_triposplat_image_to_gaussian_splat",
        say="I don't need the turntable video. Mute that branch.",
        operations=tuple(
            {"op": "mode", "node": node, "mode": "mute"} for node in ("79", "75", "41", "42")
        ),
        by_hand="for (const node of ['79', '75', '41', '42']) mode(node, 'mute')",
    ),
    Task(
        name="mute_seventh_video",
        kind="mute",
        template="template_contact_sheet-step_3.app",
        say="Skip video 7.",
        operations=(
            {"op": "mode", "node": "385", "mode": "mute"},
            {"op": "mode", "node": "384", "mode": "mute"},
        ),
        by_hand="mode('385', 'mute'); mode('384', 'mute')",
    ),
    Task(
        name="enable_left_view",
        kind="bypass",
        template="3d_hunyuan3d_multiview_to_model",
        say="I have a picture from the left, too: switch the left view on.",
        operations=(
            {"op": "mode", "node": "78", "mode": "run"},
            {"op": "mode", "node": "79", "mode": "run"},
        ),
        by_hand="mode('78', 'run'); mode('79', 'run')",
    ),
    Task(
        name="enable_first_frame_control",
        kind="bypass",
        template="video_wan_vace_14B_ref2v",
        say="Turn the first frame control on.",
        operations=tuple(
            {"op": "mode", "node": node, "mode": "run"}
            for node in ("148", "130", "129", "147", "132", "165", "146", "145", "166", "142")
        ),
        by_hand="""
for (const node of ['148', '130', '129', '147', '132', '165', '146', '145', '166', '142']) {
  mode(node, 'run')
}
""",
    ),
    Task(
        name="disconnect_clip_vision",
        kind="disconnect",
        template="image_to_video_wan",
        say="Don't use the CLIP vision of the start image.",
        operations=({"op": "disconnect", "to": "50.clip_vision_output"},),
        by_hand="unlink('50', 'clip_vision_output')",
    ),
    Task(
        name="disconnect_controlnet_vae",
        kind="disconnect",
        template="sd3.5_large_canny_controlnet_example",
        say="Take the VAE off the ControlNet node.",
        operations=({"op": "disconnect", "to": "51.vae"},),
        by_hand="unlink('51', 'vae')",
    ),
    Task(
        name="disconnect_wan_control_start",
        kind="disconnect",
        template="wan2.1_fun_control",
        say="Only follow the control video: no start image and no CLIP vision.",
        operations=(
            {"op": "disconnect", "to": "55.start_image"},
            {"op": "disconnect", "to": "55.clip_vision_output"},
        ),
        by_hand="unlink('55', 'start_image'); unlink('55', 'clip_vision_output')",
    ),
    Task(
        name="remove_shift_bridged",
        kind="remove",
        template="audio_ace_step_1_t2a_instrumentals",
        say="Remove ModelSamplingSD3, the model goes straight on.",
        operations=({"op": "remove", "node": "51", "bridge": True},),
        by_hand="remove('51'); link('40', 'MODEL', '49', 'model')",
    ),
    Task(
        name="remove_canny_preview",
        kind="remove",
        template="sd3.5_large_canny_controlnet_example",
        say="Delete the preview of the edges.",
        operations=({"op": "remove", "node": "49"},),
        by_hand="remove('49')",
    ),
    Task(
        name="remove_second_reference",
        kind="remove",
        template="flux_redux_model_example",
        say="Use only the first reference image; remove the second one with its nodes.",
        operations=(
            {"op": "remove", "node": "45", "bridge": True},
            {"op": "remove", "node": "46"},
            {"op": "remove", "node": "47"},
        ),
        by_hand="""
for (const node of ['45', '46', '47']) remove(node)
link('41', 'CONDITIONING', '22', 'conditioning')
""",
    ),
    Task(
        name="remove_model_patches",
        kind="remove",
        template="wan2.1_fun_control",
        say="Throw out skip layer guidance, the temporal attention and CFG zero star.",
        operations=(
            {"op": "remove", "node": "65", "bridge": True},
            {"op": "remove", "node": "68", "bridge": True},
            {"op": "remove", "node": "66", "bridge": True},
        ),
        by_hand="""
for (const node of ['65', '68', '66']) remove(node)
link('37', 'MODEL', '67', 'model')
link('67', 'MODEL', '3', 'model')
""",
    ),
    Task(
        name="remove_reroute",
        kind="remove",
        template="hidream_e1_full",
        say="Remove the reroute of the model, and give the guider alone a shift of 6.",
        operations=(
            {"op": "remove", "node": "48", "bridge": True},
            {
                "op": "insert",
                "id": "shift",
                "type": "ModelSamplingSD3",
                "into": "53.model",
                "values": {"shift": 6},
            },
        ),
        by_hand="""
remove('48')
link('41', 'MODEL', '49', 'model')
add('shift', 'ModelSamplingSD3', '', { shift: 6 })
link('41', 'MODEL', 'shift', 'model')
link('shift', 'MODEL', '53', 'model')
""",
    ),
    Task(
        name="remove_video_upscaling",
        kind="remove",
        template="utility-gan_upscaler",
        say="No upscaling, just pass the frames through. Remove its model loader, too.",
        operations=(
            {"op": "remove", "node": "2", "bridge": True},
            {"op": "remove", "node": "1"},
        ),
        by_hand="remove('2'); remove('1'); link('10', 'images', '11', 'images')",
    ),
    Task(
        name="remove_save_add_preview",
        kind="remove",
        template="sdxlturbo_example",
        say="Delete the save node and show me a preview instead.",
        operations=(
            {"op": "remove", "node": "27"},
            {"op": "add", "id": "preview", "type": "PreviewImage", "inputs": {"images": "8.IMAGE"}},
        ),
        by_hand="""
remove('27')
add('preview', 'PreviewImage')
link('8', 'IMAGE', 'preview', 'images')
""",
    ),
    Task(
        name="replace_decode_tiled",
        kind="replace",
        template="flux_schnell",
        say="Decode in tiles, my memory is short.",
        operations=(
            {"op": "replace", "node": "8", "type": "VAEDecodeTiled", "values": {"tile_size": 384}},
        ),
        by_hand=replaced("8", "VAEDecodeTiled")
        + """
link('31', 'LATENT', '8', 'samples')
link('30', 'VAE', '8', 'vae')
link('8', 'IMAGE', '9', 'images')
put('8', 'tile_size', 384)
""",
    ),
    Task(
        name="replace_latent_keeps_size",
        kind="replace",
        template="sdxlturbo_example",
        say="Use an SD3 latent instead of the plain one.",
        operations=({"op": "replace", "node": "5", "type": "EmptySD3LatentImage"},),
        by_hand=replaced("5", "EmptySD3LatentImage")
        + """
put('5', 'width', 512)
put('5', 'height', 512)
link('5', 'LATENT', '13', 'latent_image')
""",
    ),
    Task(
        name="replace_scale_loses_size",
        kind="replace",
        template="hidream_e1_full",
        say="Scale the picture to a longest side of 768 instead of cropping it.",
        operations=(
            {
                "op": "replace",
                "node": "44",
                "type": "ImageScaleToMaxDimension",
                "values": {"largest_size": 768},
            },
        ),
        by_hand=replaced("44", "ImageScaleToMaxDimension")
        + """
put('44', 'upscale_method', 'bilinear')
put('44', 'largest_size', 768)
link('13', 'IMAGE', '44', 'image')
link('44', 'IMAGE', '52', 'pixels')
""",
    ),
    Task(
        name="replace_sampler_advanced",
        kind="replace",
        template="image_sdxl_simple",
        say="Make the sampler an advanced one, with the same seed.",
        operations=(
            {
                "op": "replace",
                "node": "12",
                "type": "KSamplerAdvanced",
                "values": {"noise_seed": 812045847300606},
            },
        ),
        by_hand=replaced("12", "KSamplerAdvanced")
        + """
put('12', 'noise_seed', 812045847300606)
put('12', 'steps', 25)
put('12', 'cfg', 7)
put('12', 'sampler_name', 'dpmpp_2m')
put('12', 'scheduler', 'karras')
link('15', 'MODEL', '12', 'model')
link('10', 'CONDITIONING', '12', 'positive')
link('11', 'CONDITIONING', '12', 'negative')
link('13', 'LATENT', '12', 'latent_image')
link('12', 'LATENT', '14', 'samples')
""",
    ),
    Task(
        name="replace_save_by_preview",
        kind="replace",
        template="utility_interpolation_image_upscale",
        say="Don't save, only preview.",
        operations=({"op": "replace", "node": "5", "type": "PreviewImage"},),
        by_hand=replaced("5", "PreviewImage") + "link('3', 'IMAGE', '5', 'images')",
    ),
    Task(
        name="replace_audio_save",
        kind="replace",
        template="audio_ace_step_1_t2a_instrumentals",
        say="Save as FLAC instead of MP3.",
        operations=({"op": "replace", "node": "59", "type": "SaveAudio"},),
        by_hand=replaced("59", "SaveAudio") + "link('18', 'AUDIO', '59', 'audio')",
    ),
)
