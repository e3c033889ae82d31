"""Edits at the edges of subgraphs: their own inputs, a bypass of a whole instance, one of two."""

from plugin.tests.edits.task import Task
from plugin.tests.edits.tasks.bodies import replaced, twin, unwrapped, wrapped

TASKS = (
    Task(
        name="bypass_an_instance",
        kind="bypass",
        template="image_lotus_depth_v1_1",
        say="Bypass the depth subgraph.",
        operations=({"op": "mode", "node": "74", "mode": "bypass"},),
        by_hand="mode('74', 'bypass')",
    ),
    Task(
        name="bypass_a_nested_instance",
        kind="nested subgraph",
        template="flux_depth_lora_example",
        say="Bypass the Lotus subgraph inside the other one.",
        operations=({"op": "mode", "node": "150:41", "mode": "bypass"},),
        by_hand="mode('150:41', 'bypass')",
    ),
    Task(
        name="number_for_a_promoted_input",
        kind="inside subgraph",
        template="flux1_krea_dev",
        say="Let one number node of 896 give both width and height of the subgraph.",
        operations=(
            {"op": "add", "id": "size", "type": "PrimitiveInt", "values": {"value": 896}},
            {"op": "connect", "from": "size.INT", "to": "200.width"},
            {"op": "connect", "from": "size.INT", "to": "200.height"},
        ),
        by_hand="""
add('size', 'PrimitiveInt', '', { value: 896 })
link('size', 'INT', '200', 'width')
link('size', 'INT', '200', 'height')
""",
    ),
    Task(
        name="picture_into_an_instance",
        kind="inside subgraph",
        template="image_flux2_klein_image_edit_9b_base",
        say="Edit the logo picture in the first example.",
        operations=({"op": "connect", "from": "81.IMAGE", "to": "75.image"},),
        by_hand="link('81', 'IMAGE', '75', 'image')",
    ),
    Task(
        name="replace_a_node_fed_from_outside",
        kind="inside subgraph",
        template="video_wan2_2_14B_t2v",
        say="Use an empty Cosmos latent instead of the Hunyuan one, same size and length.",
        operations=({"op": "replace", "node": "128:74", "type": "EmptyCosmosLatentVideo"},),
        by_hand=replaced("128:74", "EmptyCosmosLatentVideo")
        + """
linkFromOutside('128', 'width', '128:74', 'width')
linkFromOutside('128', 'height', '128:74', 'height')
link('128:127', 'INT', '128:74', 'length')
link('128:74', 'LATENT', '128:81', 'latent_image')
""",
    ),
    Task(
        name="remove_a_node_fed_from_outside",
        kind="inside subgraph",
        template="image_qwen_image",
        say="Delete the Lightning LoRA inside the subgraph.",
        operations=({"op": "remove", "node": "76:73", "bridge": True},),
        by_hand="remove('76:73'); link('76:37', 'MODEL', '76:78', 'on_true')",
    ),
    Task(
        name="wrap_reroutes",
        kind="wrap",
        template="templates-character_sheet",
        say='Put the reroutes and the stitching into a subgraph "Sheet".',
        operations=({"op": "wrap", "nodes": ["21", "20", "11"], "title": "Sheet"},),
        by_hand=wrapped("Sheet", "21", "20", "11"),
    ),
    Task(
        name="wrap_primitives",
        kind="wrap",
        template="flux_redux_model_example",
        say='Put the size with its two numbers into a subgraph "Size".',
        operations=({"op": "wrap", "nodes": ["34", "35", "27", "30"], "title": "Size"},),
        by_hand=wrapped("Size", "34", "35", "27", "30"),
    ),
    Task(
        name="unwrap_one_of_two",
        kind="unwrap",
        template="flux1_krea_dev",
        damage=twin(200, "SaveImage", "IMAGE"),
        say="Unpack the new subgraph only, and give the other one 12 steps.",
        operations=(
            {"op": "unwrap", "node": "201"},
            {"op": "set", "node": "200:197", "values": {"steps": 12}},
        ),
        by_hand=unwrapped("201") + "put('200:197', 'steps', 12)",
    ),
    Task(
        name="shared_values_apart",
        kind="inside subgraph",
        template="flux1_krea_dev",
        damage=twin(200, "SaveImage", "IMAGE"),
        say="The second picture: seed 7 and the prompt 'a cat'.",
        operations=(
            {"op": "set", "node": "201:197", "values": {"seed": 7}},
            {"op": "set", "node": "201", "values": {"text": "a cat"}},
        ),
        by_hand="put('201', 'seed', 7); put('201', 'text', 'a cat')",
    ),
    Task(
        name="shared_bypass_inside",
        kind="inside subgraph",
        template="video_kandinsky5_t2v",
        damage=twin(12, "SaveVideo", "VIDEO"),
        say="Bypass the shift in both videos.",
        operations=({"op": "mode", "node": "16:3", "mode": "bypass"},),
        by_hand="mode('16:3', 'bypass')",
    ),
    Task(
        name="values_off_the_grid",
        kind="set",
        template="sdxlturbo_example",
        say="500 by 777, CFG 1.2345.",
        operations=(
            {"op": "set", "node": "5", "values": {"width": 500, "height": 777}},
            {"op": "set", "node": "13", "values": {"cfg": 1.2345}},
        ),
        by_hand="""
put('5', 'width', 500)
put('5', 'height', 777)
put('13', 'cfg', 1.2345)
""",
    ),
    Task(
        name="remove_one_preview_of_two",
        kind="remove",
        template="3d_moge_perspective_to_mesh",
        say="Remove the preview of the DirectX normals.",
        operations=({"op": "remove", "node": "47"},),
        by_hand="remove('47')",
    ),
    Task(
        name="remove_a_whole_subgraph",
        kind="remove",
        template="api_bytedance_vcube_video_enhance",
        say="I don't need the stitched comparison. Remove it.",
        operations=({"op": "remove", "node": "98"}, {"op": "remove", "node": "100"}),
        by_hand="remove('98'); remove('100')",
    ),
    Task(
        name="node_between_two_instances",
        kind="inside subgraph",
        template="templates-1_click_multiple_scene_angles-v1.0",
        say="Shift the model by 4 between the loader subgraph and the generating one.",
        operations=(
            {
                "op": "insert",
                "id": "shift",
                "type": "ModelSamplingAuraFlow",
                "into": "65._3",
                "values": {"shift": 4},
            },
        ),
        by_hand="""
add('shift', 'ModelSamplingAuraFlow', '', { shift: 4 })
link('48', 'MODEL', 'shift', 'model')
link('shift', 'MODEL', '65', '_3')
""",
    ),
)
