"""The intention of a sent list of messages, for each state of the stored chat."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.chats.reconcile import (
    REGENERATE,
    SUBMIT,
    Append,
    Branch,
    Import,
    Regenerate,
    Resume,
    edited,
    merge,
    pending,
    reconcile,
)
from plugin.assistant.errors import AssistantError, Conflict, InvalidRequest, NotFound
from plugin.assistant.messages.parts import Approval, Message, Role, StepStart, TextPart, ToolPart

from .examples import answer, asking, at_panel, skill, user, with_tools

U1, A1, U2, A2, U3 = user("u1"), answer("a1"), user("u2"), answer("a2"), user("u3")
CHAT = (U1, A1, U2, A2)


def approved(part: ToolPart, decision: bool = True, reason: str | None = None) -> ToolPart:
    assert part.approval is not None
    answered = dataclasses.replace(part.approval, approved=decision, reason=reason)
    return dataclasses.replace(part, state="approval-responded", approval=answered)


def done(part: ToolPart, output: object = "ok") -> ToolPart:
    return dataclasses.replace(part, state="output-available", output=output)


def failed(part: ToolPart, words: str | None = "No such node") -> ToolPart:
    return dataclasses.replace(part, state="output-error", error_text=words)


# A new chat


def test_an_unknown_chat_is_imported() -> None:
    assert reconcile((), (U1, A1, U2)) == Import((U1, A1, U2))


def test_system_messages_are_passed_over() -> None:
    system = Message("s", "system", (TextPart("Be brief."),))
    assert reconcile((), (system, U1)) == Import((U1,))
    assert reconcile(CHAT, (system, *CHAT, U3)) == Append(U3)


def test_an_import_may_end_with_results_that_the_model_has_not_seen() -> None:
    asked = with_tools("a1", done(at_panel()))
    assert reconcile((), (U1, asked)) == Import((U1, asked))


@pytest.mark.parametrize(
    "last",
    [
        A1,
        with_tools("a1", at_panel()),
        with_tools("a1", asking()),
        Message("a1", "assistant", (StepStart(), done(at_panel()), TextPart("Done."))),
        Message("a1", "assistant", (StepStart(), done(at_panel()), StepStart(), TextPart("Yes"))),
        Message("a1", "assistant", ()),
    ],
)
def test_an_import_that_leaves_nothing_to_answer_is_refused(last: Message) -> None:
    with pytest.raises(InvalidRequest):
        reconcile((), (U1, last))


@pytest.mark.parametrize("stored", [(), CHAT])
def test_an_empty_list_is_refused(stored: tuple[Message, ...]) -> None:
    with pytest.raises(InvalidRequest):
        reconcile(stored, ())


def test_an_unknown_trigger_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        reconcile(CHAT, (*CHAT, U3), "resume-stream")


def test_a_repeated_id_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        reconcile(CHAT, (*CHAT, U1))


# A known chat


def test_one_new_user_message_is_appended() -> None:
    assert reconcile(CHAT, (*CHAT, U3)) == Append(U3)


def test_data_parts_that_we_added_to_a_user_message_make_no_difference() -> None:
    stored = (user("u1", "/skill x", skill("X")), A1)
    assert reconcile(stored, (user("u1", "/skill x"), A1, U2)) == Append(U2)


def test_a_changed_user_message_begins_a_branch() -> None:
    edited = user("u2", "Something else")
    assert reconcile(CHAT, (U1, A1, edited)) == Branch("a1", (edited,))


def test_a_changed_first_message_begins_a_branch_at_the_root() -> None:
    edited = user("u1", "Something else")
    assert reconcile(CHAT, (edited,)) == Branch(None, (edited,))


def test_a_message_after_an_earlier_one_begins_a_branch() -> None:
    assert reconcile(CHAT, (U1, A1, U3)) == Branch("a1", (U3,))


def test_several_new_messages_begin_a_branch_after_the_last_common_one() -> None:
    assert reconcile(CHAT, (*CHAT, U3, answer("a3"), user("u4"))) == Branch(
        "a2", (U3, answer("a3"), user("u4"))
    )


def test_an_assistant_text_that_the_client_rewrote_begins_a_branch() -> None:
    rewritten = answer("a2", "As you wish")
    assert reconcile(CHAT, (U1, A1, U2, rewritten, U3)) == Branch("u2", (rewritten, U3))


@pytest.mark.parametrize("seen", ["", "Hal", "Half an answer", "Half an answer and more"])
def test_a_cut_answer_may_have_reached_the_client_less_or_further(seen: str) -> None:
    stored = (U1, answer("a1", "Half an answer", cut="aborted"))
    assert reconcile(stored, (U1, answer("a1", seen), U2)) == Append(U2)


def test_a_whole_answer_is_the_same_only_when_its_text_is() -> None:
    stored = (U1, answer("a1", "A whole answer"))
    sent = answer("a1", "A whole")
    assert reconcile(stored, (U1, sent, U2)) == Branch("u1", (sent, U2))


def test_a_list_that_brings_nothing_is_refused() -> None:
    for sent in (CHAT, CHAT[:2]):
        with pytest.raises(InvalidRequest, match="nothing to answer"):
            reconcile(CHAT, sent)


def test_an_unanswered_user_message_is_answered_again() -> None:
    assert reconcile((U1, A1, U2), (U1, A1, U2)) == Regenerate("u2")


def test_a_list_that_ends_with_an_answered_user_message_asks_for_another_answer() -> None:
    assert reconcile(CHAT, (U1,)) == Regenerate("u1")


# A suspended answer


def test_a_result_from_the_panel_resumes_the_turn() -> None:
    stored = (U1, with_tools("a1", at_panel()))
    gained = with_tools("a1", done(at_panel(), {"changed": 1}))
    assert reconcile(stored, (U1, gained)) == Resume("u1", gained)


def test_a_failure_at_the_panel_resumes_the_turn() -> None:
    stored = (U1, with_tools("a1", at_panel()))
    gained = with_tools("a1", failed(at_panel()))
    assert reconcile(stored, (U1, gained)) == Resume("u1", gained)


def test_a_failure_without_words_gets_some() -> None:
    merged = merge(with_tools("a", at_panel()), with_tools("a", failed(at_panel(), None)))
    assert merged.tool_parts[0].error_text


@pytest.mark.parametrize("decision", [True, False])
def test_a_decision_resumes_the_turn(decision: bool) -> None:
    gained = with_tools("a1", approved(asking(), decision, "because"))
    assert reconcile((U1, with_tools("a1", asking())), (U1, gained)) == Resume("u1", gained)


def test_one_of_two_results_is_kept_while_the_other_is_pending() -> None:
    stored = with_tools("a1", at_panel("t1"), at_panel("t2"))
    sent = with_tools("a1", at_panel("t1"), done(at_panel("t2")))
    meant = reconcile((U1, stored), (U1, sent))
    assert isinstance(meant, Resume)
    waits = pending(meant.message)
    assert waits is not None and waits.tool_call_id == "t1"


def test_a_panels_tool_that_was_allowed_waits_for_its_result() -> None:
    ours = dataclasses.replace(asking(), provider_executed=False)
    allowed, denied = with_tools("a", approved(ours)), with_tools("a", approved(ours, False))
    assert pending(allowed) and not pending(denied)
    assert merge(allowed, with_tools("a", done(ours))).tool_parts[0].output == "ok"
    assert merge(denied, with_tools("a", done(ours))) == denied


def test_results_that_come_with_the_next_message_are_stored_with_it() -> None:
    stored = (U1, with_tools("a1", at_panel()))
    gained = with_tools("a1", done(at_panel()))
    assert reconcile(stored, (U1, gained, U2)) == Branch("u1", (gained, U2))


SERVER = dataclasses.replace(at_panel(), provider_executed=True)


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        pytest.param(SERVER, done(SERVER), id="output of a server tool"),
        pytest.param(SERVER, failed(SERVER), id="error of a server tool"),
        pytest.param(SERVER, done(at_panel()), id="server tool called a panel's"),
        pytest.param(done(at_panel()), done(at_panel(), "other"), id="second result"),
        pytest.param(done(at_panel()), failed(at_panel()), id="failure after the result"),
        pytest.param(asking(), done(asking()), id="result instead of a decision"),
        pytest.param(
            asking(),
            dataclasses.replace(
                asking(), state="approval-responded", approval=Approval("other", True)
            ),
            id="decision on another question",
        ),
        pytest.param(
            asking(),
            dataclasses.replace(asking(), state="approval-responded"),
            id="decision without an answer",
        ),
        pytest.param(approved(asking(), False), approved(asking()), id="changed decision"),
        pytest.param(
            at_panel(),
            dataclasses.replace(at_panel(), state="output-denied"),
            id="denial of what asked nothing",
        ),
    ],
)
def test_a_client_cannot_settle_what_is_not_its_to_settle(stored: ToolPart, sent: ToolPart) -> None:
    ours = with_tools("a1", stored)
    assert merge(ours, with_tools("a1", sent)) == ours
    with pytest.raises((InvalidRequest, Conflict)):
        reconcile((U1, ours), (U1, with_tools("a1", sent)))


def test_only_the_result_is_taken_from_the_client() -> None:
    sent = dataclasses.replace(done(at_panel()), tool_name="evil", input={"x": 1}, title="Evil")
    merged = merge(
        with_tools("a1", at_panel()),
        Message("a1", "assistant", (TextPart(""), sent, done(at_panel("t9"))), {"model": "fake"}),
    )
    assert merged == with_tools("a1", done(at_panel()))


# Another answer


@pytest.mark.parametrize(
    ("message_id", "meant"),
    [
        (None, Regenerate("u2")),
        ("a2", Regenerate("u2")),
        ("u2", Regenerate("u2")),
        ("a1", Regenerate("u1")),
        ("u1", Regenerate("u1")),
    ],
)
def test_regenerating_answers_the_user_message_again(
    message_id: str | None, meant: Regenerate
) -> None:
    assert reconcile(CHAT, (), REGENERATE, message_id) == meant
    assert reconcile(CHAT, CHAT, REGENERATE, message_id) == meant


def test_regenerating_takes_the_list_without_the_answer() -> None:
    assert reconcile(CHAT, (U1, A1, U2), REGENERATE, "a2") == Regenerate("u2")
    assert reconcile(CHAT, (U1,), REGENERATE, "a1") == Regenerate("u1")


def test_regenerating_an_answer_that_never_came_answers_the_last_message() -> None:
    assert reconcile((U1, A1, U2), (U1, A1, U2), REGENERATE) == Regenerate("u2")


def test_regenerating_an_answer_that_only_the_client_knows_goes_by_what_came_before() -> None:
    assert reconcile(CHAT, (U1, A1, U2), REGENERATE, "made-up") == Regenerate("u2")


def test_regenerating_an_unknown_message_is_not_found() -> None:
    with pytest.raises(NotFound):
        reconcile(CHAT, (), REGENERATE, "nobody")


def test_regenerating_after_another_past_begins_a_branch() -> None:
    edited = user("u2", "Something else")
    assert reconcile(CHAT, (U1, A1, edited), REGENERATE, "a2") == Branch("a1", (edited,))


def test_regenerating_without_any_question_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        reconcile((A1,), (), REGENERATE, "a1")


def test_regenerating_in_an_unknown_chat_imports_it() -> None:
    assert reconcile((), (U1,), REGENERATE, "a1") == Import((U1,))


# An edited message without the list


def test_an_edited_message_follows_what_came_before_it() -> None:
    assert edited(CHAT, "u2", user("u2", "New")) == Branch("a1", (user("u2", "New"),))
    assert edited(CHAT, "u1", user("u9", "New")) == Branch(None, (user("u9", "New"),))


def test_only_a_user_message_can_be_edited() -> None:
    with pytest.raises(InvalidRequest):
        edited(CHAT, "a1", user("u9"))
    with pytest.raises(InvalidRequest):
        edited(CHAT, "u2", answer("a9"))
    with pytest.raises(InvalidRequest):
        edited(CHAT, "u2", user("u1"))
    with pytest.raises(NotFound):
        edited(CHAT, "nobody", user("u9"))


# Laws


STATES = st.sampled_from(
    [
        at_panel(),
        SERVER,
        asking(),
        approved(asking()),
        approved(asking(), False),
        done(at_panel()),
        done(SERVER),
        failed(at_panel()),
    ]
)
TOOLS = STATES.map(lambda part: with_tools("a", part).parts)
TEXTS = st.sampled_from(["", "H", "Hi", "Ho"]).map(lambda text: (TextPart(text),))
CUTS = st.sampled_from([{}, {"cut": "aborted"}])
ROLES: tuple[Role, ...] = ("user", "assistant")


@st.composite
def chats(draw: st.DrawFn) -> tuple[Message, ...]:
    identities = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5))
    messages = []
    for identity in identities:
        role: Role = draw(st.sampled_from(ROLES))
        parts = draw(TEXTS if role == "user" else st.one_of(TEXTS, TOOLS))
        metadata = draw(CUTS) if role == "assistant" else {}
        messages.append(Message(identity, role, parts, metadata))
    return tuple(messages)


def shown_after(stored: tuple[Message, ...], meant: object) -> tuple[Message, ...]:
    """The path that carrying out `meant` leaves."""

    def up_to(identity: str | None) -> tuple[Message, ...]:
        if identity is None:
            return ()
        return stored[: [message.id for message in stored].index(identity) + 1]

    if isinstance(meant, Import):
        return meant.messages
    if isinstance(meant, Append):
        return (*stored, meant.message)
    if isinstance(meant, Resume):
        return (*up_to(meant.parent_id), meant.message)
    if isinstance(meant, Regenerate):
        return up_to(meant.parent_id)
    assert isinstance(meant, Branch)
    return (*up_to(meant.parent_id), *meant.messages)


@given(chats(), chats(), st.sampled_from([SUBMIT, REGENERATE]), st.sampled_from([None, *"abz"]))
def test_any_two_lists_give_an_intention_or_a_refusal(
    stored: tuple[Message, ...], sent: tuple[Message, ...], trigger: str, message_id: str | None
) -> None:
    try:
        meant = reconcile(stored, sent, trigger, message_id)
    except (InvalidRequest, NotFound, Conflict):
        return
    path = shown_after(stored, meant)
    identities = [message.id for message in path]
    assert len(set(identities)) == len(identities)
    if not isinstance(meant, Resume):
        assert path[-1].role == "user" or path[-1].tool_parts


@given(chats(), chats())
def test_submitting_leaves_the_path_that_the_client_sent(
    stored: tuple[Message, ...], sent: tuple[Message, ...]
) -> None:
    try:
        path = shown_after(stored, reconcile(stored, sent))
    except AssistantError:
        return
    assert [message.id for message in path] == [message.id for message in sent]


@given(chats())
def test_a_new_message_on_the_stored_list_is_always_appended(stored: tuple[Message, ...]) -> None:
    new = user("new")
    meant = reconcile(stored, (*stored, new))
    assert meant == (Append(new) if stored else Import((new,)))


@given(STATES, STATES)
def test_merging_never_unsettles_a_call_and_settles_it_once(
    ours: ToolPart, first: ToolPart
) -> None:
    once = merge(with_tools("a", ours), with_tools("a", first))
    assert not ours.settled or once == with_tools("a", ours)
    if once.tool_parts[0].settled:
        for later in (done(at_panel(), "later"), failed(at_panel(), "later")):
            assert merge(once, with_tools("a", later)) == once
