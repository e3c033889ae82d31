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
)
