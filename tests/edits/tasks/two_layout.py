"""Nodes are wrapped into subgraphs, subgraphs are unpacked, and the layout is tidied."""

from plugin.tests.edits.task import Task
from plugin.tests.edits.tasks.bodies import unwrapped, wrapped

TASKS = (
    Task(
        name="wrap_both_prompts",
        kind="wrap",
        template="image_sdxl_simple",
        say='Put both prompts into a subgraph "Prompts".',
        operations=({"op": "wrap", "nodes": ["10", "11"], "title": "Prompts"},),
        by_hand=wrapped("Prompts", "10", "11"),
    ),
    Task(
        name="wrap_the_sampling",
        kind="wrap",
        template="ltxv_text_to_video",
        say='Make the custom sampler a subgraph "Sampling".',
        operations=({"op": "wrap", "nodes": ["71", "72", "73"], "title": "Sampling"},),
        by_hand=wrapped("Sampling", "71", "72", "73"),
    ),
    Task(
        name="wrap_a_chain",
        kind="wrap",
        template="wan2.1_fun_control",
        say='Put the four model patches into a subgraph "Patches".',
        operations=({"op": "wrap", "nodes": ["65", "67", "68", "66"], "title": "Patches"},),
        by_hand=wrapped("Patches", "65", "67", "68", "66"),
    ),
    Task(
        name="wrap_with_an_output_node",
        kind="wrap",
        template="3d_triposplat_image_to_gaussian_splat",
        say='The turntable with its save node as a subgraph "Turntable".',
        operations=({"op": "wrap", "nodes": ["79", "75", "41", "42"], "title": "Turntable"},),
        by_hand=wrapped("Turntable", "79", "75", "41", "42"),
    ),
    Task(
        name="wrap_growing_inputs",
        kind="wrap",
        template="api_nano_banana_pro",
        say='The batch and the image model as a subgraph "Banana".',
        operations=({"op": "wrap", "nodes": ["36", "35"], "title": "Banana"},),
        by_hand=wrapped("Banana", "36", "35"),
    ),
    Task(
        name="wrap_inside_a_subgraph",
        kind="wrap",
        template="flux1_krea_dev",
        say='Inside the subgraph, put the three loaders into one of their own, "Models".',
        operations=({"op": "wrap", "nodes": ["200:63", "200:64", "200:65"], "title": "Models"},),
        by_hand=wrapped("Models", "200:63", "200:64", "200:65"),
    ),
    Task(
        name="wrap_an_instance",
        kind="wrap",
        template="image_lotus_depth_v1_1",
        say='Depth map and save node in one subgraph "Depth".',
        operations=({"op": "wrap", "nodes": ["74", "9"], "title": "Depth"},),
        by_hand=wrapped("Depth", "74", "9"),
    ),
    Task(
        name="unwrap_text_to_image",
        kind="unwrap",
        template="flux1_krea_dev",
        say="Unpack the subgraph, I want to see all nodes.",
        operations=({"op": "unwrap", "node": "200"},),
        by_hand=unwrapped("200"),
    ),
    Task(
        name="unwrap_a_nested_subgraph",
        kind="unwrap",
        template="flux_depth_lora_example",
        say="Unpack the Lotus subgraph inside the other one.",
        operations=({"op": "unwrap", "node": "150:41"},),
        by_hand=unwrapped("150:41"),
    ),
    Task(
        name="unwrap_the_outer_subgraph",
        kind="unwrap",
        template="image_netayume_lumina_t2i",
        say="Unpack the big subgraph; the negative prompt may stay packed.",
        operations=({"op": "unwrap", "node": "48"},),
        by_hand=unwrapped("48"),
    ),
    Task(
        name="unwrap_dynamic_inputs",
        kind="unwrap",
        template="api_bytedance_vcube_video_enhance",
        say="Unpack the stitching.",
        operations=({"op": "unwrap", "node": "98"},),
        by_hand=unwrapped("98"),
    ),
    Task(
        name="unwrap_promoted_values",
        kind="unwrap",
        template="utility_seedvr2_3b_int8_upscale_image",
        say="Upscale three times, then unpack the subgraph.",
        operations=(
            {"op": "set", "node": "66", "values": {"resize_type.multiplier": 3}},
            {"op": "unwrap", "node": "66"},
        ),
        by_hand="put('66', 'resize_type.multiplier', 3)\n" + unwrapped("66"),
    ),
    Task(
        name="group_and_move",
        kind="layout",
        template="image_sdxl_simple",
        say='Group checkpoint and latent as "Start", and move the decoder right of the sampler.',
        operations=(
            {"op": "group", "title": "Start", "nodes": ["15", "13"]},
            {"op": "move", "node": "14", "near": "12"},
        ),
        by_hand="""
const group = new LiteGraph.LGraphGroup('Start')
graph.add(group)
group.resizeTo([at('15'), at('13')], 10)
at('14').pos = [at('12').pos[0] + at('12').size[0] + 40, at('12').pos[1]]
""",
    ),
    Task(
        name="arrange_everything",
        kind="layout",
        template="utility_image_stitch",
        say="Tidy the whole workflow up.",
        operations=({"op": "arrange"},),
        by_hand="graph.arrange()",
    ),
    Task(
        name="arrange_inside",
        kind="layout",
        template="video_kandinsky5_t2v",
        say="Tidy up the inside of the subgraph.",
        operations=(
            {
                "op": "arrange",
                "nodes": ["12:1", "12:2", "12:6", "12:7", "12:4", "12:3", "12:5", "12:8", "12:9"],
            },
        ),
        by_hand="inside('12').arrange()",
    ),
    Task(
        name="ungroup",
        kind="layout",
        template="hidream_e1_full",
        say="Dissolve the group of the prompts and move the prompts to the top.",
        operations=(
            {"op": "ungroup", "group": "Step3 - Prompt"},
            {"op": "move", "node": "6", "x": 0, "y": -600},
            {"op": "move", "node": "7", "x": 500, "y": -600},
        ),
        by_hand="""
graph.remove(graph.groups.find((group) => group.title === 'Step3 - Prompt'))
at('6').pos = [0, -600]
at('7').pos = [500, -600]
""",
    ),
    Task(
        name="title_of_a_subgraph",
        kind="layout",
        template="video_wan2_2_14B_t2v",
        say='Call the subgraph "Wan".',
        operations=({"op": "title", "node": "128", "title": "Wan"},),
        by_hand="at('128').title = 'Wan'",
    ),
    Task(
        name="titles_of_nodes",
        kind="set",
        template="image_to_video_wan",
        say='Call the prompts "Good" and "Bad".',
        operations=(
            {"op": "title", "node": "6", "title": "Good"},
            {"op": "title", "node": "7", "title": "Bad"},
        ),
        by_hand="at('6').title = 'Good'; at('7').title = 'Bad'",
    ),
)
