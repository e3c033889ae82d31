"""Sizes are changed everywhere: through primitives, links, and widgets of subgraphs."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="sdxl_refiner_portrait",
        kind="change size",
        template="sdxl_simple_example",
        say="Make it a portrait, 832 x 1216.",
        operations=({"op": "set", "node": "5", "values": {"width": 832, "height": 1216}},),
        by_hand="""
            put('5', 'width', 832)
            put('5', 'height', 1216)
        """,
    ),
    Task(
        name="redux_size_of_primitives",
        kind="change size",
        template="flux_redux_model_example",
        say="Make everything 1280 x 768.",
        operations=(
            {"op": "set", "node": "34", "values": {"value": 1280}},
            {"op": "set", "node": "35", "values": {"value": 768}},
        ),
        by_hand="""
            put('34', 'value', 1280)
            put('35', 'value', 768)
        """,
    ),
    Task(
        name="z_image_two_times_larger_and_sampler",
        kind="change size",
        template="image_z_image_turbo",
        say="Make this two times larger and use a different sampler.",
        operations=(
            {"op": "set", "node": "57:13", "values": {"width": 2048, "height": 2048}},
            {"op": "set", "node": "57:3", "values": {"sampler_name": "euler"}},
        ),
        by_hand="""
            put('57', 'width', 2048)
            put('57', 'height', 2048)
            put('57:3', 'sampler_name', 'euler')
        """,
    ),
    Task(
        name="sd35_canny_latent_and_control_size",
        kind="change size",
        template="sd3.5_large_canny_controlnet_example",
        say="Use 1280 x 720, for the control picture, too.",
        operations=(
            {"op": "set", "node": "33", "values": {"width": 1280, "height": 720}},
            {"op": "set", "node": "48", "values": {"width": 1280, "height": 720}},
        ),
        by_hand="""
            put('33', 'width', 1280)
            put('33', 'height', 720)
            put('48', 'width', 1280)
            put('48', 'height', 720)
        """,
    ),
    Task(
        name="svd_picture_and_video_size",
        kind="change size",
        template="txt_to_image_to_video",
        say="Make picture and video 768 x 432, and 14 frames.",
        operations=(
            {"op": "set", "node": "22", "values": {"width": 768, "height": 432}},
            {
                "op": "set",
                "node": "12",
                "values": {"width": 768, "height": 432, "video_frames": 14},
            },
        ),
        by_hand="""
            put('22', 'width', 768)
            put('22', 'height', 432)
            put('12', 'width', 768)
            put('12', 'height', 432)
            put('12', 'video_frames', 14)
        """,
    ),
    Task(
        name="nano_banana_wide_and_4k",
        kind="change size",
        template="api_google_nano_banana2_text_to_image",
        say="Make it 16:9 in 4K.",
        operations=(
            {
                "op": "set",
                "node": "24",
                "values": {"model.aspect_ratio": "16:9", "model.resolution": "4K"},
            },
        ),
        by_hand="""
            put('24', 'model.aspect_ratio', '16:9')
            put('24', 'model.resolution', '4K')
        """,
    ),
    Task(
        name="krea_size_of_the_selector",
        kind="change size",
        template="image_krea2_turbo_t2i",
        say="Make it widescreen with two megapixels.",
        operations=(
            {
                "op": "set",
                "node": "49",
                "values": {"aspect_ratio": "16:9 (Widescreen)", "megapixels": 2},
            },
        ),
        by_hand="""
            put('49', 'aspect_ratio', '16:9 (Widescreen)')
            put('49', 'megapixels', 2)
        """,
    ),
    Task(
        name="ltx2_size_and_length",
        kind="change size",
        template="video_ltx2_t2v",
        say="Make the video 960 x 544 with 81 frames.",
        operations=(
            {"op": "set", "node": "92", "values": {"width": 960, "height": 544, "value": 81}},
        ),
        by_hand="""
            put('92', 'width', 960)
            put('92', 'height', 544)
            put('92', 'value', 81)
        """,
    ),
    Task(
        name="wan_size_off_the_grid",
        kind="change size",
        template="text_to_video_wan",
        say="Set the size to 1000 x 568 and the length to 50 frames.",
        operations=(
            {"op": "set", "node": "40", "values": {"width": 1000, "height": 568, "length": 50}},
        ),
        by_hand="""
            put('40', 'width', 1000)
            put('40', 'height', 568)
            put('40', 'length', 50)
        """,
    ),
    Task(
        name="pixeldit_own_size_instead_of_the_selector",
        kind="change size",
        template="image_pixeldit_t2i",
        say="Let me set the size myself: 896 x 1152, without the resolution selector.",
        operations=(
            {"op": "disconnect", "to": "44.width"},
            {"op": "disconnect", "to": "44.height"},
            {"op": "remove", "node": "46"},
            {"op": "set", "node": "44", "values": {"width": 896, "height": 1152}},
        ),
        by_hand="""
            unlink('44', 'width')
            unlink('44', 'height')
            remove('46')
            put('44', 'width', 896)
            put('44', 'height', 1152)
        """,
    ),
)
