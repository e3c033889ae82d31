"""The laws of every request, for histories and messages that nobody would write by hand."""

import copy
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.context.digest import digest, is_digest
from plugin.assistant.context.groups import groups_of
from plugin.assistant.context.plan import Budget, Plan, plan
from plugin.assistant.context.system import SystemText
from plugin.assistant.context.window import Window
from plugin.assistant.errors import ContextOverflow, InvalidRequest
from plugin.assistant.messages import chunks
from plugin.assistant.messages.conversion import to_prompt
from plugin.assistant.messages.parts import Message
from plugin.assistant.messages.prompt import PromptMessage, to_openai
from plugin.assistant.messages.ui import message_from_ui, message_to_ui, messages_from_ui

from ..messages.strategies import BROKEN, CHATS
from .histories import HISTORIES, Messages, a_round, answer, law, result, rounds, system, user

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = SystemText("You are ComfyUI Assistant.", "full")
TOOLS = ({"type": "function", "function": {"name": "getUserSkill", "parameters": {}}},)
OFF = Settings(tool_result_keep_last_rounds=0, tool_output_trim_chars=0, history_max_messages=0)
HUGE = Window(100_000_000, known=True)

LIMITS = st.builds(
    Settings,
    tool_result_keep_last_rounds=st.integers(0, 3),
    tool_output_trim_chars=st.sampled_from([0, 1, 17, 200, 2_000]),
    history_max_messages=st.sampled_from([0, 1, 2, 5, 24]),
)
WINDOWS = st.sampled_from(
    [Window(), Window(1_024, known=True), Window(4_096, known=True), HUGE, Window(300)]
)
BUDGETS = st.builds(Budget, WINDOWS, st.booleans())


def planned(history: Iterable[PromptMessage], limits: Settings, budget: Budget) -> Plan | None:
    """The plan, or None where the law allows to refuse. Any other exception fails the test."""
    try:
        return plan(history, OURS, TOOLS, limits, budget)
    except (InvalidRequest, ContextOverflow):
        return None


def strict_faults(body: Sequence[Mapping[str, Any]], alternation: bool) -> list[str]:
    """What an exacting provider would say about `messages`; written apart from the validator."""
    found = []
    ids: set[str] = set()
    position = 0
    while position < len(body):
        message = body[position]
        role, content = message["role"], message["content"]
        if role == "tool":
            found.append(f"{position}: a result on its own")
        if role in ("user", "system") and not content:
            found.append(f"{position}: nothing in it")
        if role == "assistant" and not content and not message.get("tool_calls"):
            found.append(f"{position}: nothing in it")
        calls = [call["id"] for call in message.get("tool_calls", [])]
        if ids & set(calls) or len(set(calls)) < len(calls):
            found.append(f"{position}: an id used twice")
        ids.update(calls)
        answers = body[position + 1 : position + 1 + len(calls)]
        if [item.get("tool_call_id") for item in answers] != calls:
            found.append(f"{position}: calls and results differ")
        position += 1 + len(calls)
    turns = [item["role"] for item in body if item["role"] != "tool"]
    if alternation:
        talk = turns[1:] if turns[:1] == ["system"] else turns
        if talk[:1] != ["user"]:
            found.append("the user does not begin")
        if "system" in talk:
            found.append("a system message within")
        # An answer may follow an answer only when results stand between them.
        for before, after in pairwise(body):
            if before["role"] == after["role"] != "tool":
                found.append(f"two messages of {after['role']} in a row")
    return found


def newest_round(messages: Sequence[PromptMessage]) -> Messages:
    found = [group for group in groups_of(messages) if group.is_round]
    return found[-1].messages if found else ()


@law
@given(HISTORIES, LIMITS, BUDGETS)
@example(a_round("a", text=""), Settings(), Budget())
@example((user(), system(), user("more")), Settings(), Budget(alternation=True))
@example((user(), result("a"), answer(), answer("more"), user()), OFF, Budget(alternation=True))
@example((user(), PromptMessage("user", ())), OFF, Budget())
def test_any_history_gives_a_valid_request_or_a_clear_refusal(
    history: Messages, limits: Settings, budget: Budget
) -> None:
    made = planned(history, limits, budget)
    if made is None:
        return
    body = [to_openai(message) for message in made.messages]
    assert strict_faults(body, budget.alternation) == []
    json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


@law
@given(CHATS, LIMITS, BUDGETS)
def test_any_chat_gives_a_valid_request_or_a_clear_refusal(
    chat: list[Message], limits: Settings, budget: Budget
) -> None:
    body = json.loads(json.dumps([message_to_ui(message) for message in chat]))
    made = planned(to_prompt(messages_from_ui(body)), limits, budget)
    if made is None:
        return
    request = [to_openai(message) for message in made.messages]
    assert strict_faults(request, budget.alternation) == []
    json.dumps(request, ensure_ascii=False, allow_nan=False).encode()
    names = [c["function"]["name"] for m in request for c in m.get("tool_calls", [])]
    assert all(name.isascii() and 0 < len(name) <= 64 for name in names)


@law
@given(CHATS, st.data())
def test_a_chat_broken_anywhere_is_read_or_refused(
    chat: list[Message], data: st.DataObject
) -> None:
    """Any value in the place of any other: no exception but InvalidRequest."""
    body = [message_to_ui(message) for message in chat]
    place: Any = body
    while True:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            break
        place = inner
    place[key] = data.draw(BROKEN)
    try:
        messages = messages_from_ui(body)
        planned(to_prompt(messages), Settings(), Budget())
    except InvalidRequest:
        return
    for message in messages:
        assert message_from_ui(message_to_ui(message)) == message
        chunks.encode(message_to_ui(message)).decode()


@law
@given(HISTORIES, LIMITS, BUDGETS)
def test_no_more_messages_than_the_limit_but_for_the_protected_ones(
    history: Messages, limits: Settings, budget: Budget
) -> None:
    made = planned(history, limits, budget)
    if made is None or not limits.history_max_messages:
        return
    groups = [group for group in groups_of(made.messages) if group.role != "system"]
    sent = sum(len(group.messages) for group in groups)
    users = [n for n, group in enumerate(groups) if group.role == "user"]
    always = {users[-1], len(groups) - 1}
    protected = sum(len(groups[n].messages) for n in always)
    assert sent <= max(limits.history_max_messages, protected)


@law
@given(HISTORIES, LIMITS, WINDOWS)
def test_the_last_user_message_is_sent_once_and_unchanged(
    history: Messages, limits: Settings, window: Window
) -> None:
    numbered = tuple(replace(message, source=str(n)) for n, message in enumerate(history))
    made = planned(numbered, limits, Budget(window))
    if made is None:
        return
    asked = [message for message in numbered if message.role == "user"][-1]
    assert [m for m in made.messages if m.source == asked.source] == [asked]
    assert [m for m in made.messages if m.role == "user"][-1] == asked


@law
@given(HISTORIES, LIMITS, WINDOWS)
def test_the_last_user_message_ends_the_merged_one_where_roles_alternate(
    history: Messages, limits: Settings, window: Window
) -> None:
    made = planned(history, limits, Budget(window, alternation=True))
    if made is None:
        return
    asked = [message for message in history if message.role == "user"][-1]
    sent = [message for message in made.messages if message.role == "user"][-1]
    assert sent.text.endswith(asked.text)
    assert sent.images[len(sent.images) - len(asked.images) :] == asked.images


@law
@given(HISTORIES, LIMITS, BUDGETS)
def test_only_the_last_rounds_keep_results_that_are_longer_than_their_line(
    history: Messages, limits: Settings, budget: Budget
) -> None:
    made = planned(history, limits, budget)
    keep = limits.tool_result_keep_last_rounds
    if made is None or not keep:
        return
    found = [group for group in groups_of(made.messages) if group.is_round]
    for group in found[:-keep]:
        for call, item in zip(group.messages[0].tool_calls, group.results, strict=True):
            assert is_digest(item) or len(item.text) <= len(digest(call, item))


@law
@given(HISTORIES, LIMITS, BUDGETS)
def test_no_result_outside_the_newest_round_exceeds_the_trim_limit(
    history: Messages, limits: Settings, budget: Budget
) -> None:
    made = planned(history, limits, budget)
    most = limits.tool_output_trim_chars
    if made is None or not most:
        return
    newest = newest_round(made.messages)
    for message in made.messages:
        if message.role == "tool" and message not in newest and not is_digest(message):
            assert len(message.text) <= max(most, len("{}"))


@law
@given(HISTORIES, LIMITS, WINDOWS)
def test_what_is_kept_is_byte_for_byte_what_the_history_had(
    history: Messages, limits: Settings, window: Window
) -> None:
    """Only results may be shortened, and only ids may be renamed."""
    made = planned(history, limits, Budget(window))
    if made is None:
        return
    given_texts = {(message.role, message.content) for message in (*history, system(OURS.text))}
    for message in made.messages:
        if message.role != "tool":
            assert (message.role, message.content) in given_texts


@law
@given(HISTORIES, LIMITS, BUDGETS)
def test_the_plan_changes_no_input_and_gives_the_same_again(
    history: Messages, limits: Settings, budget: Budget
) -> None:
    before = copy.deepcopy(history)
    first = planned(history, limits, budget)
    assert history == before
    assert planned(iter(history), limits, budget) == first


@law
@given(HISTORIES, LIMITS, BUDGETS)
def test_a_plan_of_a_plan_changes_nothing(
    history: Messages, limits: Settings, budget: Budget
) -> None:
    made = planned(history, limits, budget)
    if made is None:
        return
    again = planned(made.messages, limits, budget)
    assert again is not None
    assert again.messages == made.messages
    assert again.report.repairs == 0


@law
@given(HISTORIES)
def test_with_every_limit_off_a_valid_history_is_sent_whole(history: Messages) -> None:
    made = planned(history, OFF, Budget(HUGE))
    if made is None:
        return
    kept = [message for message in made.messages if message.text != OURS.text]
    if made.report.repairs == 0:
        assert kept == [message for message in history if message.text != OURS.text]
    assert made.report.limits_applied == ()
    assert made.report.messages_trimmed == 0


@law
@given(HISTORIES, st.sampled_from([2_048, 4_096, 16_384]))
def test_what_is_sent_fits_the_window_that_is_known(history: Messages, tokens: int) -> None:
    made = planned(history, Settings(), Budget(Window(tokens, known=True)))
    if made is not None:
        assert made.report.total.tokens <= tokens


@law
@given(HISTORIES, LIMITS)
def test_a_failed_call_stays_visibly_failed(history: Messages, limits: Settings) -> None:
    failing = tuple(
        replace(m, content=json.dumps({"error": "boom " + m.text})) if m.failed else m
        for m in history
    )
    made = planned(failing, limits, Budget(HUGE))
    if made is None or limits.tool_output_trim_chars in (1, 17):
        return
    for message in made.messages:
        if message.role == "tool" and message.failed:
            said = json.loads(message.text)
            assert "error" in said or "boom" in said["excerpt"]
            assert said.get("outcome", "failed") == "failed"


SUBPROCESS = """
import hashlib, importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("_bootstrap", pathlib.Path("scripts/bootstrap.py"))
bootstrap = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bootstrap)
bootstrap.register(pathlib.Path.cwd())
from plugin.tests.context.test_context_properties import fingerprint
print(fingerprint())
"""


def fingerprint() -> str:
    """Of the request and the report for a history that meets every stage."""
    long = json.dumps({"name": "x", "items": list(range(3_000)), "path": "a"})
    history = (user("one"), *rounds(20, text=long), answer(), user("two"), *a_round("c1", "c1"))
    made = plan(history, OURS, TOOLS, Settings(), Budget(alternation=True))
    body = [to_openai(message) for message in made.messages]
    text = json.dumps([body, made.report.to_json(), made.report.to_header()])
    return hashlib.sha256(text.encode()).hexdigest()


def test_another_process_with_another_hash_seed_gives_the_same_bytes() -> None:
    for seed in ("1", "2"):
        command = [sys.executable, "-c", SUBPROCESS]
        done = subprocess.run(
            command, cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True
        )
        assert done.stdout.strip() == fingerprint(), done.stderr
