"""What a batch would make: the difference in words, the new problems only, the revision."""

from plugin.assistant.workflow.edits.forecast import forecast
from plugin.assistant.workflow.facts import revision
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.workflow.edits.drawn import DECODE, MODEL, SAMPLER, text_to_image, wrapped
from plugin.tests.workflow.workflows import definitions


def test_the_difference_and_the_revision() -> None:
    before = text_to_image()
    operations = {"op": "set", "node": SAMPLER, "values": {"steps": 30}}
    made = forecast(before, operations, definitions())
    assert made.diff.splitlines() == [
        f"from {made.before} to {made.revision}:",
        f"~ {SAMPLER} KSampler: steps=20 -> 30",
    ]
    assert made.before == revision(parse_workflow(before))
    assert made.revision == revision(parse_workflow(made.content))


def test_only_problems_that_were_not_there_before() -> None:
    # The checkpoint of the catalog is not installed anywhere: that is nothing new.
    steps = forecast(
        text_to_image(), {"op": "set", "node": SAMPLER, "values": {"steps": 30}}, definitions()
    )
    assert steps.problems == ()
    removed = forecast(text_to_image(), {"op": "remove", "node": MODEL}, definitions())
    assert {one.code for one in removed.problems} == {"missing_input"}
    assert DECODE in {one.node for one in removed.problems}


def test_the_answer_of_the_tool() -> None:
    made = forecast(
        text_to_image(),
        {"op": "insert", "id": "l", "type": "LoraLoaderModelOnly", "into": f"{SAMPLER}.model"},
        definitions(),
    )
    answer = made.json()
    assert answer.keys() == {"ids", "diff", "problems", "revision"}
    assert answer["ids"] == {"l": "8"}


def test_the_answer_says_how_many_instances_changed() -> None:
    operations = [
        {"op": "add", "id": "twin", "type": "Inner"},
        {"op": "mode", "node": f"8:{SAMPLER}", "mode": "mute"},
    ]
    made = forecast(wrapped(MODEL, SAMPLER), operations, definitions())
    assert made.json()["instances"] == 2
