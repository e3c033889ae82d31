"""The OpenAPI document is complete and valid, and describes the handlers as they are."""

import asyncio
import inspect
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import pytest
from jsonschema import Draft202012Validator
from plugin.assistant import __version__
from plugin.assistant.chats import ChatState
from plugin.assistant.messages import chunks
from plugin.assistant.routes.openapi import document
from plugin.assistant.routes.table import ROUTES
from plugin.tests.chats.examples import answer, user
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, ScriptedProvider, text, tool_call
from plugin.tests.routes.described import Checked, Described, Reader, references
from plugin.tests.routes.site import QUIET, site
from plugin.tests.sessions.command_types import COMMAND_TYPES
from plugin.tests.sessions.folding import EVENT_TYPES
from plugin.tests.turn.tools import Bench

DOCUMENT = document(ROUTES)
API = Described(DOCUMENT)
SCHEMAS = DOCUMENT["components"]["schemas"]
SKILL = {"name": "Soft light", "description": "For portraits", "instructions": "Use it."}


def types_of(name: str) -> set[str]:
    """The values of `type` among the alternatives of a schema."""
    found: set[str] = set()
    for alternative in SCHEMAS[name]["oneOf"]:
        kind = API.resolve(alternative)["properties"]["type"]
        found |= {kind["const"]} if "const" in kind else set(kind.get("enum", ()))
    return found


# The document


async def test_every_route_is_described_and_no_other(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        served = {(route.method, "/api" + route.path) for route in ours.assistant.routes()}
        answered = await ours.client.get("/api/assistant/openapi.json")
        assert await answered.json() == DOCUMENT
    assert {(method, path) for method, path, _ in API.operations()} == served


def test_it_is_openapi_of_this_version() -> None:
    whole = DOCUMENT
    assert (whole["openapi"], whole["info"]["version"]) == ("3.1.0", __version__)
    assert set(whole) == {"openapi", "info", "servers", "tags", "security", "paths", "components"}


def test_every_reference_leads_somewhere_and_nothing_is_left_over() -> None:
    used = set(references(DOCUMENT))
    assert all(API.resolve({"$ref": reference}) is not None for reference in used)
    kinds = {kind: named for kind, named in DOCUMENT["components"].items() if kind != "security"}
    made = {f"#/components/{kind}/{name}" for kind, named in kinds.items() for name in named}
    assert {one for one in made - used if "/securitySchemes/" not in one} == set()


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


def test_an_operation_says_what_it_takes_and_answers() -> None:
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    names = [operation["operationId"] for _, _, operation in API.operations()]
    assert len(set(names)) == len(names)
    for method, path, operation in API.operations():
        where = f"{method} {path}"
        assert set(operation["tags"]) <= tags, where
        assert "default" in operation["responses"], where
        assert any(status.startswith("2") for status in operation["responses"]), where
        given = [*operation.get("parameters", ()), *DOCUMENT["paths"][path].get("parameters", ())]
        inside = {one["name"] for one in map(API.resolve, given) if one["in"] == "path"}
        assert {f"{{{name}}}" for name in inside} == {
            piece for piece in path.split("/") if piece.startswith("{")
        }, where


def test_a_refused_token_a_least_window_and_a_time_are_described() -> None:
    _, session = API.operation("POST", "/api/assistant/session")
    assert "401" in session["responses"]
    window = SCHEMAS["ProviderFields"]["properties"]["context_window"]
    assert {"type": "integer", "minimum": 1} in window["anyOf"]
    assert SCHEMAS["Rule"]["properties"]["created"] == {"type": "string", "format": "date-time"}


FIELDS: dict[str, set[str]] = {
    "user_message": {"message", "priority"},
    "retry_from_index": {"index", "message_id", "message"},
    "regenerate": {"message_id"},
    "update_message": {"message_id", "message"},
    "remove_message": {"message_id"},
    "truncate_messages": {"index", "message_id"},
    "switch_version": {"message_id"},
    "branch_from_chat": {"message_id"},
    "restore_from_trajectory": {"trajectory"},
    "set_params": {"params"},
    "set_draft": {"text"},
    "clear_draft": set(),
    "abort": set(),
    "compact": {"focus"},
    "approve_tools": {"ids", "approval_ids", "remember"},
    "reject_tools": {"ids", "approval_ids", "reason"},
    "tool_result": {"tool_call_id", "output", "error"},
    "cancel_queued": {"id"},
    "resume_queue": set(),
    "set_workflow": set(),
    "undo_edits": {"message_id"},
    "redo_edits": {"message_id"},
    "restore_workflow": {"message_id"},
    "take_over": set(),
}


def test_it_names_every_command_event_chunk_and_state() -> None:
    assert types_of("Command") == set(COMMAND_TYPES) == set(FIELDS)
    assert types_of("Event") == EVENT_TYPES | {"closed"}
    assert set(SCHEMAS["ChatState"]["enum"]) == set(get_args(ChatState))
    spoken = inspect.getsource(chunks)
    assert all(f'"{kind}"' in spoken for kind in types_of("Chunk"))


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_a_command_takes_the_fields_that_it_is_described_with(kind: str) -> None:
    (described,) = (
        found
        for found in map(API.resolve, SCHEMAS["Command"]["oneOf"])
        if kind in (found["properties"]["type"].get("const"), *_enum(found))
    )
    fields = set(described["properties"]) - {"type", "client_id", "workflow"}
    assert fields == FIELDS[kind]


def _enum(schema: dict[str, Any]) -> list[str]:
    values: list[str] = schema["properties"]["type"].get("enum", [])
    return values


# The responses of a running server


async def test_every_success_is_as_it_is_described(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat, API.checking(chat.client) as checked:
        Bench().install(chat)
        await the_installation(checked, chat.provider)
        await the_knowledge(checked)
        await the_memories(checked)
        feed = Reader(checked, "/api/chats/subscribe", "FeedEvent")
        await feed.begun()
        await checked.call("POST", "/api/chats", {"id": "c", "workflow": {"id": "w", "name": "W"}})
        reader = Reader(checked, "/api/chats/subscribe?chat_id=c&client_id=p1", "Event")
        await reader.begun()
        await the_turns(checked, chat)
        await the_commands(checked, chat, reader)
        await the_library(checked)
        await reader.event(lambda one: one.get("chat", {}).get("title") == "Foxes")
        await reader.close()
        await feed.event(lambda one: one["type"] == "chat_deleted")
        await feed.close()
        await the_data(checked)
        assert feed.types() == {"snapshot", "chat_created", "chat_changed", "chat_deleted"}
        assert reader.types() >= EVENT_TYPES - {"context_compacted"}
    async with site(tmp_path / "far", QUIET.__class__(token="secret", discover=False)) as far:
        checked.client = far.client
        await checked.call("POST", "/api/assistant/session", {"token": "secret"})
        await checked.call("POST", "/api/assistant/session", {"token": "wrong"})
    assert checked.missed() == []


async def the_installation(checked: Checked, provider: ScriptedProvider) -> None:
    await checked.call("GET", "/api/assistant/openapi.json")
    await checked.call("GET", "/api/assistant/health")
    await checked.call("GET", "/api/assistant/commands")
    await checked.call("POST", "/api/assistant/workflow-summary", {"graph": {"nodes": []}})
    fields = {"base_url": provider.base_url, "model": "scripted", "context_window": 32768}
    await checked.call("PUT", "/api/assistant/providers/Work", {**fields, "api_key": "k"})
    await checked.call("POST", "/api/assistant/providers/Work/activate")
    await checked.call("GET", "/api/assistant/settings")
    await checked.call("GET", "/api/assistant/models")
    await checked.call("POST", "/api/assistant/models", {"base_url": provider.base_url})
    trial = (text("ready"), Script([tool_call("reportReady", {"ready": True})]))
    provider.queue(*trial, *trial)
    await checked.call("POST", "/api/assistant/settings/test", {"name": "Work"})
    await checked.call("POST", "/api/assistant/settings/test", {**fields, "api_key": None})
    await checked.call("DELETE", "/api/assistant/providers/Work")
    # The turns that follow go to the environment's provider, which must be chosen for that.
    known = await checked.call("GET", "/api/assistant/settings")
    name = quote(known["providers"][0]["name"], safe="")
    await checked.call("POST", f"/api/assistant/providers/{name}/activate")


async def the_knowledge(checked: Checked) -> None:
    shipped = await checked.call("GET", "/api/system-context/skills")
    slug = shipped["skills"][0]["slug"]
    await checked.call("GET", f"/api/system-context/skills/{slug}")
    await checked.call("POST", "/api/user-context/skills", SKILL)
    await checked.call("GET", "/api/user-context/skills")
    await checked.call("GET", "/api/user-context/skills/soft-light")
    await checked.call("PATCH", "/api/user-context/skills/soft-light", {"name": "Soft"})
    await checked.call("DELETE", "/api/user-context/skills/soft-light")
    rule = await checked.call("POST", "/api/user-context/rules", {"text": "Be short"})
    await checked.call("GET", "/api/user-context/rules")
    await checked.call("PATCH", f"/api/user-context/rules/{rule['id']}", {"text": "Be brief"})
    await checked.call("PUT", "/api/user-context/rules/order", {"ids": [rule["id"]]})
    await checked.call("DELETE", f"/api/user-context/rules/{rule['id']}")
    await checked.call("PUT", "/api/user-context/preferences/sampler", {"value": "euler"})
    await checked.call("GET", "/api/user-context/preferences")
    await checked.call("DELETE", "/api/user-context/preferences/sampler")


async def the_turns(checked: Checked, chat: Chatting) -> None:
    """A turn with tools and a decision, a turn that is joined, and a turn without a chat."""
    provider = chat.provider
    provider.queue(
        Script([{"reasoning": "Hm."}, {"text": "I look."}, tool_call("slow", id="s1")]),
        Script([tool_call("erase", id="e1"), tool_call("erase", id="e2")]),
    )
    body = {"id": "c", "message": chat.user("Do it"), "client_id": "p1", "workflow": {"id": "w"}}
    asking = asyncio.ensure_future(checked.call("POST", "/api/chat?debug=context", body))
    await released(chat, "c")
    await asking
    await command(checked, type="approve_tools", ids=["e1"])
    await chat.idle("c")
    size = {"question": "Which size?", "options": [{"label": "S", "description": "Small"}, "L"]}
    provider.queue(Script([tool_call("askUser", size, id="q1")]), "Half of it is done.")
    await command(checked, type="reject_tools", ids=["e2"], reason="Not that")
    await chat.idle("c")
    await command(checked, type="user_message", message=chat.user("Large"))
    await chat.idle("c")
    provider.queue(Script([{"text": "A "}, {"wait": "joined"}, {"text": "fox"}]))
    body = {"id": "c", "message": chat.user("Again")}
    asking = asyncio.ensure_future(checked.call("POST", "/api/chat", body))
    await provider.reached("joined")
    joining = asyncio.ensure_future(checked.call("GET", "/api/chat/c/stream"))
    provider.release("joined")
    await asyncio.gather(asking, joining)
    await checked.call("GET", "/api/chat/c/stream")
    provider.queue("Hello")
    await checked.call("POST", "/api/chat", {"messages": [chat.user("Hi")]})
    provider.queue("Hello")
    body = {"id": "c", "message": chat.user("At once")}
    await checked.call("POST", "/api/chat", body, headers={"Prefer": "respond-async"})
    await chat.idle("c")


async def released(chat: Chatting, identity: str) -> None:
    """Releases the slow tool, so that its call returns."""
    for tool in chat.assistant.toolset:
        if tool.name == "slow":
            assert tool.run is not None
            bench: Bench = tool.run.__self__  # type: ignore[attr-defined]
            await asyncio.wait_for(bench.started.wait(), 10)
            bench.release.set()


async def command(checked: Checked, status: int = 202, **body: Any) -> Any:
    answered = await checked.call("POST", "/api/chats/c/commands", body)
    assert checked.status == status, (body, answered)
    return answered


async def the_commands(checked: Checked, chat: Chatting, reader: Reader) -> None:
    provider = chat.provider
    provider.queue(Script([{"text": "One "}, {"wait": "queued"}]), "Two")
    await command(checked, type="user_message", message=chat.user("One"), client_id="p1")
    await provider.reached("queued")
    await command(checked, type="user_message", message=chat.user("Two"), priority=True)
    await command(checked, type="user_message", message=chat.user("Three"))
    told = await reader.event(lambda one: len(one.get("queue", ())) == 2)
    await command(checked, type="cancel_queued", id=told["queue"][-1]["id"])
    await command(checked, type="abort")
    shown = await checked.call("GET", "/api/chats/c")
    await command(checked, type="resume_queue")
    await chat.idle("c")
    await command(checked, type="abort")
    await command(checked, 404, type="cancel_queued", id="nothing")
    await command(checked, type="set_params", params={"temperature": 0.5, "model": None})
    budget = {"runs": 2, "minutes": 30}
    await command(checked, type="set_params", params={"approval": "budget", "budget": budget})
    await checked.call("GET", "/api/chats/c")
    await command(checked, type="set_params", params={"approval": "edits"})
    await command(checked, type="set_draft", text="half a")
    await command(checked, type="clear_draft")
    graph = {"nodes": [{"id": 3, "type": "KSampler"}], "links": []}
    await command(checked, type="set_workflow", workflow={"id": "w", "name": "W", "graph": graph})
    (kept,) = (await checked.call("GET", "/api/chats/c/workflows?limit=2"))["workflows"]
    await checked.call("GET", f"/api/chats/c/workflows/{kept['revision']}")
    await command(checked, 409, type="restore_workflow")
    await command(checked, 409, type="undo_edits", message_id="nothing")
    first, answered = shown["messages"][0], shown["messages"][1]
    await command(checked, type="branch_from_chat", message_id=first["id"])
    trajectory = await checked.call("GET", "/api/chats/c/export?format=trajectory")
    await command(checked, type="remove_message", message_id=answered["id"])
    await command(checked, type="switch_version", message_id=answered["id"])
    changed = {**first, "parts": [{"type": "text", "text": "Do that"}]}
    await command(checked, type="update_message", message_id=first["id"], message=changed)
    await command(checked, type="truncate_messages", index=2)
    await command(checked, type="restore_from_trajectory", trajectory=trajectory)
    provider.queue("Better.", "Best.")
    await command(checked, type="regenerate")
    await chat.idle("c")
    await command(checked, type="retry_from_index", index=0, message=chat.user("Else"))
    await chat.idle("c")
    provider.queue(Script([tool_call("paintNode", {"node": 3}, id="p1")]), "Painted.")
    await command(checked, type="user_message", message=chat.user("Paint"), client_id="p9")
    await chat.idle("c")
    await command(checked, type="take_over", client_id="p1")
    await command(checked, type="tool_result", tool_call_id="p1", output={"ok": 1})
    await chat.idle("c")
    await command(checked, 409, type="compact", focus="foxes")
    await checked.call("GET", "/api/chats/c/context")


async def the_memories(checked: Checked) -> None:
    made = await checked.call("POST", "/api/memories", {"text": "My GPU has 12 GB"})
    path = f"/api/memories/{made['id']}"
    await checked.call("GET", "/api/memories?q=gpu&superseded=true")
    await checked.call("GET", "/api/memories/entities/gpu")
    await checked.call("GET", "/api/memories/export")
    await checked.call("POST", "/api/memories/import", {"lines": ["x"]})
    await checked.call("POST", "/api/chats", {"id": "empty-chat"})
    await checked.call("POST", "/api/memories/extract", {"chat_id": "empty-chat"})
    await checked.call("GET", "/api/memories/settings")
    await checked.call("PUT", "/api/memories/settings", {"mode": "manual"})
    await checked.call("PATCH", path, {"pinned": True})
    await checked.call("DELETE", path)
    await checked.call("POST", f"{path}/restore")


async def the_library(checked: Checked) -> None:
    await checked.call("GET", "/api/chats?limit=2")
    await checked.call("GET", "/api/chats/c?limit=2")
    await checked.call("GET", "/api/chats/search?q=fox")
    await checked.call("PATCH", "/api/chats/c", {"title": "Foxes", "pinned": True})
    made = await checked.call("POST", "/api/chats/c/branch", {"message_id": "u1"})
    for form in ("markdown", "jsonl", "trajectory"):
        await checked.call("GET", f"/api/chats/{made['id']}/export?format={form}")
    await checked.call("POST", f"/api/chats/{made['id']}/share", {"workflow": {"nodes": []}})
    content = '{"id":"x","role":"user","parts":[{"type":"text","text":"Hi"}]}\n'
    await checked.call("POST", "/api/chats/import", {"format": "jsonl", "content": content})
    await checked.call("DELETE", f"/api/chats/{made['id']}")
    await checked.call("POST", f"/api/chats/{made['id']}/restore")
    await checked.call("POST", "/api/chats/cleanup", {"older_than_days": 0, "dry_run": False})


async def the_data(checked: Checked) -> None:
    known = await checked.call("GET", "/api/assistant/data")
    await checked.call("GET", "/api/assistant/data/archive")
    await checked.call("POST", "/api/assistant/data/delete", {"chats": known["chats"] + 1})
    await checked.call("POST", "/api/assistant/data/delete", {"chats": known["chats"]})


WRONG: list[tuple[str, str, Any, int]] = [
    ("POST", "/api/chat", {}, 400),
    ("POST", "/api/chat", {"id": "../c", "messages": []}, 400),
    ("POST", "/api/chat", {"id": "c", "trigger": "regenerate-message", "messageId": "x"}, 404),
    ("POST", "/api/chats", {"id": "c"}, 409),
    ("POST", "/api/chats", {"title": 7}, 400),
    ("GET", "/api/chats?limit=0", None, 400),
    ("GET", "/api/chats?before=nobody", None, 404),
    ("GET", "/api/chats/nobody", None, 404),
    ("GET", "/api/chats/c?before=nobody", None, 404),
    ("GET", "/api/chats/nobody/context", None, 404),
    ("GET", "/api/chats/search?q=", None, 400),
    ("GET", "/api/chats/c/export?format=pdf", None, 400),
    ("GET", "/api/chats/nobody/export?format=jsonl", None, 404),
    ("GET", "/api/chats/subscribe?chat_id=nobody", None, 404),
    ("GET", "/api/chats/subscribe?last_event_id=x", None, 400),
    ("POST", "/api/chats/import", {"format": "jsonl", "content": "?"}, 400),
    ("POST", "/api/chats/cleanup", {}, 400),
    ("POST", "/api/chats/c/branch", {"message_id": "nobody"}, 404),
    ("POST", "/api/chats/c/branch", {}, 400),
    ("POST", "/api/chats/c/restore", None, 404),
    ("PATCH", "/api/chats/c", {}, 400),
    ("PATCH", "/api/chats/nobody", {"pinned": True}, 404),
    ("DELETE", "/api/chats/nobody", None, 404),
    ("POST", "/api/chats/nobody/commands", {"type": "abort"}, 404),
    ("POST", "/api/chats/c/commands", {"type": "sing"}, 400),
    ("POST", "/api/chats/c/commands", {"type": "abort", "loudly": True}, 400),
    ("POST", "/api/chats/c/commands", {"type": "take_over"}, 409),
    ("GET", "/api/user-context/skills/none", None, 404),
    ("POST", "/api/user-context/skills", {**SKILL, "name": ""}, 400),
    ("PATCH", "/api/user-context/skills/none", {"name": "x"}, 404),
    ("DELETE", "/api/user-context/rules/none", None, 404),
    ("POST", "/api/user-context/rules", {"text": ""}, 400),
    ("PUT", "/api/user-context/preferences/x", {"value": 7}, 400),
    ("GET", "/api/system-context/skills/none", None, 404),
    ("GET", "/api/assistant/models?provider=none", None, 404),
    ("GET", "/api/assistant/models", None, 502),
    ("POST", "/api/assistant/settings/test", {"name": "none"}, 404),
    ("POST", "/api/assistant/providers/none/activate", None, 404),
    ("PUT", "/api/assistant/providers/x", {"base_url": "no"}, 400),
    ("DELETE", "/api/assistant/providers/none", None, 404),
    ("POST", "/api/assistant/session", {"token": "x"}, 403),
]


async def test_every_error_is_as_it_is_described(tmp_path: Path) -> None:
    async with site(tmp_path) as ours, API.checking(ours.client) as checked:
        store = ours.assistant.space_of("default").chats
        await store.import_messages("c", (user("u1"), answer("a1")))
        for method, path, body, status in WRONG:
            answered = await checked.call(method, path, body)
            assert checked.status == status, (method, path, answered)
        await checked.call("POST", "/api/chats", {}, headers={"Host": "evil.example"})
        assert checked.status == 403


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [(method, path, body) for method, path, body, status in WRONG if body and status == 400],
)
def test_a_body_that_is_refused_for_its_shape_is_described_as_wrong(
    method: str, path: str, body: Any
) -> None:
    _, operation = API.operation(method, path)
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    deeper = ("/api/chats/import", "/api/assistant/providers/x")
    assert path in deeper or not API.allows(body, schema)
