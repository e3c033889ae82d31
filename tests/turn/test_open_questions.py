"""The questions of turns without a chat."""

from plugin.assistant.messages.parts import Approval, ToolPart
from plugin.assistant.turn.open_questions import MOST_CHARACTERS, MOST_QUESTIONS, OpenQuestions


def test_open_questions_are_limited_and_the_oldest_go_first() -> None:
    questions = OpenQuestions()
    part = ToolPart("e1", "erase", "input-available", input={"node": 3})
    first = questions.ask(part)
    asked = [questions.ask(part) for _ in range(MOST_QUESTIONS)]
    assert len(questions) == MOST_QUESTIONS
    known = [
        questions.answered(
            ToolPart("e1", "erase", "approval-responded", approval=Approval(identity, True))
        )
        for identity in (first, asked[0], asked[-1])
    ]
    assert [one is not None for one in known] == [False, True, True]


def test_the_arguments_of_open_questions_are_limited() -> None:
    questions = OpenQuestions()
    for number in range(5):
        questions.ask(ToolPart(f"e{number}", "erase", "input-available", input="x" * 3_000_000))
    assert len(questions) == MOST_CHARACTERS // 3_000_000
