"""What a reader sees does not move while they do not scroll, whatever the panel draws above it."""

from typing import Any

import pytest
from playwright.sync_api import expect
from plugin.tests.e2e.long_chat import import_chat, open_chat
from plugin.tests.e2e.panel import Panel
from plugin.tests.e2e.provider import ProviderThread
from plugin.tests.e2e.reading import reading
from plugin.tests.e2e.test_scale import conversation

pytestmark = pytest.mark.e2e

MESSAGES = 600
SENTENCE = "The sampler keeps the seed while the steps change. "
CODE = "```python\n" + "\n".join(f"value_{line} = {line}" for line in range(18)) + "\n```"
TABLE = "| node | value |\n|---|---|\n" + "\n".join(f"| {row} | {row * 7} |" for row in range(9))
LIST = "\n".join(f"- item {item}\n  - below it" for item in range(7))
# What the messages say, in turn: from one line to several screens.
BODIES = (
    "Short.",
    SENTENCE * 12,
    "\n\n".join(SENTENCE * 3 for _ in range(4)),
    f"Code:\n\n{CODE}\n\nThat is it.",
    "Yes.",
    f"{TABLE}\n\n{LIST}",
    "\n\n".join(f"Block {block}. {SENTENCE}" for block in range(26)),
)


def mixed_chat(length: int) -> list[dict[str, Any]]:
    """`length` messages of many heights, the user's and the assistant's in turn."""
    roles = ("assistant", "user")
    return [
        {
            "id": f"m{number}",
            "role": roles[number % 2],
            "parts": [{"type": "text", "text": f"Message {number}. {BODIES[number % 7]}"}],
        }
        for number in range(1, length + 1)
    ]


FIRST = """() => {
    const first = document.querySelector('.ca-panel [role=log] article')
    return (first.querySelector('.ca-bubble__text, .ca-markdown')?.textContent ?? '').slice(0, 12)
}"""


@pytest.mark.parametrize("kind", ["mixed", "short"])
def test_what_is_read_stays_in_its_place_in_every_frame_up_to_the_beginning(
    panel: Panel, url: str, provider: ProviderThread, kind: str
) -> None:
    provider.queue("The end.")
    messages = mixed_chat if kind == "mixed" else conversation
    import_chat(url, f"read-{kind}", messages(MESSAGES - 1))
    open_chat(panel, f"read-{kind}")
    expect(panel.answer).to_contain_text("The end.")
    with reading(panel) as reader:
        for step in range(3_000):
            top = reader.scroll((-1200, -260, -1900)[step % 3])
            if top == 0:
                reader.read(12)
                if panel.evaluate(FIRST).startswith(("Message 1.", "Message 1 ")):
                    break
        else:
            raise AssertionError("The beginning was never reached.")
    print(reader.frames, reader.compared, len(reader.jumps))
    for jump in reader.jumps[:40]:
        print(jump)
    assert reader.jumps == []
    assert reader.compared > 1000
