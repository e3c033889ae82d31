"""Messages for the tests of the chats, short to write."""

from plugin.assistant.messages.parts import (
    Approval,
    DataPart,
    FilePart,
    Message,
    Part,
    StepStart,
    TextPart,
    ToolPart,
)


def user(identity: str, text: str = "Hello", *parts: Part) -> Message:
    return Message(identity, "user", (TextPart(text), *parts))


def answer(identity: str, text: str = "Hi", *parts: Part, cut: str | None = None) -> Message:
    metadata = {"cut": cut} if cut else {}
    return Message(identity, "assistant", (StepStart(), TextPart(text), *parts), metadata)


def asking(identity: str = "t1", name: str = "createUserSkill") -> ToolPart:
    """A server's tool that waits for the user's decision."""
    return ToolPart(
        identity,
        name,
        "approval-requested",
        input={"name": "x"},
        approval=Approval(f"approve-{identity}"),
        provider_executed=True,
    )


def at_panel(identity: str = "t1", name: str = "editWorkflow") -> ToolPart:
    """A panel's tool that waits for its result."""
    return ToolPart(identity, name, "input-available", input={"node": 3})


def with_tools(identity: str, *tools: ToolPart) -> Message:
    return Message(identity, "assistant", (StepStart(), *tools))


def attachment(filename: str | None) -> FilePart:
    return FilePart("image/png", "data:image/png;base64,AAAA", filename)


def skill(name: str) -> DataPart:
    return DataPart("skill", {"slug": "s", "name": name, "instructions": "Do it."})
