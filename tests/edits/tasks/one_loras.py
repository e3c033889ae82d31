"""LoRAs are added."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="flux_schnell_full_lora",
        kind="add lora",
        template="flux_schnell_full_text_to_image",
        say="Add the LoRA flux_realism.safetensors at 0.8.",
        operations=(
            {
                "op": "insert",
                "id": "lora",
                "type": "LoraLoaderModelOnly",
                "into": "31.model",
                "values": {"lora_name": "flux_realism.safetensors", "strength_model": 0.8},
            },
        ),
        by_hand="""
            add('lora', 'LoraLoaderModelOnly', '', {
                lora_name: 'flux_realism.safetensors', strength_model: 0.8,
            })
            link('38', 'MODEL', 'lora', 'model')
            link('lora', 'MODEL', '31', 'model')
        """,
    ),
    Task(
        name="sdxl_lora_for_model_and_clip",
        kind="add lora",
        template="image_sdxl_simple",
        say="Add the LoRA pixel-art-xl.safetensors, for the text encoder, too.",
        operations=(
            {
                "op": "add",
                "id": "lora",
                "type": "LoraLoader",
                "values": {"lora_name": "pixel-art-xl.safetensors"},
                "inputs": {"model": "15.MODEL", "clip": "15.CLIP"},
            },
            {"op": "connect", "from": "lora.MODEL", "to": "12.model"},
            {"op": "connect", "from": "lora.CLIP", "to": "10.clip"},
            {"op": "connect", "from": "lora.CLIP", "to": "11.clip"},
        ),
        by_hand="""
            add('lora', 'LoraLoader', '', { lora_name: 'pixel-art-xl.safetensors' })
            link('15', 'MODEL', 'lora', 'model')
            link('15', 'CLIP', 'lora', 'clip')
            link('lora', 'MODEL', '12', 'model')
            link('lora', 'CLIP', '10', 'clip')
            link('lora', 'CLIP', '11', 'clip')
        """,
    ),
    Task(
        name="sd35_two_loras",
        kind="add lora",
        template="sd3.5_simple_example",
        say="First the LoRA film.safetensors at 0.5, and after it grain.safetensors at full.",
        operations=(
            {
                "op": "insert",
                "id": "film",
                "type": "LoraLoaderModelOnly",
                "into": "3.model",
                "values": {"lora_name": "film.safetensors", "strength_model": 0.5},
            },
            {
                "op": "insert",
                "id": "grain",
                "type": "LoraLoaderModelOnly",
                "into": "3.model",
                "values": {"lora_name": "grain.safetensors", "strength_model": 1},
            },
        ),
        by_hand="""
            add('film', 'LoraLoaderModelOnly', '', {
                lora_name: 'film.safetensors', strength_model: 0.5,
            })
            add('grain', 'LoraLoaderModelOnly', '', {
                lora_name: 'grain.safetensors', strength_model: 1,
            })
            link('4', 'MODEL', 'film', 'model')
            link('film', 'MODEL', 'grain', 'model')
            link('grain', 'MODEL', '3', 'model')
        """,
    ),
    Task(
        name="humo_lora_after_the_first",
        kind="add lora",
        template="video_humo",
        say="Put motion_boost.safetensors at 0.65 after the LoRA that is there.",
        operations=(
            {
                "op": "insert",
                "id": "motion",
                "type": "LoraLoaderModelOnly",
                "into": "48.model",
                "values": {"lora_name": "motion_boost.safetensors", "strength_model": 0.65},
            },
        ),
        by_hand="""
            add('motion', 'LoraLoaderModelOnly', '', {
                lora_name: 'motion_boost.safetensors', strength_model: 0.65,
            })
            link('61', 'MODEL', 'motion', 'model')
            link('motion', 'MODEL', '48', 'model')
        """,
    ),
    Task(
        name="flux_dev_lora_in_the_subgraph",
        kind="add lora",
        template="flux_dev_full_text_to_image",
        say="Add the LoRA flux_watercolor.safetensors at 0.9.",
        operations=(
            {
                "op": "insert",
                "id": "lora",
                "type": "LoraLoaderModelOnly",
                "into": "194:50.model",
                "values": {"lora_name": "flux_watercolor.safetensors", "strength_model": 0.9},
            },
        ),
        by_hand="""
            add('lora', 'LoraLoaderModelOnly', '194', {
                lora_name: 'flux_watercolor.safetensors', strength_model: 0.9,
            })
            link('194:46', 'MODEL', 'lora', 'model')
            link('lora', 'MODEL', '194:50', 'model')
        """,
    ),
    Task(
        name="chroma_lora_for_guider_and_schedule",
        kind="add lora",
        template="image_chroma_text_to_image",
        say="Add chroma_details.safetensors at 0.75 before the flow shift.",
        operations=(
            {
                "op": "insert",
                "id": "details",
                "type": "LoraLoaderModelOnly",
                "into": "701.model",
                "values": {"lora_name": "chroma_details.safetensors", "strength_model": 0.75},
            },
        ),
        by_hand="""
            add('details', 'LoraLoaderModelOnly', '', {
                lora_name: 'chroma_details.safetensors', strength_model: 0.75,
            })
            link('731', 'MODEL', 'details', 'model')
            link('details', 'MODEL', '701', 'model')
        """,
    ),
    Task(
        name="svd_lora_for_the_picture",
        kind="add lora",
        template="txt_to_image_to_video",
        say="Use the LoRA landscape.safetensors for the picture (0.7, text encoder 0.4).",
        operations=(
            {
                "op": "insert",
                "id": "lora",
                "type": "LoraLoader",
                "into": "17.model",
                "values": {
                    "lora_name": "landscape.safetensors",
                    "strength_model": 0.7,
                    "strength_clip": 0.4,
                },
                "inputs": {"clip": "16.CLIP"},
            },
            {"op": "connect", "from": "lora.CLIP", "to": "18.clip"},
            {"op": "connect", "from": "lora.CLIP", "to": "19.clip"},
        ),
        by_hand="""
            add('lora', 'LoraLoader', '', {
                lora_name: 'landscape.safetensors', strength_model: 0.7, strength_clip: 0.4,
            })
            link('16', 'MODEL', 'lora', 'model')
            link('16', 'CLIP', 'lora', 'clip')
            link('lora', 'MODEL', '17', 'model')
            link('lora', 'CLIP', '18', 'clip')
            link('lora', 'CLIP', '19', 'clip')
        """,
    ),
    Task(
        name="ace_step_lora",
        kind="add lora",
        template="audio_ace_step_1_5_checkpoint",
        say="Add the LoRA ace_step_rap.safetensors.",
        operations=(
            {
                "op": "insert",
                "id": "lora",
                "type": "LoraLoaderModelOnly",
                "into": "78.model",
                "values": {"lora_name": "ace_step_rap.safetensors"},
            },
        ),
        by_hand="""
            add('lora', 'LoraLoaderModelOnly', '', { lora_name: 'ace_step_rap.safetensors' })
            link('97', 'MODEL', 'lora', 'model')
            link('lora', 'MODEL', '78', 'model')
        """,
    ),
)
