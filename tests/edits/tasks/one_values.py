"""Values are set: samplers, steps, guidance, seeds, texts."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="flux_schnell_sampler_and_steps",
        kind="set",
        template="flux_schnell",
        say="Use eight steps and the dpmpp_2m sampler.",
        operations=(
            {"op": "set", "node": "31", "values": {"steps": 8, "sampler_name": "dpmpp_2m"}},
        ),
        by_hand="""
            put('31', 'steps', 8)
            put('31', 'sampler_name', 'dpmpp_2m')
        """,
    ),
    Task(
        name="sdxl_both_texts",
        kind="set",
        template="image_sdxl_simple",
        say='Draw "a red fox in the snow", a second line "soft light". Not: "blurry, text".',
        operations=(
            {
                "op": "set",
                "node": "10",
                "values": {"text": "a red fox in the snow\nsoft light"},
            },
            {"op": "set", "node": "11", "values": {"text": "blurry, text"}},
        ),
        by_hand="""
            put('10', 'text', 'a red fox in the snow\\nsoft light')
            put('11', 'text', 'blurry, text')
        """,
    ),
    Task(
        name="sd35_guidance_and_seed",
        kind="set",
        template="sd3.5_simple_example",
        say="Set cfg to 5.5 and the seed to 42.",
        operations=({"op": "set", "node": "3", "values": {"cfg": 5.5, "seed": 42}},),
        by_hand="""
            put('3', 'cfg', 5.5)
            put('3', 'seed', 42)
        """,
    ),
    Task(
        name="z_image_seed_and_steps_on_the_subgraph",
        kind="set",
        template="image_z_image_turbo",
        say="Seed 1234 and ten steps, please.",
        operations=({"op": "set", "node": "57", "values": {"seed": 1234, "steps": 10}},),
        by_hand="""
            put('57', 'seed', 1234)
            put('57', 'steps', 10)
        """,
    ),
    Task(
        name="wan22_lightning_steps",
        kind="set",
        template="video_wan2_2_14B_t2v",
        say="With the Lightning LoRA take six steps instead of four, and split them in the middle.",
        operations=(
            {"op": "set", "node": "128:117", "values": {"value": 6}},
            {"op": "set", "node": "128:118", "values": {"value": 3}},
        ),
        by_hand="""
            put('128:117', 'value', 6)
            put('128:118', 'value', 3)
        """,
    ),
    Task(
        name="sdxl_steps_of_two_samplers",
        kind="set",
        template="sdxl_simple_example",
        say="30 steps in all, the last six of them in the refiner.",
        operations=(
            {"op": "set", "node": "45", "values": {"value": 30}},
            {"op": "set", "node": "47", "values": {"value": 24}},
        ),
        by_hand="""
            put('45', 'value', 30)
            put('47', 'value', 24)
        """,
    ),
    Task(
        name="ace_step_three_minutes",
        kind="set",
        template="audio_ace_step_1_5_checkpoint",
        say="Make the song three minutes long.",
        operations=({"op": "set", "node": "99", "values": {"value": 180}},),
        by_hand="put('99', 'value', 180)",
    ),
    Task(
        name="hunyuan_guidance_off_the_grid",
        kind="set",
        template="hunyuan_video_text_to_video",
        say="Guidance 6.27 and a shift of 5.5.",
        operations=(
            {"op": "set", "node": "26", "values": {"guidance": 6.27}},
            {"op": "set", "node": "67", "values": {"shift": 5.5}},
        ),
        by_hand="""
            put('26', 'guidance', 6.27)
            put('67', 'shift', 5.5)
        """,
    ),
    Task(
        name="qwen_image_lightning_on",
        kind="set",
        template="image_qwen_image",
        say="Turn the Lightning LoRA on.",
        operations=({"op": "set", "node": "76:86", "values": {"value": True}},),
        by_hand="put('76', 'value', true)",
    ),
    Task(
        name="hidream_edit_guidance_and_schedule",
        kind="set",
        template="hidream_e1_full",
        say="Follow the text more (6) and the picture less (1.5), with the simple scheduler.",
        operations=(
            {
                "op": "set",
                "node": "53",
                "values": {"cfg_conds": 6, "cfg_cond2_negative": 1.5},
            },
            {"op": "set", "node": "49", "values": {"scheduler": "simple"}},
        ),
        by_hand="""
            put('53', 'cfg_conds', 6)
            put('53', 'cfg_cond2_negative', 1.5)
            put('49', 'scheduler', 'simple')
        """,
    ),
    Task(
        name="kling_duration_and_shape",
        kind="set",
        template="api_kling2_6_t2v",
        say="Only five seconds, upright, and without sound.",
        operations=(
            {
                "op": "set",
                "node": "8",
                "values": {"duration": 5, "aspect_ratio": "9:16", "generate_audio": False},
            },
        ),
        by_hand="""
            put('8', 'duration', 5)
            put('8', 'aspect_ratio', '9:16')
            put('8', 'generate_audio', false)
        """,
    ),
    Task(
        name="ltxv_sampler_steps_and_guidance",
        kind="set",
        template="ltxv_text_to_video",
        say="40 steps with dpmpp_2m and cfg 3.5.",
        operations=(
            {"op": "set", "node": "71", "values": {"steps": 40}},
            {"op": "set", "node": "73", "values": {"sampler_name": "dpmpp_2m"}},
            {"op": "set", "node": "72", "values": {"cfg": 3.5}},
        ),
        by_hand="""
            put('71', 'steps', 40)
            put('73', 'sampler_name', 'dpmpp_2m')
            put('72', 'cfg', 3.5)
        """,
    ),
    Task(
        name="stable_audio_text_and_seconds",
        kind="set",
        template="audio_stable_audio_example",
        say="Make 30 seconds of calm piano, without drums.",
        operations=(
            {"op": "set", "node": "6", "values": {"text": "calm piano"}},
            {"op": "set", "node": "7", "values": {"text": "drums"}},
            {"op": "set", "node": "11", "values": {"seconds": 30}},
        ),
        by_hand="""
            put('6', 'text', 'calm piano')
            put('7', 'text', 'drums')
            put('11', 'seconds', 30)
        """,
    ),
)
