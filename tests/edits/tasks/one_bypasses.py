"""Nodes are bypassed, and bypassed nodes run again."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="humo_without_its_lora",
        kind="bypass",
        template="video_humo",
        say="Bypass the LoRA, and use 30 steps with cfg 5 then.",
        operations=(
            {"op": "mode", "node": "61", "mode": "bypass"},
            {"op": "set", "node": "64", "values": {"steps": 30, "cfg": 5}},
        ),
        by_hand="""
            mode('61', 'bypass')
            put('64', 'steps', 30)
            put('64', 'cfg', 5)
        """,
    ),
    Task(
        name="redux_without_the_second_picture",
        kind="bypass",
        template="flux_redux_model_example",
        say="Only use the first reference picture: bypass the second style model.",
        operations=({"op": "mode", "node": "45", "mode": "bypass"},),
        by_hand="mode('45', 'bypass')",
    ),
    Task(
        name="sd35_canny_without_controlnet",
        kind="bypass",
        template="sd3.5_large_canny_controlnet_example",
        say="Bypass the ControlNet.",
        operations=({"op": "mode", "node": "51", "mode": "bypass"},),
        by_hand="mode('51', 'bypass')",
    ),
    Task(
        name="switch_node_shift_runs_again",
        kind="bypass",
        template="basic_switch_node",
        say="Let the model sampling in the subgraph run again, with shift 2.5.",
        operations=(
            {"op": "mode", "node": "64:59", "mode": "run"},
            {"op": "set", "node": "64:59", "values": {"shift": 2.5}},
        ),
        by_hand="""
            mode('64:59', 'run')
            put('64:59', 'shift', 2.5)
        """,
    ),
    Task(
        name="s2v_without_the_second_extension",
        kind="bypass",
        template="video_wan2_2_14B_s2v",
        say="Bypass the second extension, so the video gets shorter; two batches then.",
        operations=(
            {"op": "mode", "node": "85", "mode": "bypass"},
            {"op": "set", "node": "100", "values": {"value": 2}},
        ),
        by_hand="""
            mode('85', 'bypass')
            put('100', 'value', 2)
        """,
    ),
    Task(
        name="hunyuan3d_left_view_too",
        kind="bypass",
        template="3d_hunyuan3d_multiview_to_model",
        say="Use the left view, too: its nodes are bypassed.",
        operations=(
            {"op": "mode", "node": "78", "mode": "run"},
            {"op": "mode", "node": "79", "mode": "run"},
        ),
        by_hand="""
            mode('78', 'run')
            mode('79', 'run')
        """,
    ),
)
