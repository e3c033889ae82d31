"""Answers as chunks, one scenario for each feature of the UI message stream v1
(`docs/contracts`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plugin.assistant.messages import chunks
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.parts import Approval, Message, ToolPart

NAME = "getUserSkill"
TITLE = "Read the skill"
UNICODE = 'Grüße, 图像 \U0001f600 e\u0301 \u2028 </script> \\ " \x00'


@dataclass(frozen=True)
class Scenario:
    """`errors` are the error texts that a client reports, in order."""

    name: str
    chunks: Sequence[Chunk]
    base: Message | None = None
    errors: tuple[str, ...] = ()

    @property
    def expected(self) -> Message:
        """The message that our own fold makes of the chunks."""
        return fold(self.base or Message("m1", "assistant", ()), self.chunks)


def text(part_id: str, *deltas: str) -> list[Chunk]:
    grown = [chunks.text_delta(part_id, delta) for delta in deltas]
    return [chunks.text_start(part_id), *grown, chunks.text_end(part_id)]


def reasoning(part_id: str, *deltas: str, kept: dict[str, Any] | None = None) -> list[Chunk]:
    grown = [chunks.reasoning_delta(part_id, delta) for delta in deltas]
    return [chunks.reasoning_start(part_id), *grown, chunks.reasoning_end(part_id, kept)]


def call(call_id: str, value: Any, *deltas: str, on_server: bool = True) -> list[Chunk]:
    return [
        chunks.tool_input_start(call_id, NAME, TITLE, on_server=on_server),
        *(chunks.tool_input_delta(call_id, delta) for delta in deltas),
        chunks.tool_input_available(call_id, NAME, TITLE, value, on_server=on_server),
    ]


def step(*blocks: Sequence[Chunk] | Chunk) -> list[Chunk]:
    flat = [c for block in blocks for c in ([block] if isinstance(block, dict) else block)]
    return [chunks.start_step(), *flat, chunks.finish_step()]


def whole(*blocks: Sequence[Chunk], reason: str = "stop") -> list[Chunk]:
    body = [chunk for block in blocks for chunk in block]
    finish = chunks.finish(reason, {"finish_reason": reason, "usage": {"output_tokens": 3}})
    return [chunks.start("m1", {"model": "x", "usage": {"input_tokens": 7}}), *body, finish]


def done(call_id: str, output: Any = "ok") -> Chunk:
    return chunks.tool_output_available(call_id, output, on_server=True)


def failed(call_id: str, words: str = "No such skill.") -> Chunk:
    return chunks.tool_output_error(call_id, words, on_server=True)


def ask(call_id: str) -> Chunk:
    return chunks.tool_approval_request(call_id, f"approve-{call_id}")


def suspended(state: str, approved: bool | None) -> Message:
    """An answer that waited for a decision, as it is stored when the decision has been made."""
    asked = fold(
        Message("m1", "assistant", ()), whole(step(text("t", "May I?"), call("c", {"a": 1})))
    )
    parts = [
        ToolPart(
            "c",
            NAME,
            state,  # type: ignore[arg-type]
            input={"a": 1},
            title=TITLE,
            provider_executed=True,
            approval=Approval("approve-c", approved),
        )
        if isinstance(part, ToolPart)
        else part
        for part in asked.parts
    ]
    return Message("m1", "assistant", tuple(parts), asked.metadata)


SOURCE_URL = {"type": "source-url", "sourceId": "s1", "url": "https://example.org/a", "title": "A"}
SOURCE_DOCUMENT = {
    "type": "source-document",
    "sourceId": "s2",
    "mediaType": "text/plain",
    "title": "B",
    "filename": "b.txt",
}
FILE = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"}
ERROR = "The model's server closed the connection. What it wrote until then is kept."

SCENARIOS = (
    Scenario("text", whole(step(text("t", "Hello", ", ", "world")))),
    Scenario("text in any script", whole(step(text("t", UNICODE, UNICODE[::-1])))),
    Scenario("a surrogate pair in two deltas", whole(step(text("t", "\ud83d", "\ude00")))),
    Scenario("half a surrogate pair", whole(step(text("t", "a\ud83d", "b")))),
    Scenario("an empty text and an empty delta", whole(step(text("t"), text("u", "", "x")))),
    Scenario(
        "two texts at a time",
        whole(
            step(
                chunks.text_start("t"),
                chunks.text_start("u"),
                chunks.text_delta("t", "1"),
                chunks.text_delta("u", "2"),
                chunks.text_end("t"),
                chunks.text_end("u"),
            )
        ),
    ),
    Scenario("one part id in two steps", whole(step(text("t", "one")), step(text("t", "two")))),
    Scenario("reasoning", whole(step(reasoning("r", "Let me", " think"), text("t", "Yes.")))),
    Scenario(
        "reasoning to send back",
        whole(
            step(
                reasoning("r", "x", kept={"field": "reasoning", "details": [{"signature": "s"}]}),
            )
        ),
    ),
    Scenario(
        "a call with streamed arguments",
        whole(
            step(call("c", {"slug": "a"}, '{"sl', 'ug": "', 'a"}'), done("c", {"name": "A"})),
            step(text("t", "Done.")),
        ),
    ),
    Scenario("a call without arguments", whole(step(call("c", {}), done("c", [])))),
    Scenario(
        "parallel calls, settled in another order",
        whole(
            step(
                call("a", {"n": 1}),
                call("b", {"n": 2}),
                call("c", {}),
                done("c"),
                done("a"),
                failed("b"),
            ),
        ),
    ),
    Scenario(
        "an output that is null, false, empty or text",
        whole(
            step(
                call("a", {}),
                call("b", {}),
                call("c", {}),
                call("d", {}),
                done("a", None),
                done("b", False),
                done("c", ""),
                done("d", UNICODE),
            )
        ),
    ),
    Scenario(
        "NaN in arguments and output",
        whole(
            step(
                call("a", {"n": float("nan")}),
                done("a", {"n": [float("inf"), 1.5]}),
            )
        ),
    ),
    Scenario(
        "an unknown tool or wrong arguments",
        whole(
            step(
                chunks.tool_input_start("c", "nope", "nope", on_server=True),
                chunks.tool_input_delta("c", "{oops"),
                chunks.tool_input_error("c", "nope", "nope", "{oops", "No valid JSON."),
            )
        ),
    ),
    Scenario(
        "a refused call that was not announced",
        whole(
            step(
                chunks.tool_input_error("c", "nope", "nope", {"a": 1}, "There is no such tool."),
            )
        ),
    ),
    Scenario("a failing tool", whole(step(call("c", {}), failed("c", UNICODE)))),
    Scenario(
        "an id used again in a later step",
        whole(
            step(call("c", {"n": 1}), done("c", 1)),
            step(call("c", {"n": 2}), done("c", 2)),
        ),
    ),
    Scenario(
        "a panel's tool waits",
        whole(
            step(call("c", {"n": 1}, '{"n":1}', on_server=False)),
            reason="tool-calls",
        ),
    ),
    Scenario(
        "an approval is asked for",
        whole(
            step(text("t", "May I?"), call("c", {"a": 1}), ask("c")),
            reason="tool-calls",
        ),
    ),
    Scenario(
        "a tool that was allowed",
        [
            chunks.start("m1", {}),
            done("c", {"slug": "a"}),
            *step(text("t", "Saved.")),
            chunks.finish("stop", {}),
        ],
        base=suspended("approval-responded", True),
    ),
    Scenario(
        "a tool that was denied",
        [
            chunks.start("m1", {}),
            chunks.tool_output_denied("c"),
            *step(text("t", "As you like.")),
            chunks.finish("stop", {}),
        ],
        base=suspended("approval-responded", False),
    ),
    Scenario(
        "a continued answer calls the same id again",
        [
            chunks.start("m1", {"steps": 2}),
            done("c"),
            *step(call("c", {"a": 2}), done("c")),
            chunks.finish("stop", {}),
        ],
        base=suspended("approval-responded", True),
    ),
    Scenario(
        "asking and denying in one stream",
        whole(
            step(call("c", {}), ask("c"), chunks.tool_output_denied("c")),
        ),
    ),
    Scenario(
        "another message than the one before",
        [
            chunks.start("m2", {"model": "y"}),
            *step(text("t", "New.")),
            chunks.finish("stop", {}),
        ],
        base=suspended("output-available", True),
    ),
    Scenario(
        "data parts, kept, replaced and transient",
        whole(
            step(
                chunks.notice("step_limit", "Stopped after 25 steps."),
                chunks.data("progress", {"n": 1}, part_id="p"),
                chunks.data("context", {"request": 1}, transient=True),
                text("t", "x"),
                chunks.data("progress", {"n": 2}, part_id="p"),
                chunks.data("other", None, part_id="p"),
            )
        ),
    ),
    Scenario("sources and a file", whole(step(SOURCE_URL, SOURCE_DOCUMENT, FILE))),
    Scenario(
        "metadata in the midst",
        whole(
            [chunks.message_metadata({"usage": {"cached_tokens": 2}, "list": [1, 2]})],
            step(text("t", "x")),
            [chunks.message_metadata({"list": [3], "usage": {"input_tokens": 9}, "cut": None})],
        ),
    ),
    Scenario(
        "an error after partial text",
        [
            chunks.start("m1", {}),
            chunks.start_step(),
            *text("t", "So far"),
            chunks.finish_step(),
            chunks.message_metadata({"error": {"code": "cut", "actions": ["continue"]}}),
            chunks.error(ERROR),
        ],
        errors=(ERROR,),
    ),
    Scenario(
        "an error before anything", [chunks.start("m1", {}), chunks.error(ERROR)], errors=(ERROR,)
    ),
    Scenario(
        "a stopped answer",
        [
            chunks.start("m1", {"model": "x"}),
            chunks.start_step(),
            *reasoning("r", "Hm"),
            *text("t", "So"),
            chunks.tool_input_start("c", NAME, TITLE, on_server=True),
            chunks.tool_input_delta("c", '{"slug": "a'),
            chunks.tool_input_error("c", NAME, TITLE, '{"slug": "a', "Cut off."),
            chunks.finish_step(),
            chunks.message_metadata({"cut": "aborted"}),
            chunks.abort("Stopped."),
        ],
    ),
    Scenario(
        "cut within the arguments of a call",
        [
            chunks.start("m1", {}),
            chunks.start_step(),
            chunks.tool_input_start("c", NAME, TITLE, on_server=True),
            chunks.tool_input_delta("c", '{"slug": "a'),
        ],
    ),
    *(
        Scenario(f"finished because of {reason}", whole(step(text("t", "x")), reason=reason))
        for reason in ("stop", "length", "content-filter", "tool-calls", "error", "other")
    ),
)
