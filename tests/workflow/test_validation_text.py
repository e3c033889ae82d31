"""What the model reads of a workflow's problems."""

from plugin.assistant.workflow.validation_problems import Fix, Problem
from plugin.assistant.workflow.validation_text import NONE_FOUND, problems_text

STEPS = Problem("57:3", "steps", "wrong_type", "It is no number.", Fix("The default is 20."), True)


def test_problems_are_told_by_what_they_stop() -> None:
    spare = Problem("9", "", "dangling_link", "It leads nowhere.")
    assert problems_text([STEPS, spare]).splitlines() == [
        "2 problems, 1 of which stops the run.",
        "stops the run:",
        "#57:3 steps: wrong_type. It is no number. The default is 20.",
        "does not stop it:",
        "#9: dangling_link. It leads nowhere.",
    ]


def test_a_right_workflow_is_said_to_be_right() -> None:
    assert problems_text([]) == NONE_FOUND


def test_the_same_problem_of_several_nodes_is_one_line() -> None:
    many = [Problem(str(n), "", "unknown_node", "Not installed.", None, True) for n in range(12)]
    text = problems_text(many)
    assert "#0, #1, #2, #3, #4, #5, #6, #7, 4 more: unknown_node. Not installed." in text
    assert text.startswith("12 problems, 12 of which stop the run.")


def test_what_is_left_out_is_counted() -> None:
    many = [Problem(str(n), "a", "out_of_range", f"It is {n}.") for n in range(50)]
    lines = problems_text(many, limit=10).splitlines()
    assert len(lines) == 13
    assert lines[-1] == "40 more. Ask for single nodes to see them."


def test_names_of_the_workflow_cannot_look_like_lines() -> None:
    bad = Problem("3\n#4", 'steps: "', "unknown_widget", "It is not there.")
    assert '#"3\\n#4" "steps: \\"": unknown_widget. It is not there.' in problems_text([bad])
