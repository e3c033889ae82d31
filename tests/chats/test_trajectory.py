"""A chat as text, and back: equal, repaired, and without approvals or keys."""

import asyncio
import json
import tempfile
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.chats import ChatStore, WorkflowName
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.export.markdown import to_markdown
from plugin.assistant.chats.export.trajectory import (
    KIND,
    Format,
    LogRow,
    Trajectory,
    from_text,
    to_text,
    without,
)
from plugin.assistant.chats.log.record import decode, encode
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import InvalidRequest, NotFound
from plugin.assistant.messages.origin import imported, is_event
from plugin.assistant.messages.outside import approval_id, from_file
from plugin.assistant.messages.parts import Approval, Message, TextPart, ToolPart
from plugin.tests.messages.strategies import MESSAGES

from .examples import answer, asking, attachment, user, with_tools

CREATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=timezone.utc)


SPOKEN = MESSAGES.filter(lambda message: message.role != "system" and not is_event(message))
STORED = SPOKEN.map(lambda message: from_file(decode(encode(message))))
"""Messages that an import does not change; `tests/messages/test_outside.py` has other messages."""
LARGE = settings(max_examples=25)
"""For chats of several messages, which are slow to make."""


TIMES = st.integers(0, 3_600_000).map(lambda ms: CREATED + timedelta(milliseconds=ms))


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """A chat with branches, as a store may hold it."""
    rows: list[LogRow] = []
    for number, message in enumerate(draw(st.lists(STORED, max_size=5)), 1):
        parent = draw(st.sampled_from([None, *(one.row for one in rows)]))
        created = draw(st.none() | TIMES)
        rows.append(LogRow(number, parent, from_file(replace(message, id=f"m{number}")), created))
    return Trajectory(
        "c",
        draw(st.sampled_from(["A fox", "狐", 'O\'Fox \\ "x"'])),
        draw(st.sampled_from(["rule", "model", "user"])),
        CREATED,
        draw(st.none() | st.just(WorkflowName("w1", "folder/Portrait"))),
        tuple(rows),
        draw(st.sampled_from([None, *(one.row for one in rows)])),
    )


def linear(*messages: Message, title: str = "A fox") -> Trajectory:
    rows = tuple(LogRow(n, n - 1 or None, message) for n, message in enumerate(messages, 1))
    return Trajectory("c", title, "rule", CREATED, None, rows, len(rows) or None)


def file(*entries: Any, **header: Any) -> str:
    return json.dumps({"type": KIND, "version": 1, "messages": list(entries), **header})


def entry(identity: str, row: Any = None, parent: Any = None, role: str = "user") -> dict[str, Any]:
    message = {"id": identity, "role": role, "parts": [{"type": "text", "text": identity}]}
    return {"row": row, "parent": parent, "message": message}


# There and back


@LARGE
@given(trajectories())
def test_a_chat_comes_back_from_its_text_equal(chat: Trajectory) -> None:
    assert from_text(to_text(chat, "trajectory"), "trajectory") == chat


@LARGE
@given(trajectories())
def test_the_current_path_comes_back_from_json_lines_equal(chat: Trajectory) -> None:
    back = from_text(to_text(chat, "jsonl"), "jsonl")
    assert back.path == chat.path
    assert replace(back, rows=chat.rows, head=chat.head) == chat


def with_imported_messages(chat: Trajectory) -> Trajectory:
    """The chat as an import stores it: the user's messages have the origin `imported`, and each
    message has a time."""
    return replace(
        chat,
        rows=tuple(
            replace(row, message=imported(row.message), created=row.created or NOW)
            for row in chat.rows
        ),
    )


@LARGE
@given(chat=trajectories(), form=st.sampled_from(["trajectory", "jsonl"]))
def test_an_export_that_is_imported_gives_an_equal_chat(chat: Trajectory, form: Format) -> None:
    async def there_and_back(folder: Path) -> None:
        database = SqliteDatabase(folder / "assistant.db")
        store = ChatStore(database)
        archive = Archive(store, new_id=lambda: "copy", clock=lambda: NOW)
        assert (await archive.add(chat)).id == "c"
        expected = with_imported_messages(chat)
        original = await archive.read("c")
        assert original == expected
        copied = await archive.add(from_text(to_text(original, form), form))
        assert copied.id == "copy"
        copy = await archive.read("copy")
        assert copy.path == expected.path == await store.path("copy")
        assert [row.created for row in copy.path_rows] == [
            row.created for row in expected.path_rows
        ]
        if form == "trajectory":
            assert replace(copy, id="c") == expected
        first, second = await store.get("c"), await store.get("copy")
        assert first and second
        assert (second.title, second.created, second.workflow, second.messages, second.state) == (
            first.title,
            first.created,
            first.workflow,
            first.messages,
            first.state,
        )
        await store.append("copy", user("next"))
        assert len(await store.path("copy")) == len(chat.path) + 1
        await database.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(there_and_back(Path(folder)))


async def test_an_imported_chat_that_waits_goes_on_waiting(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "assistant.db")
    archive = Archive(ChatStore(database))
    chat = await archive.add(linear(user("u1"), with_tools("a1", asking())))
    assert chat.state == "paused"
    with pytest.raises(NotFound):
        await archive.read("nobody")
    await database.close()


@pytest.mark.parametrize("identity", [None, "", "../x", "CON", "search", "x" * 200])
async def test_a_chat_whose_id_cannot_be_used_gets_another(
    tmp_path: Path, identity: str | None
) -> None:
    database = SqliteDatabase(tmp_path / "assistant.db")
    archive = Archive(ChatStore(database), new_id=lambda: "other")
    assert (await archive.add(replace(linear(user("u1")), id=identity))).id == "other"
    await database.close()


# Times


@pytest.mark.parametrize("form", ["trajectory", "jsonl"])
def test_each_message_of_an_export_has_its_time(form: Format) -> None:
    later = CREATED + timedelta(minutes=1)
    chat = linear(user("u1"), answer("a1"))
    first, second = chat.rows
    chat = replace(chat, rows=(replace(first, created=CREATED), replace(second, created=later)))
    text = to_text(chat, form)
    bodies = (
        json.loads(text)["messages"]
        if form == "trajectory"
        else [json.loads(line) for line in text.splitlines()[1:]]
    )
    assert [body["created"] for body in bodies] == [
        "2026-01-02T03:04:05.000+00:00",
        "2026-01-02T03:05:05.000+00:00",
    ]
    assert "## You, 2026-01-02 03:04 UTC\n" in to_markdown(chat)


@pytest.mark.parametrize(
    "given",
    [
        None,
        7,
        "",
        "soon",
        "2026-01-02T03:04:05",
        "0001-01-01T00:00:00+14:00",
        "1969-12-31T23:59:59Z",
        "2026-02-03T04:05:07Z",
        "9999-12-31T23:59:59-14:00",
        "2026-01-02T03:04:05.000+00:00" * 1000,
        ["2026-01-02T03:04:05Z"],
    ],
)
async def test_a_time_that_cannot_be_is_that_of_the_import(tmp_path: Path, given: Any) -> None:
    database = SqliteDatabase(tmp_path / "assistant.db")
    archive = Archive(ChatStore(database), clock=lambda: NOW)
    content = file({**entry("u1", 1), "created": given}, created=given)
    chat = await archive.add(from_text(content, "trajectory"))
    assert [row.created for row in (await archive.read(chat.id)).rows] == [NOW]
    assert chat.created == NOW
    await database.close()


async def test_a_time_in_another_zone_is_the_same_moment(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "assistant.db")
    archive = Archive(ChatStore(database), clock=lambda: NOW)
    content = file({**entry("u1", 1), "created": "2026-01-02T05:04:05.000+02:00"})
    chat = await archive.add(from_text(content, "trajectory"))
    assert [row.created for row in (await archive.read(chat.id)).rows] == [CREATED]
    await database.close()


# Repairs


def test_a_row_without_a_known_parent_follows_the_one_before() -> None:
    content = file(entry("a", 1), entry("b", 2, 99), entry("c", 3, 3), entry("d", 4, "x"), head=9)
    chat = from_text(content, "trajectory")
    assert [one.parent for one in chat.rows] == [None, 1, 2, 3]
    assert [message.id for message in chat.path] == ["a", "b", "c", "d"]


def test_what_follows_a_system_message_follows_what_was_before_it() -> None:
    content = file(entry("a", 1), entry("s", 2, 1, "system"), entry("b", 3, 2), head=2)
    chat = from_text(content, "trajectory")
    assert [(one.row, one.parent, one.message.id) for one in chat.rows] == [
        (1, None, "a"),
        (2, 1, "b"),
    ]
    assert [message.id for message in chat.path] == ["a"]


def test_an_id_is_unique_on_its_path_and_may_stand_on_another() -> None:
    content = file(entry("a", 1), entry("b", 2, 1), entry("b", 3, 1), entry("a", 4, 3))
    ids = [one.message.id for one in from_text(content, "trajectory").rows]
    assert ids == ["a", "b", "b", "a-4"]


def test_a_chat_without_a_title_gets_one_by_rule() -> None:
    chat = from_text(file(entry("Where is the fox?", 1), title=7, created="soon"), "trajectory")
    assert (chat.title, chat.title_source, chat.created) == ("Where is the fox?", "rule", None)


def test_json_lines_of_messages_alone_are_a_chat() -> None:
    lines = [json.dumps(entry(identity)["message"]) for identity in ("a", "b")]
    chat = from_text("\ufeff" + "\r\n\n".join(lines), "jsonl")
    assert [message.id for message in chat.path] == ["a", "b"]
    assert (chat.id, chat.title) == (None, "a")


def test_an_approval_that_was_not_used_is_asked_for_again() -> None:
    approved = ToolPart("t1", "erase", "approval-responded", approval=Approval("x", True, "go"))
    declined = replace(approved, tool_call_id="t2", approval=Approval("y", False))
    used = replace(approved, tool_call_id="t3", state="output-available", output=1)
    chat = linear(user("u1"), with_tools("a1", approved, declined, used))
    found = from_text(to_text(chat, "trajectory"), "trajectory").path[1].tool_parts
    question = Approval(approval_id("a1", approved))
    asked = replace(approved, state="approval-requested", approval=question)
    assert found == (asked, replace(declined, state="output-denied"), used)


def test_an_event_of_a_file_is_left_out() -> None:
    hidden = {"origin": "event", "hidden": True}
    event = {**entry("e", 2, 1), "message": {**entry("e")["message"], "metadata": hidden}}
    chat = from_text(file(entry("a", 1), event, entry("b", 3, 2), head=3), "trajectory")
    assert [(one.row, one.parent, one.message.id) for one in chat.rows] == [
        (1, None, "a"),
        (2, 1, "b"),
    ]


WRONG = ["", "{", "[]", "null", "7", '{"a": NaN}', "[" * 100_000, "9" * 10_000, "\ud800"]


@pytest.mark.parametrize(
    "content",
    [
        *WRONG,
        "{}",
        json.dumps({"type": KIND, "version": 2, "messages": []}),
        json.dumps({"type": KIND, "version": 1}),
        json.dumps({"type": KIND, "version": 1, "messages": {}}),
        file("x"),
        file({}),
        file({"message": {"role": "user"}}),
        file({"message": {"role": "other", "parts": []}}),
        file({"message": {"id": "a\n", "role": "user", "parts": []}}),
    ],
)
def test_what_is_no_trajectory_is_refused(content: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        from_text(content, "trajectory")
    assert refused.value.where.startswith("content")


@pytest.mark.parametrize("line", [*WRONG[1:], '{"role": "user"}'])
def test_a_line_that_is_no_message_is_refused_with_its_number(line: str) -> None:
    good = json.dumps(entry("a")["message"])
    with pytest.raises(InvalidRequest) as refused:
        from_text(f"{good}\n{line}", "jsonl")
    assert refused.value.where.startswith("line 2")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.just(KIND) | st.just(1),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "version",
                        "messages",
                        "row",
                        "parent",
                        "message",
                        "id",
                        "role",
                        "parts",
                        "head",
                        "title",
                        "created",
                        "workflow",
                        "name",
                        "text",
                    ]
                ),
                inner,
                max_size=6,
            )
        ),
        max_leaves=30,
    )
)
def test_any_json_is_read_or_refused(value: Any) -> None:
    header = {"type": KIND, "version": 1}
    body = {**value, **header} if isinstance(value, dict) else {**header, "messages": value}
    for form in ("trajectory", "jsonl"):
        try:
            chat = from_text(json.dumps(body), form)
        except InvalidRequest:
            continue
        assert from_text(to_text(chat, "trajectory"), "trajectory") == chat


def test_a_long_chain_of_one_id_is_repaired_in_linear_time() -> None:
    content = file(*(entry("same", n, n - 1 or None) for n in range(1, 20_001)))
    chat = from_text(content, "trajectory")
    assert len({message.id for message in chat.path}) == 20_000


# Keys, and the export to Markdown


def test_a_key_is_in_no_part_of_an_export() -> None:
    key = "sk-planted-0123456789"
    told = user("u1", f"My key is {key}!")
    called = with_tools("a1", ToolPart("t1", "x", "output-available", {"k": [key]}, {key: key}))
    chat = linear(told, replace(called, metadata={"note": key}), title=f"About {key}")
    chat = replace(chat, workflow=WorkflowName("w1", f"With {key}"))
    clean = without(chat, frozenset([key]))
    for shown in (to_text(clean, "trajectory"), to_text(clean, "jsonl"), to_markdown(clean)):
        assert key not in shown
    assert "My key is [key]!" in to_markdown(clean)


def test_a_chat_without_keys_is_exported_as_it_is() -> None:
    chat = linear(user("u1"), answer("a1"))
    assert without(chat, frozenset(["sk-planted-0123456789"])) == chat


def test_markdown_shows_what_was_said_and_what_tools_did() -> None:
    tool = ToolPart("t1", "readGraph", "output-available", {"node": 3}, "```\nKSampler\n```")
    chat = linear(
        user("u1", "Explain *this*", attachment("fox.png")),
        with_tools("a1", tool),
        answer("a2", "It \ud83d samples."),
    )
    assert to_markdown(chat) == (
        "# A fox\n\n## You\n\nExplain *this*\n\n*Attachment: fox.png (image/png)*\n\n"
        "## Assistant\n\n*Tool: readGraph (output-available)*\n\n"
        '```json\n{\n "node": 3\n}\n```\n\n````\n```\nKSampler\n```\n````\n\n'
        "## Assistant\n\nIt \ufffd samples.\n"
    )


@LARGE
@given(st.lists(STORED, max_size=4))
def test_any_chat_has_markdown_that_utf_8_holds(messages: list[Message]) -> None:
    to_markdown(linear(*messages, Message("end", "user", (TextPart("x"),)))).encode("utf-8")
