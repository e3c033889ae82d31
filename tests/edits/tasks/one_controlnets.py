"""ControlNets are added."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="sd35_canny_controlnet",
        kind="controlnet",
        template="sd3.5_simple_example",
        say="Control it with the edges of room.png (sd3.5_large_controlnet_canny, strength 0.7).",
        operations=(
            {
                "op": "add",
                "id": "control",
                "type": "ControlNetLoader",
                "values": {"control_net_name": "sd3.5_large_controlnet_canny.safetensors"},
            },
            {"op": "add", "id": "room", "type": "LoadImage", "values": {"image": "room.png"}},
            {"op": "add", "id": "edges", "type": "Canny", "inputs": {"image": "room.IMAGE"}},
            {
                "op": "add",
                "id": "apply",
                "type": "ControlNetApplyAdvanced",
                "values": {"strength": 0.7},
                "inputs": {
                    "positive": "16.CONDITIONING",
                    "negative": "40.CONDITIONING",
                    "control_net": "control.CONTROL_NET",
                    "image": "edges.IMAGE",
                    "vae": "4.VAE",
                },
            },
            {"op": "connect", "from": "apply.positive", "to": "3.positive"},
            {"op": "connect", "from": "apply.negative", "to": "3.negative"},
        ),
        by_hand="""
            add('control', 'ControlNetLoader', '', {
                control_net_name: 'sd3.5_large_controlnet_canny.safetensors',
            })
            add('room', 'LoadImage', '', { image: 'room.png' })
            add('edges', 'Canny')
            add('apply', 'ControlNetApplyAdvanced', '', { strength: 0.7 })
            link('room', 'IMAGE', 'edges', 'image')
            link('16', 'CONDITIONING', 'apply', 'positive')
            link('40', 'CONDITIONING', 'apply', 'negative')
            link('control', 'CONTROL_NET', 'apply', 'control_net')
            link('edges', 'IMAGE', 'apply', 'image')
            link('4', 'VAE', 'apply', 'vae')
            link('apply', 'positive', '3', 'positive')
            link('apply', 'negative', '3', 'negative')
        """,
    ),
    Task(
        name="sdxl_depth_controlnet_for_the_first_half",
        kind="controlnet",
        template="image_sdxl_simple",
        say="Use my depth map depth.png with the union ControlNet, only in the first half.",
        operations=(
            {
                "op": "add",
                "id": "control",
                "type": "ControlNetLoader",
                "values": {"control_net_name": "controlnet-union-sdxl-1.0.safetensors"},
            },
            {
                "op": "add",
                "id": "depth_type",
                "type": "SetUnionControlNetType",
                "values": {"type": "depth"},
                "inputs": {"control_net": "control.CONTROL_NET"},
            },
            {"op": "add", "id": "depth", "type": "LoadImage", "values": {"image": "depth.png"}},
            {
                "op": "insert",
                "id": "apply",
                "type": "ControlNetApplyAdvanced",
                "into": "12.positive",
                "values": {"end_percent": 0.5},
                "inputs": {
                    "negative": "11.CONDITIONING",
                    "control_net": "depth_type.CONTROL_NET",
                    "image": "depth.IMAGE",
                },
            },
            {"op": "connect", "from": "apply.negative", "to": "12.negative"},
        ),
        by_hand="""
            add('control', 'ControlNetLoader', '', {
                control_net_name: 'controlnet-union-sdxl-1.0.safetensors',
            })
            add('depth_type', 'SetUnionControlNetType', '', { type: 'depth' })
            add('depth', 'LoadImage', '', { image: 'depth.png' })
            add('apply', 'ControlNetApplyAdvanced', '', { end_percent: 0.5 })
            link('control', 'CONTROL_NET', 'depth_type', 'control_net')
            link('10', 'CONDITIONING', 'apply', 'positive')
            link('11', 'CONDITIONING', 'apply', 'negative')
            link('depth_type', 'CONTROL_NET', 'apply', 'control_net')
            link('depth', 'IMAGE', 'apply', 'image')
            link('apply', 'positive', '12', 'positive')
            link('apply', 'negative', '12', 'negative')
        """,
    ),
    Task(
        name="qwen_image_model_patch",
        kind="controlnet",
        template="image_qwen_image_2512_with_2steps_lora",
        say="Add the canny DiffSynth ControlNet for Qwen, with edges.png as it is, strength 0.9.",
        operations=(
            {
                "op": "add",
                "id": "patch",
                "type": "ModelPatchLoader",
                "values": {"name": "qwen_image_canny_diffsynth_controlnet.safetensors"},
            },
            {"op": "add", "id": "edges", "type": "LoadImage", "values": {"image": "edges.png"}},
            {
                "op": "insert",
                "id": "control",
                "type": "QwenImageDiffsynthControlnet",
                "into": "106.model",
                "values": {"strength": 0.9},
                "inputs": {
                    "model_patch": "patch.MODEL_PATCH",
                    "vae": "103.VAE",
                    "image": "edges.IMAGE",
                },
            },
        ),
        by_hand="""
            add('patch', 'ModelPatchLoader', '', {
                name: 'qwen_image_canny_diffsynth_controlnet.safetensors',
            })
            add('edges', 'LoadImage', '', { image: 'edges.png' })
            add('control', 'QwenImageDiffsynthControlnet', '', { strength: 0.9 })
            link('110', 'MODEL', 'control', 'model')
            link('patch', 'MODEL_PATCH', 'control', 'model_patch')
            link('103', 'VAE', 'control', 'vae')
            link('edges', 'IMAGE', 'control', 'image')
            link('control', 'MODEL', '106', 'model')
        """,
    ),
    Task(
        name="sd35_second_controlnet",
        kind="controlnet",
        template="sd3.5_large_canny_controlnet_example",
        say="Add the blur ControlNet after the canny one, with the same scaled picture, at 0.4.",
        operations=(
            {
                "op": "add",
                "id": "blur",
                "type": "ControlNetLoader",
                "values": {"control_net_name": "sd3.5_large_controlnet_blur.safetensors"},
            },
            {
                "op": "add",
                "id": "apply",
                "type": "ControlNetApplyAdvanced",
                "values": {"strength": 0.4},
                "inputs": {
                    "positive": "51.positive",
                    "negative": "51.negative",
                    "control_net": "blur.CONTROL_NET",
                    "image": "48.IMAGE",
                    "vae": "4.VAE",
                },
            },
            {"op": "connect", "from": "apply.positive", "to": "3.positive"},
            {"op": "connect", "from": "apply.negative", "to": "3.negative"},
        ),
        by_hand="""
            add('blur', 'ControlNetLoader', '', {
                control_net_name: 'sd3.5_large_controlnet_blur.safetensors',
            })
            add('apply', 'ControlNetApplyAdvanced', '', { strength: 0.4 })
            link('51', 'positive', 'apply', 'positive')
            link('51', 'negative', 'apply', 'negative')
            link('blur', 'CONTROL_NET', 'apply', 'control_net')
            link('48', 'IMAGE', 'apply', 'image')
            link('4', 'VAE', 'apply', 'vae')
            link('apply', 'positive', '3', 'positive')
            link('apply', 'negative', '3', 'negative')
        """,
    ),
)
