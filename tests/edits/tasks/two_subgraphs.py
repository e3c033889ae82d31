"""Edits inside subgraphs, shared and nested ones among them, and of promoted values."""

from plugin.tests.edits.task import Task
from plugin.tests.edits.tasks.bodies import replaced, twin

TASKS = (
    Task(
        name="inner_steps",
        kind="inside subgraph",
        template="flux1_krea_dev",
        say="28 steps, and CFG 1.5.",
        operations=({"op": "set", "node": "200:197", "values": {"steps": 28, "cfg": 1.5}},),
        by_hand="put('200:197', 'steps', 28); put('200:197', 'cfg', 1.5)",
    ),
    Task(
        name="inner_width_driven_outside",
        kind="inside subgraph",
        template="flux1_krea_dev",
        say="Make the latent 832 by 1216.",
        operations=({"op": "set", "node": "200:196", "values": {"width": 832, "height": 1216}},),
        by_hand="put('200', 'width', 832); put('200', 'height', 1216)",
    ),
    Task(
        name="promoted_video_size",
        kind="inside subgraph",
        template="video_kandinsky5_t2v",
        say="Upright, 512 by 768, and ten seconds (241 frames).",
        operations=(
            {
                "op": "set",
                "node": "12",
                "values": {"width": 512, "height": 768, "length": 241},
            },
        ),
        by_hand="put('12', 'width', 512); put('12', 'height', 768); put('12', 'length', 241)",
    ),
    Task(
        name="promoted_switch",
        kind="inside subgraph",
        template="image_qwen_image",
        say="Use the Lightning LoRA.",
        operations=({"op": "set", "node": "76:86", "values": {"value": True}},),
        by_hand="put('76', 'value', true)",
    ),
    Task(
        name="promoted_prompt_by_its_label",
        kind="inside subgraph",
        template="image_flux2_klein_image_edit_9b_base",
        say="The prompt: Make the seats red.",
        operations=({"op": "set", "node": "75", "values": {"prompt": "Make the seats red."}},),
        by_hand="put('75', 'text', 'Make the seats red.')",
    ),
    Task(
        name="inner_lora",
        kind="inside subgraph",
        template="flux1_krea_dev",
        say="Add the LoRA film.safetensors at 0.8 to the model.",
        operations=(
            {
                "op": "insert",
                "id": "film",
                "type": "LoraLoaderModelOnly",
                "into": "200:197.model",
                "values": {"lora_name": "film.safetensors", "strength_model": 0.8},
            },
        ),
        by_hand="""
add('film', 'LoraLoaderModelOnly', '200', { lora_name: 'film.safetensors', strength_model: 0.8 })
unlink('200:197', 'model')
link('200:65', 'MODEL', 'film', 'model')
link('film', 'MODEL', '200:197', 'model')
""",
    ),
    Task(
        name="inner_preview",
        kind="inside subgraph",
        template="image_z_image_turbo_fun_union_controlnet",
        say="Show me the decoded picture already inside the subgraph.",
        operations=(
            {
                "op": "add",
                "id": "preview",
                "type": "PreviewImage",
                "inside": "70",
                "inputs": {"images": "70:43.IMAGE"},
            },
        ),
        by_hand="add('preview', 'PreviewImage', '70'); link('70:43', 'IMAGE', 'preview', 'images')",
    ),
    Task(
        name="inner_bypass_controlnet",
        kind="inside subgraph",
        template="image_z_image_turbo_fun_union_controlnet",
        say="Bypass the ControlNet patch.",
        operations=({"op": "mode", "node": "70:60", "mode": "bypass"},),
        by_hand="mode('70:60', 'bypass')",
    ),
    Task(
        name="inner_camera_loras",
        kind="inside subgraph",
        template="video_ltx2_t2v",
        say="Enable both camera LoRAs.",
        operations=(
            {"op": "mode", "node": "92:105", "mode": "run"},
            {"op": "mode", "node": "92:106", "mode": "run"},
        ),
        by_hand="mode('92:105', 'run'); mode('92:106', 'run')",
    ),
    Task(
        name="enable_second_instance",
        kind="inside subgraph",
        template="image_flux2_klein_image_edit_9b_base",
        say="Run the second example with the logo, mute the first.",
        operations=(
            {"op": "mode", "node": "92", "mode": "run"},
            {"op": "mode", "node": "94", "mode": "run"},
            {"op": "mode", "node": "75", "mode": "mute"},
            {"op": "mode", "node": "9", "mode": "mute"},
        ),
        by_hand="mode('92', 'run'); mode('94', 'run'); mode('75', 'mute'); mode('9', 'mute')",
    ),
    Task(
        name="inner_negative_from_text",
        kind="inside subgraph",
        template="image_flux2_klein_image_edit_9b_base",
        say="The negative side needs no reference picture: take the text alone.",
        operations=(
            {"op": "connect", "from": "75:67.CONDITIONING", "to": "75:63.negative"},
            {"op": "remove", "node": "75:122"},
        ),
        by_hand="link('75:67', 'CONDITIONING', '75:63', 'negative'); remove('75:122')",
    ),
    Task(
        name="inner_from_the_outside_input",
        kind="inside subgraph",
        template="image_flux2_klein_image_edit_9b_base",
        say="Don't scale the input picture, take it as it is.",
        operations=({"op": "remove", "node": "75:80", "bridge": True},),
        by_hand="""
remove('75:80')
linkFromOutside('75', 'image', '75:100', 'image')
linkFromOutside('75', 'image', '75:123', 'pixels')
""",
    ),
    Task(
        name="inner_shift_removed",
        kind="inside subgraph",
        template="video_wan2_2_14B_t2v",
        say="Remove the shift of the high noise model.",
        operations=({"op": "remove", "node": "128:82", "bridge": True},),
        by_hand="remove('128:82'); link('128:120', 0, '128:81', 'model')",
    ),
    Task(
        name="inner_decode_tiled",
        kind="inside subgraph",
        template="video_kandinsky5_t2v",
        say="Decode the video in tiles.",
        operations=({"op": "replace", "node": "12:9", "type": "VAEDecodeTiled"},),
        by_hand=replaced("12:9", "VAEDecodeTiled")
        + """
link('12:8', 'LATENT', '12:9', 'samples')
link('12:6', 'VAE', '12:9', 'vae')
link('12:9', 'IMAGE', '12:10', 'images')
""",
    ),
    Task(
        name="after_the_subgraph",
        kind="inside subgraph",
        template="image_z_image_turbo_fun_union_controlnet",
        say="Shift 5 inside, and save the picture at half its size.",
        operations=(
            {"op": "set", "node": "70:47", "values": {"shift": 5}},
            {
                "op": "insert",
                "id": "small",
                "type": "ImageScaleBy",
                "into": "9.images",
                "values": {"upscale_method": "area", "scale_by": 0.5},
            },
        ),
        by_hand="""
put('70:47', 'shift', 5)
add('small', 'ImageScaleBy', '', { upscale_method: 'area', scale_by: 0.5 })
link('70', 'IMAGE', 'small', 'image')
link('small', 'IMAGE', '9', 'images')
""",
    ),
    Task(
        name="inner_before_the_output",
        kind="inside subgraph",
        template="image_lotus_depth_v1_1",
        say="Don't invert the depth map.",
        operations=({"op": "remove", "node": "74:22", "bridge": True},),
        by_hand="""
remove('74:22')
linkToOutside('74:8', 'IMAGE', '74', 'IMAGE')
""",
    ),
    Task(
        name="inner_behind_the_input",
        kind="inside subgraph",
        template="image_lotus_depth_v1_1",
        say="Blur the input picture inside the subgraph, before it is encoded.",
        operations=(
            {
                "op": "insert",
                "id": "blur",
                "type": "ImageBlur",
                "into": "74:23.pixels",
                "values": {"blur_radius": 3},
            },
        ),
        by_hand="""
add('blur', 'ImageBlur', '74', { blur_radius: 3 })
linkFromOutside('74', 'pixels', 'blur', 'image')
link('blur', 'IMAGE', '74:23', 'pixels')
""",
    ),
    Task(
        name="shared_steps",
        kind="inside subgraph",
        template="flux1_krea_dev",
        damage=twin(200, "SaveImage", "IMAGE"),
        say="30 steps in both pictures.",
        operations=({"op": "set", "node": "200:197", "values": {"steps": 30}},),
        by_hand="put('200:197', 'steps', 30)",
    ),
    Task(
        name="shared_width_of_one",
        kind="inside subgraph",
        template="flux1_krea_dev",
        damage=twin(200, "SaveImage", "IMAGE"),
        say="Only the first picture is to be 1536 wide.",
        operations=({"op": "set", "node": "200", "values": {"width": 1536}},),
        by_hand="put('200', 'width', 1536)",
    ),
    Task(
        name="shared_insert",
        kind="inside subgraph",
        template="video_kandinsky5_t2v",
        damage=twin(12, "SaveVideo", "VIDEO"),
        say="Put the LoRA slow.safetensors into the model of both videos.",
        operations=(
            {
                "op": "insert",
                "id": "slow",
                "type": "LoraLoaderModelOnly",
                "into": "12:3.model",
                "values": {"lora_name": "slow.safetensors"},
            },
        ),
        by_hand="""
add('slow', 'LoraLoaderModelOnly', '12', { lora_name: 'slow.safetensors' })
unlink('12:3', 'model')
link('12:4', 'MODEL', 'slow', 'model')
link('slow', 'MODEL', '12:3', 'model')
name('slow in the second instance', at('slow'), '16')
""",
    ),
    Task(
        name="shared_mute_one",
        kind="mute",
        template="video_kandinsky5_t2v",
        damage=twin(12, "SaveVideo", "VIDEO"),
        say="Mute the first video.",
        operations=(
            {"op": "mode", "node": "12", "mode": "mute"},
            {"op": "mode", "node": "11", "mode": "mute"},
        ),
        by_hand="mode('12', 'mute'); mode('11', 'mute')",
    ),
    Task(
        name="nested_system_prompt",
        kind="nested subgraph",
        template="image_netayume_lumina_t2i",
        say="The negative system prompt: You draw badly.",
        operations=({"op": "set", "node": "48:35:41", "values": {"value": "You draw badly."}},),
        by_hand="put('48:35:41', 'value', 'You draw badly.')",
    ),
    Task(
        name="nested_promoted_sigma",
        kind="nested subgraph",
        template="flux_depth_lora_example",
        say="Lotus: sigma 900, and two steps.",
        operations=(
            {"op": "set", "node": "150:41", "values": {"sigma": 900}},
            {"op": "set", "node": "150:41:95", "values": {"steps": 2}},
        ),
        by_hand="put('150:41', 'sigma', 900); put('150:41:95', 'steps', 2)",
    ),
    Task(
        name="nested_driven_value",
        kind="nested subgraph",
        template="flux_depth_lora_example",
        say="Use the sampler heun for the depth.",
        operations=({"op": "set", "node": "150:41:100", "values": {"sampler_name": "heun"}},),
        by_hand="put('150:41', 'sampler_name', 'heun')",
    ),
    Task(
        name="nested_grow_mask",
        kind="nested subgraph",
        template="3d_triposplat_image_to_gaussian_splat",
        say="Grow the mask of the background removal by 4 pixels before it is inverted.",
        operations=(
            {
                "op": "insert",
                "id": "grown",
                "type": "GrowMask",
                "into": "88:85:83.mask",
                "values": {"expand": 4},
            },
        ),
        by_hand="""
add('grown', 'GrowMask', '88:85', { expand: 4 })
unlink('88:85:83', 'mask')
link('88:85:81', 0, 'grown', 'mask')
link('grown', 'MASK', '88:85:83', 'mask')
""",
    ),
    Task(
        name="nested_mute_previews",
        kind="nested subgraph",
        template="templates-1_click_multiple_scene_angles-v1.0",
        say="Mute the previews of the close-up and the wide angle; 8 steps for the wide angle.",
        operations=(
            {"op": "mode", "node": "65:33:32", "mode": "mute"},
            {"op": "mode", "node": "65:35:83", "mode": "mute"},
            {"op": "set", "node": "65:35:81", "values": {"steps": 8}},
        ),
        by_hand="""
mode('65:33:32', 'mute')
mode('65:35:83', 'mute')
put('65:35:81', 'steps', 8)
""",
    ),
    Task(
        name="nested_instance_muted",
        kind="nested subgraph",
        template="templates-1_click_multiple_scene_angles-v1.0",
        say="Mute the aerial view's subgraph and its save node.",
        operations=(
            {"op": "mode", "node": "65:42", "mode": "mute"},
            {"op": "mode", "node": "41", "mode": "mute"},
        ),
        by_hand="mode('65:42', 'mute'); mode('41', 'mute')",
    ),
)
