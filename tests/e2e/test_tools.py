"""Tools in the panel: the line of a finished call, and the card that asks for a decision."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect
from plugin.tests.e2e.panel import SUBSCRIBE, Panel, tell_snapshot
from plugin.tests.e2e.provider import ProviderThread, new_wait
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e


def skill(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"How to work with {name}.",
        "instructions": f"Begin with {name}.",
    }


def stored_skills(panel: Panel) -> list[str]:
    names: list[str] = panel.evaluate(
        "() => fetch('/api/user-context/skills').then(answer => answer.json())"
        ".then(({skills}) => skills.map(skill => skill.name))"
    )
    return names


def ask_for_a_skill(panel: Panel, provider: ProviderThread, name: str, answer: str) -> Locator:
    """The card that asks for the decision; `answer` is the model's text after the decision."""
    provider.queue(Script([tool_call("createUserSkill", skill(name))]), answer)
    panel.ask(f"Remember how I work with {name}")
    card = panel.answer.get_by_role("group", name="Save this skill?")
    expect(card).to_contain_text(name)
    return card


def test_a_tool_call_is_one_line_in_words_that_unfolds(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([tool_call("getWorkflowInfo")]), "Done reading.")
    panel.ask("Read it")
    expect(panel.answer).to_contain_text("Done reading.")
    assert "getWorkflowInfo" not in panel.answer.inner_text()
    panel.answer.get_by_text("Read the workflow").click()
    expect(panel.answer).to_contain_text("Arguments")
    expect(panel.answer).to_contain_text("Result")
    expect(panel.answer).to_contain_text("KSampler")
    expect(panel.answer).to_contain_text("getWorkflowInfo")


def test_a_tool_that_fails_says_so_and_the_turn_goes_on(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([tool_call("getUserSkill", {"slug": "nowhere"})]), "There is none.")
    panel.ask("Use the skill nowhere")
    expect(panel.answer).to_contain_text("There is none.")
    expect(panel.answer).to_contain_text("failed")


def test_words_before_and_after_a_tool_keep_their_order(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(Script([{"text": "I look first."}, tool_call("getWorkflowInfo")]), "Now I know.")
    panel.ask("Look")
    panel.idle()
    said = panel.answer.inner_text()
    assert said.index("I look first.") < said.index("Read the workflow") < said.index("Now I know.")


def test_a_running_tool_turn_shows_that_it_works(panel: Panel, provider: ProviderThread) -> None:
    rest = new_wait()
    provider.queue(
        Script([tool_call("getWorkflowInfo")]), Script([{"wait": rest}, {"text": "Ready."}])
    )
    panel.ask("Look and think")
    expect(panel.answer).to_contain_text("Read the workflow")
    expect(panel.log.get_by_text("Working")).to_be_visible()
    provider.release(rest)
    expect(panel.answer).to_contain_text("Ready.")
    expect(panel.log.get_by_text("Working")).to_be_hidden()


def test_nothing_is_saved_before_the_user_allows_it(panel: Panel, provider: ProviderThread) -> None:
    card = ask_for_a_skill(panel, provider, "soft light", "Saved it.")
    assert "soft light" not in stored_skills(panel)
    card.get_by_role("button", name="Once").click()
    expect(panel.answer).to_contain_text("Saved it.")
    assert "soft light" in stored_skills(panel)
    expect(card).to_have_count(0)


def asking_in_mid_turn(route: Route) -> None:
    """Answers with a chat whose running turn shows a card, and is not paused yet."""
    call = {
        "type": "dynamic-tool",
        "toolName": "createUserSkill",
        "toolCallId": "t",
        "state": "approval-requested",
        "input": skill("early decision"),
        "approval": {"id": "t"},
    }
    message = {"id": "a", "role": "assistant", "parts": [call]}
    runtime = {"state": "generating", "waiting": [], "saving": {"ok": True}}
    tell_snapshot(route, stream={"message": message, "chunks": []}, runtime=runtime)


def test_a_question_is_decided_only_when_its_turn_has_paused(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue("Yes.")
    panel.ask("A chat of this tab")
    panel.idle()
    panel.page.route(SUBSCRIBE, asking_in_mid_turn)
    try:
        panel.reload()
        card = panel.answer.get_by_role("group", name="Save this skill?")
        for name in ("Once", "No"):
            expect(card.get_by_role("button", name=name)).to_be_disabled()
    finally:
        panel.page.unroute(SUBSCRIBE)
        panel.reload()


def test_what_is_refused_is_not_done_and_the_model_learns_it(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_for_a_skill(panel, provider, "hard light", "Then not.")
    card.get_by_role("button", name="No").click()
    expect(panel.answer).to_contain_text("Then not.")
    assert "hard light" not in stored_skills(panel)
    assert provider.last_messages[-1]["role"] == "tool"


def test_the_saving_of_a_skill_is_asked_each_time(panel: Panel, provider: ProviderThread) -> None:
    card = ask_for_a_skill(panel, provider, "first of many", "One.")
    expect(card.get_by_role("button", name="For this chat")).to_have_count(0)
    card.get_by_role("button", name="Once").click()
    expect(panel.answer).to_contain_text("One.")
    panel.idle()
    second = ask_for_a_skill(panel, provider, "second of many", "Two.")
    second.get_by_role("button", name="No").click()
    expect(panel.answer).to_contain_text("Two.")
    assert "second of many" not in stored_skills(panel)


def test_a_question_of_an_earlier_visit_can_still_be_answered(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_for_a_skill(panel, provider, "late decision", "Saved after all.")
    panel.reload()
    card.get_by_role("button", name="Once").click()
    expect(panel.answer).to_contain_text("Saved after all.")
    assert "late decision" in stored_skills(panel)


def test_a_question_is_not_lost_when_the_user_types_another_one(
    panel: Panel, provider: ProviderThread
) -> None:
    card = ask_for_a_skill(panel, provider, "kept in mind", "Saved.")
    panel.ask("And what is a VAE?")
    waiting = panel.root.get_by_role("list", name="Waiting messages").get_by_role("listitem")
    expect(waiting).to_contain_text("And what is a VAE?")
    expect(panel.root.get_by_text("Sent when you have decided above.")).to_be_visible()
    provider.queue("It decodes.")
    card.get_by_role("button", name="Once").click()
    expect(panel.answer).to_contain_text("It decodes.")
    expect(waiting).to_have_count(0)
    assert "kept in mind" in stored_skills(panel)
