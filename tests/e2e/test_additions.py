"""Sources, pictures and blocks that a provider sends with its answer, as a person sees them."""

import base64
import re
import struct
import zlib
from typing import Any

import pytest
from playwright.sync_api import expect
from plugin.tests.e2e.panel import Panel, texts
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.providers import Script, Step

pytestmark = pytest.mark.e2e


def delta(**fields: Any) -> Step:
    return {"chunk": {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}}


def cited(url: str, title: str | None = None) -> dict[str, Any]:
    return {"type": "url_citation", "url_citation": {"url": url, "title": title}}


def picture(width: int, height: int) -> str:
    """A PNG of one colour, as a `data:` URL."""

    def piece(kind: bytes, data: bytes) -> bytes:
        end = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + end

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    row = b"\0" + bytes((214, 120, 40)) * width
    pieces = (
        piece(b"IHDR", head) + piece(b"IDAT", zlib.compress(row * height)) + piece(b"IEND", b"")
    )
    content = base64.b64encode(b"\x89PNG\r\n\x1a\n" + pieces).decode()
    return f"data:image/png;base64,{content}"


ANSWER = Script(
    [
        delta(server_blocks=[{"type": "web_search", "id": "w", "query": "fox at dawn"}]),
        {"text": "A fox at dawn, from **two** guides [1][2]:"},
        delta(images=[{"type": "image_url", "image_url": {"url": picture(640, 400)}}]),
        delta(images=[{"image_url": {"url": "https://pictures.example/fox.png"}}]),
        {"text": "The light is low."},
        delta(
            annotations=[
                cited("https://docs.example/light", "Low light"),
                cited("https://bank.example@evil.example/a", "bank.example \u202ekcol"),
                cited("http://127.0.0.1:8188/api/queue", "Queue"),
                *(cited(f"https://more.example/{n}") for n in range(5)),
            ]
        ),
    ]
)


def test_sources_pictures_and_blocks_are_shown_and_stay_after_a_reload(
    panel: Panel, provider: ProviderThread
) -> None:
    provider.queue(ANSWER)
    panel.ask("Draw a fox")
    panel.idle()
    for _ in range(2):
        shown = panel.answer.get_by_role("region", name="Sources")
        expect(shown.get_by_role("listitem")).to_have_count(6)
        listed = texts(shown.get_by_role("listitem"))
        assert listed[:2] == ["Low light docs.example", "bank.example kcol evil.example"]
        assert listed[3] == "more.example/0"
        light = shown.get_by_role("link", name="Low light")
        expect(light).to_have_attribute("href", "https://docs.example/light")
        expect(light).to_have_attribute("rel", "noopener noreferrer")
        shown.get_by_role("button", name="Show 2 more sources").click()
        expect(shown.get_by_role("listitem")).to_have_count(8)

        made = panel.answer.get_by_role("button", name="Enlarge: Picture in the answer")
        expect(made).to_have_js_property("naturalWidth", 640)
        expect(panel.answer.locator("img")).to_have_count(1)
        link = panel.answer.get_by_role("link", name="Picture at pictures.example")
        expect(link).to_have_attribute("href", "https://pictures.example/fox.png")

        block = panel.answer.get_by_text("From the provider: web search")
        query = panel.answer.get_by_text(re.compile('fox at dawn"'))
        expect(query).to_be_hidden()
        block.click()
        expect(query).to_be_visible()
        panel.reload()
