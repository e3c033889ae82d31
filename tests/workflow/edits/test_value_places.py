"""Values that are written stay those of their widgets, whatever a front end takes them for."""

import pytest
from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.edits.apply import apply
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.workflow.workflows import definitions, node, workflow


@pytest.mark.parametrize(
    ("type_", "before", "values"),
    [
        # Three values are read as those of an old file that had one for the player, too.
        ("SaveAudioAdvanced", ["a", "mp3", "V0"], {"format.quality": "320k"}),
        # Two values are read as those of an old file that had one for the texts, which are linked.
        ("ShuffleImageTextDataset", [1, "fixed"], {"seed": 3839}),
    ],
)
def test_values_are_not_taken_for_those_of_an_old_file(
    type_: str, before: list[object], values: dict[str, object]
) -> None:
    document = workflow(node(1, type_, widgets_values=before))
    batch = [{"op": "set", "node": "1", "values": values}]
    made = apply(document, batch, definitions())
    read = api_prompt(parse_workflow(made.content), definitions())["1"]["inputs"]
    assert {name: read[name] for name in values} == values
