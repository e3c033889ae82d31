"""Inputs that grow or depend on a choice, and values behind PrimitiveNodes and reroutes."""

from plugin.tests.edits.task import Task

FIRST_LINE = "Now, you can use ElevenLabs node to generate multi-dialogue audio."
SECOND_LINE = "Yes, you can use voice cloning too"
"""The template's own texts: the front end forgets them when the number of lines changes."""

TASKS = (
    Task(
        name="third_picture_for_nano_banana",
        kind="dynamic inputs",
        template="api_nano_banana_pro",
        say="Use third.png as the third picture.",
        operations=(
            {"op": "add", "id": "third", "type": "LoadImage", "values": {"image": "third.png"}},
            {"op": "connect", "from": "third.IMAGE", "to": "36.images.image2"},
        ),
        by_hand="""
add('third', 'LoadImage', '', { image: 'third.png' })
link('third', 'IMAGE', '36', 'images.image2')
""",
    ),
    Task(
        name="two_more_pictures_at_once",
        kind="dynamic inputs",
        template="api_kling_omni_edit_video",
        say="Take front.png and side.png as reference pictures, too.",
        operations=(
            {
                "op": "add",
                "id": "front",
                "type": "LoadImage",
                "values": {"image": "front.png"},
                "near": "24",
            },
            {
                "op": "add",
                "id": "side",
                "type": "LoadImage",
                "values": {"image": "side.png"},
                "near": "24",
            },
            {"op": "connect", "from": "front.IMAGE", "to": "26.images.image1"},
            {"op": "connect", "from": "side.IMAGE", "to": "26.images.image2"},
        ),
        by_hand="""
add('front', 'LoadImage', '', { image: 'front.png' })
add('side', 'LoadImage', '', { image: 'side.png' })
link('front', 'IMAGE', '26', 'images.image1')
link('side', 'IMAGE', '26', 'images.image2')
""",
    ),
    Task(
        name="last_picture_cut",
        kind="dynamic inputs",
        template="api_nano_banana_pro",
        say="Use only the first picture.",
        operations=({"op": "disconnect", "to": "36.images.image1"},),
        by_hand="unlink('36', 'images.image1')",
    ),
    Task(
        name="new_batch_of_pictures",
        kind="dynamic inputs",
        template="templates-character_sheet",
        say="Stack the close-up and the full body picture as a batch and preview it.",
        operations=(
            {
                "op": "add",
                "id": "batch",
                "type": "BatchImagesNode",
                "inputs": {"images.image0": "5.IMAGE", "images.image1": "7.IMAGE"},
            },
            {
                "op": "add",
                "id": "preview",
                "type": "PreviewImage",
                "inputs": {"images": "batch.IMAGE"},
            },
        ),
        by_hand="""
add('batch', 'BatchImagesNode')
link('5', 'IMAGE', 'batch', 'images.image0')
link('7', 'IMAGE', 'batch', 'images.image1')
add('preview', 'PreviewImage')
link('batch', 'IMAGE', 'preview', 'images')
""",
    ),
    Task(
        name="stitch_to_another_size",
        kind="dynamic inputs",
        template="utility_image_stitch",
        say="Scale the grid to 3072 by 3072.",
        operations=(
            {
                "op": "set",
                "node": "21",
                "values": {"resize_type.width": 3072, "resize_type.height": 3072},
            },
        ),
        by_hand="put('21', 'resize_type.width', 3072); put('21', 'resize_type.height', 3072)",
    ),
    Task(
        name="stitch_scaled_by_factor",
        kind="dynamic inputs",
        template="utility_image_stitch",
        say="Halve the grid instead of giving it a fixed size.",
        operations=(
            {
                "op": "set",
                "node": "21",
                "values": {
                    "resize_type": "scale by multiplier",
                    "resize_type.multiplier": 0.5,
                },
            },
        ),
        by_hand="""
put('21', 'resize_type', 'scale by multiplier')
put('21', 'resize_type.multiplier', 0.5)
""",
    ),
    Task(
        name="new_resize_by_longer_side",
        kind="dynamic inputs",
        template="utility_interpolation_image_upscale",
        say="Before saving, scale to 4096 on the longer side.",
        operations=(
            {
                "op": "insert",
                "id": "fit",
                "type": "ResizeImageMaskNode",
                "into": "5.images",
                "values": {
                    "resize_type": "scale longer dimension",
                    "resize_type.longer_size": 4096,
                },
            },
        ),
        by_hand="""
add('fit', 'ResizeImageMaskNode', '', {
  resize_type: 'scale longer dimension', 'resize_type.longer_size': 4096,
})
link('3', 'IMAGE', 'fit', 'input')
link('fit', 0, '5', 'images')
""",
    ),
    Task(
        name="third_line_of_dialogue",
        kind="dynamic inputs",
        template="api_elevenlabs_text_to_dialogue",
        say='A third line, spoken by Laura: "Bye!"',
        operations=(
            {
                "op": "set",
                "node": "218",
                "values": {
                    "inputs": "3",
                    "inputs.text1": FIRST_LINE,
                    "inputs.text2": SECOND_LINE,
                    "inputs.text3": "Bye!",
                },
            },
            {"op": "connect", "from": "219.0", "to": "218.inputs.voice3"},
        ),
        by_hand=f"""
put('218', 'inputs', '3')
put('218', 'inputs.text1', '{FIRST_LINE}')
put('218', 'inputs.text2', '{SECOND_LINE}')
put('218', 'inputs.text3', 'Bye!')
link('219', 0, '218', 'inputs.voice3')
""",
    ),
    Task(
        name="one_line_of_dialogue",
        kind="dynamic inputs",
        template="api_elevenlabs_text_to_dialogue",
        say="Only the first line.",
        operations=(
            {
                "op": "set",
                "node": "218",
                "values": {"inputs": "1", "inputs.text1": FIRST_LINE},
            },
        ),
        by_hand=f"put('218', 'inputs', '1'); put('218', 'inputs.text1', '{FIRST_LINE}')",
    ),
    Task(
        name="minimax_second_reference",
        kind="dynamic inputs",
        template="api_minimax_h3_r2v",
        say="Ten seconds, and dress.png as a second reference picture.",
        operations=(
            {"op": "set", "node": "4", "values": {"model.duration": 10}},
            {"op": "add", "id": "dress", "type": "LoadImage", "values": {"image": "dress.png"}},
            {
                "op": "connect",
                "from": "dress.IMAGE",
                "to": "4.model.reference_images.image_2",
            },
        ),
        by_hand="""
put('4', 'model.duration', 10)
add('dress', 'LoadImage', '', { image: 'dress.png' })
link('dress', 'IMAGE', '4', 'model.reference_images.image_2')
""",
    ),
    Task(
        name="inner_resize_method",
        kind="dynamic inputs",
        template="api_bytedance_vcube_video_enhance",
        say="The stitched video at half size, not rounded to even numbers.",
        operations=(
            {
                "op": "set",
                "node": "98:97",
                "values": {
                    "resize_type": "scale by multiplier",
                    "resize_type.multiplier": 0.5,
                },
            },
        ),
        by_hand="""
put('98:97', 'resize_type', 'scale by multiplier')
put('98:97', 'resize_type.multiplier', 0.5)
""",
    ),
    Task(
        name="promoted_dynamic_value",
        kind="dynamic inputs",
        template="utility_seedvr2_3b_int8_upscale_image",
        say="Upscale three times, not four times.",
        operations=({"op": "set", "node": "66:57", "values": {"resize_type.multiplier": 3}},),
        by_hand="put('66', 'resize_type.multiplier', 3)",
    ),
    Task(
        name="promoted_dynamic_choice",
        kind="dynamic inputs",
        template="utility_depth_anything3_image_depth_estimation",
        say="Resolution 756, and the depth normalised from the smallest to the largest value.",
        operations=(
            {
                "op": "set",
                "node": "14",
                "values": {"resolution": 756, "output.normalization": "min_max"},
            },
        ),
        by_hand="put('14', 'resolution', 756); put('14', 'output.normalization', 'min_max')",
    ),
    Task(
        name="primitive_drives_two_nodes",
        kind="set",
        template="flux_redux_model_example",
        say="768 wide and 1344 high, everywhere.",
        operations=(
            {"op": "set", "node": "34", "values": {"value": 768}},
            {"op": "set", "node": "35", "values": {"value": 1344}},
        ),
        by_hand="put('34', 'value', 768); put('35', 'value', 1344)",
    ),
    Task(
        name="duration_primitive",
        kind="set",
        template="audio_ace_step_1_5_checkpoint",
        say="A song of one minute.",
        operations=({"op": "set", "node": "99", "values": {"value": 60}},),
        by_hand="put('99', 'value', 60)",
    ),
    Task(
        name="dynamic_value_behind_a_primitive",
        kind="dynamic inputs",
        template="utility_topaz_illustration_upscale",
        say="More creativity: 5.",
        operations=({"op": "set", "node": "1", "values": {"model.creativity": 5}},),
        by_hand="put('7', 'model.creativity', 5)",
    ),
    Task(
        name="text_primitives",
        kind="set",
        template="sdxl_simple_example",
        say="The prompt: a red fox in snow. Negative: blurry. Base steps until 15 of 20.",
        operations=(
            {"op": "set", "node": "51", "values": {"value": "a red fox in snow"}},
            {"op": "set", "node": "50", "values": {"value": "blurry"}},
            {"op": "set", "node": "45", "values": {"value": 20}},
            {"op": "set", "node": "47", "values": {"value": 15}},
        ),
        by_hand="""
put('51', 'value', 'a red fox in snow')
put('50', 'value', 'blurry')
put('45', 'value', 20)
put('47', 'value', 15)
""",
    ),
    Task(
        name="primitive_off_one_target",
        kind="disconnect",
        template="sdxl_simple_example",
        say="Give the refiner its own 30 steps, not the shared ones.",
        operations=(
            {"op": "disconnect", "to": "11.steps"},
            {"op": "set", "node": "11", "values": {"steps": 30}},
        ),
        by_hand="unlink('11', 'steps'); put('11', 'steps', 30)",
    ),
    Task(
        name="promoted_seed_by_its_label",
        kind="inside subgraph",
        template="template_contact_sheet-step_3.app",
        say="Video 3 with the seed 33.",
        operations=({"op": "set", "node": "353", "values": {"video3_seed": 33}},),
        by_hand="put('353', 'seed', 33)",
    ),
    Task(
        name="aspect_ratio_primitive",
        kind="set",
        template="template_sirolim_image_script_video",
        say="Everything in 16:9.",
        operations=({"op": "set", "node": "158", "values": {"value": "16:9"}},),
        by_hand="put('158', 'value', '16:9')",
    ),
    Task(
        name="primitive_inside_a_subgraph",
        kind="inside subgraph",
        template="templates_graphic_design_recomposer",
        say="1K, square.",
        operations=(
            {"op": "set", "node": "143", "values": {"resolution": "1K", "aspect_ratio": "1:1"}},
        ),
        by_hand="put('143', 'resolution', '1K'); put('143', 'aspect_ratio', '1:1')",
    ),
    Task(
        name="lora_behind_a_reroute",
        kind="add lora",
        template="hidream_e1_full",
        say="The LoRA sketch.safetensors, only for the guider.",
        operations=(
            {
                "op": "insert",
                "id": "sketch",
                "type": "LoraLoaderModelOnly",
                "into": "53.model",
                "values": {"lora_name": "sketch.safetensors"},
            },
        ),
        by_hand="""
add('sketch', 'LoraLoaderModelOnly', '', { lora_name: 'sketch.safetensors' })
link('48', 0, 'sketch', 'model')
link('sketch', 'MODEL', '53', 'model')
""",
    ),
    Task(
        name="middle_picture_cut",
        kind="dynamic inputs",
        template="api_bfl_flux2_max_sofa_swap",
        say="Without the sofa's picture.",
        operations=({"op": "disconnect", "to": "18.model.images.image_2"},),
        by_hand="""
unlink('18', 'model.images.image_2')
// The third picture moves up after the next frame.
await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
""",
    ),
    Task(
        name="last_reference_removed",
        kind="dynamic inputs",
        template="api_bfl_flux2_max_sofa_swap",
        say="Without the person's picture, and no fixed link between the sizes: 1280 by 768.",
        operations=(
            {"op": "remove", "node": "10"},
            {"op": "remove", "node": "14"},
            {"op": "set", "node": "18", "values": {"model.width": 1280, "model.height": 768}},
        ),
        by_hand="""
remove('10')
remove('14')
put('18', 'model.width', 1280)
put('18', 'model.height', 768)
""",
    ),
    Task(
        name="another_language_model",
        kind="dynamic inputs",
        template="api_openrouter_llm",
        say="Ask gemini-3.5-flash instead, and let it think a little.",
        operations=(
            {
                "op": "set",
                "node": "1",
                "values": {
                    "model": "google/gemini-3.5-flash",
                    "model.reasoning_effort": "low",
                },
            },
        ),
        by_hand="""
put('1', 'model', 'google/gemini-3.5-flash')
put('1', 'model.reasoning_effort', 'low')
""",
    ),
)
