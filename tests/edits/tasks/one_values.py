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
)
