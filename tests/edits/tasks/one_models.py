"""Models are swapped."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="sdxl_checkpoint",
        kind="swap model",
        template="image_sdxl_simple",
        say="Use juggernautXL_v9.safetensors.",
        operations=(
            {"op": "set", "node": "15", "values": {"ckpt_name": "juggernautXL_v9.safetensors"}},
        ),
        by_hand="put('15', 'ckpt_name', 'juggernautXL_v9.safetensors')",
    ),
    Task(
        name="flux_schnell_to_dev",
        kind="swap model",
        template="flux_schnell_full_text_to_image",
        say="Use Flux dev instead of schnell, with 20 steps.",
        operations=(
            {"op": "set", "node": "38", "values": {"unet_name": "flux1-dev.safetensors"}},
            {"op": "set", "node": "31", "values": {"steps": 20}},
        ),
        by_hand="""
            put('38', 'unet_name', 'flux1-dev.safetensors')
            put('31', 'steps', 20)
        """,
    ),
    Task(
        name="z_image_other_model",
        kind="swap model",
        template="image_z_image_turbo",
        say="Take z_image_bf16.safetensors as the model.",
        operations=(
            {"op": "set", "node": "57:28", "values": {"unet_name": "z_image_bf16.safetensors"}},
        ),
        by_hand="put('57', 'unet_name', 'z_image_bf16.safetensors')",
    ),
    Task(
        name="wan22_both_models",
        kind="swap model",
        template="video_wan2_2_14B_t2v",
        say="Use the fp16 files of both Wan models.",
        operations=(
            {
                "op": "set",
                "node": "128:75",
                "values": {"unet_name": "wan2.2_t2v_high_noise_14B_fp16.safetensors"},
            },
            {
                "op": "set",
                "node": "128:76",
                "values": {"unet_name": "wan2.2_t2v_low_noise_14B_fp16.safetensors"},
            },
        ),
        by_hand="""
            put('128', 'unet_name', 'wan2.2_t2v_high_noise_14B_fp16.safetensors')
            put('128', 'unet_name_1', 'wan2.2_t2v_low_noise_14B_fp16.safetensors')
        """,
    ),
    Task(
        name="wan_large_model_in_fp8",
        kind="swap model",
        template="text_to_video_wan",
        say="Use the 14B model, loaded as fp8_e4m3fn.",
        operations=(
            {
                "op": "set",
                "node": "37",
                "values": {
                    "unet_name": "wan2.1_t2v_14B_fp16.safetensors",
                    "weight_dtype": "fp8_e4m3fn",
                },
            },
        ),
        by_hand="""
            put('37', 'unet_name', 'wan2.1_t2v_14B_fp16.safetensors')
            put('37', 'weight_dtype', 'fp8_e4m3fn')
        """,
    ),
    Task(
        name="hidream_full_to_fast",
        kind="swap model",
        template="hidream_i1_full",
        say="Switch to HiDream fast: 16 steps, cfg 1, the lcm sampler.",
        operations=(
            {"op": "set", "node": "94", "values": {"unet_name": "hidream_i1_fast_fp8.safetensors"}},
            {"op": "set", "node": "93", "values": {"steps": 16, "cfg": 1, "sampler_name": "lcm"}},
        ),
        by_hand="""
            put('94', 'unet_name', 'hidream_i1_fast_fp8.safetensors')
            put('93', 'steps', 16)
            put('93', 'cfg', 1)
            put('93', 'sampler_name', 'lcm')
        """,
    ),
)
