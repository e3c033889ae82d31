"""More values, models, sizes and bypasses, on templates of other kinds."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="anima_negative_text",
        kind="set",
        template="image_anima_base_v1",
        say='The negative prompt should only say "blurry, bad hands".',
        operations=({"op": "set", "node": "90", "values": {"text_1": "blurry, bad hands"}},),
        by_hand="put('90', 'text_1', 'blurry, bad hands')",
    ),
    Task(
        name="omnigen_seed_and_steps_inside",
        kind="set",
        template="image_omnigen2_t2i",
        say="Seed 99 and 30 steps.",
        operations=(
            {"op": "set", "node": "42:21", "values": {"noise_seed": 99}},
            {"op": "set", "node": "42:23", "values": {"steps": 30}},
        ),
        by_hand="""
            put('42', 'noise_seed', 99)
            put('42:23', 'steps', 30)
        """,
    ),
    Task(
        name="chrono_turbo",
        kind="set",
        template="image_chrono_edit_14B",
        say="Turn turbo mode on.",
        operations=({"op": "set", "node": "97:123", "values": {"value": True}},),
        by_hand="put('97', 'value', true)",
    ),
    Task(
        name="sdxl_turbo_two_steps",
        kind="set",
        template="sdxlturbo_example",
        say="Two steps with the plain euler sampler, seed 5.",
        operations=(
            {"op": "set", "node": "22", "values": {"steps": 2}},
            {"op": "set", "node": "14", "values": {"sampler_name": "euler"}},
            {"op": "set", "node": "13", "values": {"noise_seed": 5}},
        ),
        by_hand="""
            put('22', 'steps', 2)
            put('14', 'sampler_name', 'euler')
            put('13', 'noise_seed', 5)
        """,
    ),
    Task(
        name="flux_canny_finer_edges",
        kind="set",
        template="flux_canny_model_example",
        say="Find finer edges (0.05 and 0.155) and follow them a little less: guidance 25.",
        operations=(
            {
                "op": "set",
                "node": "18",
                "values": {"low_threshold": 0.05, "high_threshold": 0.155},
            },
            {"op": "set", "node": "26", "values": {"guidance": 25}},
        ),
        by_hand="""
            put('18', 'low_threshold', 0.05)
            put('18', 'high_threshold', 0.155)
            put('26', 'guidance', 25)
        """,
    ),
    Task(
        name="wan_api_size",
        kind="change size",
        template="api_wan_text_to_image",
        say="Make it 1280 x 960.",
        operations=({"op": "set", "node": "12", "values": {"width": 1280, "height": 960}},),
        by_hand="""
            put('12', 'width', 1280)
            put('12', 'height', 960)
        """,
    ),
    Task(
        name="qwen_image_wide",
        kind="change size",
        template="image_qwen_image",
        say="Make it 1664 x 928.",
        operations=({"op": "set", "node": "76:58", "values": {"width": 1664, "height": 928}},),
        by_hand="""
            put('76', 'width', 1664)
            put('76', 'height', 928)
        """,
    ),
    Task(
        name="interpolation_four_times",
        kind="change size",
        template="utility_interpolation_image_upscale",
        say="Make the picture four times larger, with bicubic.",
        operations=(
            {
                "op": "set",
                "node": "3",
                "values": {"upscale_method": "bicubic", "scale_by": 4},
            },
        ),
        by_hand="""
            put('3', 'upscale_method', 'bicubic')
            put('3', 'scale_by', 4)
        """,
    ),
    Task(
        name="gan_upscaler_other_model_half_size",
        kind="swap model",
        template="utility-gan_upscaler",
        say="Use 4x_foolhardy_Remacri.pth, and halve the frames afterwards.",
        operations=(
            {
                "op": "set",
                "node": "1",
                "values": {"model_name": "4x_foolhardy_Remacri.pth"},
            },
            {
                "op": "insert",
                "id": "halve",
                "type": "ImageScaleBy",
                "into": "11.images",
                "values": {"upscale_method": "area", "scale_by": 0.5},
            },
        ),
        by_hand="""
            put('1', 'model_name', '4x_foolhardy_Remacri.pth')
            add('halve', 'ImageScaleBy', '', { upscale_method: 'area', scale_by: 0.5 })
            link('2', 'IMAGE', 'halve', 'image')
            link('halve', 'IMAGE', '11', 'images')
        """,
    ),
    Task(
        name="netayume_lora_for_nested_subgraph",
        kind="add lora",
        template="image_netayume_lumina_t2i",
        say="Add the LoRA lumina_ink.safetensors for model and text encoder.",
        operations=(
            {
                "op": "insert",
                "id": "ink",
                "type": "LoraLoader",
                "into": "48:32.model",
                "values": {"lora_name": "lumina_ink.safetensors"},
                "inputs": {"clip": "48:34.CLIP"},
            },
            {"op": "connect", "from": "ink.CLIP", "to": "48:50.clip"},
            {"op": "connect", "from": "ink.CLIP", "to": "48:35.clip"},
        ),
        by_hand="""
            add('ink', 'LoraLoader', '48', { lora_name: 'lumina_ink.safetensors' })
            link('48:34', 'MODEL', 'ink', 'model')
            link('48:34', 'CLIP', 'ink', 'clip')
            link('ink', 'MODEL', '48:32', 'model')
            link('ink', 'CLIP', '48:50', 'clip')
            link('ink', 'CLIP', '48:35', 'clip')
        """,
    ),
    Task(
        name="flux2_size_for_latent_and_schedule",
        kind="change size",
        template="image_flux2_text_to_image",
        say="Make it 1248 x 832 everywhere.",
        operations=({"op": "set", "node": "98", "values": {"width": 1248, "height": 832}},),
        by_hand="""
            put('98', 'width', 1248)
            put('98', 'height', 832)
        """,
    ),
    Task(
        name="hunyuan15_with_cache",
        kind="bypass",
        template="video_hunyuan_video_1.5_720p_t2v",
        say="Let the EasyCache node of the first model run again.",
        operations=({"op": "mode", "node": "105", "mode": "run"},),
        by_hand="mode('105', 'run')",
    ),
    Task(
        name="wan22_lora_pair",
        kind="add lora",
        template="video_wan2_2_14B_i2v",
        say="Add orbit_high.safetensors to the high noise model, orbit_low.safetensors to the low.",
        operations=(
            {
                "op": "insert",
                "id": "high",
                "type": "LoraLoaderModelOnly",
                "into": "129:104.model",
                "values": {"lora_name": "orbit_high.safetensors"},
            },
            {
                "op": "insert",
                "id": "low",
                "type": "LoraLoaderModelOnly",
                "into": "129:103.model",
                "values": {"lora_name": "orbit_low.safetensors"},
            },
        ),
        by_hand="""
            add('high', 'LoraLoaderModelOnly', '129', { lora_name: 'orbit_high.safetensors' })
            add('low', 'LoraLoaderModelOnly', '129', { lora_name: 'orbit_low.safetensors' })
            link('129:116', 0, 'high', 'model')
            link('high', 'MODEL', '129:104', 'model')
            link('129:117', 0, 'low', 'model')
            link('low', 'MODEL', '129:103', 'model')
        """,
    ),
)
