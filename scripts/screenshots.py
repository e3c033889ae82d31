"""Makes the pictures of the documentation again: python scripts/screenshots.py

The real panel in the stock front end, answered by the scripted provider, so that the pictures stay
the same while the code behind them changes. Needs what `scripts/test.py` installs.
"""

import argparse
import io
import json
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()

import card_scenes  # noqa: E402
import memory_scenes  # noqa: E402
import tools  # noqa: E402
from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, expect  # noqa: E402
from plugin.tests.browsers import running_browser  # noqa: E402
from plugin.tests.e2e.long_chat import (  # noqa: E402
    SEED,
    import_chat,
    open_chat,
    picture_session,
)
from plugin.tests.e2e.panel import Panel, opened_panel  # noqa: E402
from plugin.tests.e2e.provider import ProviderThread, running_provider  # noqa: E402
from plugin.tests.hosts import running_preview  # noqa: E402
from plugin.tests.providers import Script, text, tool_call  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WINDOW = {"width": 1360, "height": 850}
SIDE_BAR = 420  # pixels
THINKING = 1.8  # seconds; the picture shows this time
SCALE = 2  # the pictures are read on dense screens
COLOURS = 256  # of a palette: enough for a user interface, in a third of the bytes
PATIENCE = 60_000  # milliseconds for a step of a scene
MODEL = "qwen3:8b"
PORT = 11435  # beside Ollama's own, which may be in use; the same in every picture
WINDOW_TOKENS = 16384
LONG = 1000  # turns of the long chat
# Fits the workflow into the part of the canvas beside the panel: the front end's "fit" ignores
# panels.
CENTRE_WORKFLOW = """() => {
    const {canvas, rootGraph} = window.app
    const shown = canvas.canvas.getBoundingClientRect()
    const left = document.querySelector('.ca-panel').getBoundingClientRect().right + 24
    const top = 96, right = innerWidth - 24, bottom = innerHeight - 72
    const boxes = rootGraph.nodes.map(node => node.boundingRect)
    const x = Math.min(...boxes.map(box => box[0])), y = Math.min(...boxes.map(box => box[1]))
    const width = Math.max(...boxes.map(box => box[0] + box[2])) - x
    const height = Math.max(...boxes.map(box => box[1] + box[3])) - y
    const scale = Math.min((right - left) / width, (bottom - top) / height)
    canvas.ds.scale = scale
    canvas.ds.offset[0] = (left + (right - left - width * scale) / 2 - shown.x) / scale - x
    canvas.ds.offset[1] = (top + (bottom - top - height * scale) / 2 - shown.y) / scale - y
    canvas.setDirty(true, true)
}"""
QUIET = {"Comfy.Minimap.Visible": False}

QUESTION = "Explain this workflow step by step. Does my negative prompt do anything?"
THOUGHT = "The KSampler runs at cfg 1.0, so the negative conditioning is never weighed in."
ANSWER = """This makes a **1024 × 1024** picture with **Z-Image Turbo**:

1. *Load Diffusion Model* and *Load CLIP* bring the model and its text encoder `qwen_3_4b`.
2. Two *CLIP Text Encode* nodes turn your prompts into conditioning.
3. *KSampler* draws it in **8 steps** with `res_multistep`, *VAE Decode* makes the pixels.

**Your negative prompt does nothing here.** At `cfg` 1.0 the sampler never compares the two \
prompts. To exclude something, say what you want instead:

```text
clean hands, five fingers, simple background
```

Raising `cfg` would switch it on, but turbo models get harsh above 2.
"""
AGAIN = f"""Set these on *KSampler*, then queue the workflow:

- `seed` {SEED}, and `control_after_generate` to `fixed`
- `sampler_name` to `heun`
- `steps` to 27

With the prompt and the model of then, the picture is the same. If the prompt was changed since, \
I can look for that, too. **Queue** it with Ctrl + Enter.
"""
SKILL = {
    "name": "Campfire light",
    "description": "Warm light and colours for night scenes outdoors.",
    "instructions": (
        "Add to the prompt: warm campfire light, soft orange rim light, deep blue shadows.\n"
        "Keep cfg at 1.0 and 8 steps for Z-Image Turbo."
    ),
}


@dataclass(frozen=True)
class Scene:
    """A picture: `play` makes the panel's state, the flags say how much of the page the picture
    shows, its theme, and whether the demo model, no model or the scripted provider answers.
    `width` is that of the side bar, in pixels."""

    name: str
    play: Callable[[Panel, ProviderThread], None]
    whole_page: bool = False
    light: bool = False
    demo: bool = False
    none: bool = False
    width: int = SIDE_BAR


def explained(panel: Panel, provider: ProviderThread) -> None:
    provider.queue(
        Script([tool_call("getWorkflowInfo")]),
        Script([{"reasoning": THOUGHT}, {"pause": THINKING}, {"text": ANSWER}]),
    )
    panel.ask(QUESTION)
    expect(panel.answer).to_contain_text("harsh above 2")
    panel.idle()


def first_run(panel: Panel, provider: ProviderThread) -> None:
    expect(panel.root.get_by_text("You can try it with the demo model")).to_be_visible()


def no_model(panel: Panel, provider: ProviderThread) -> None:
    expect(panel.root.get_by_text("Choose where answers come from")).to_be_visible()


def empty(panel: Panel, provider: ProviderThread) -> None:
    panel.button("Start").click()
    expect(panel.root.get_by_text("What shall we make?")).to_be_visible()


def approval(panel: Panel, provider: ProviderThread) -> None:
    said = {"text": "I can keep that look as a skill, so that you need not describe it again."}
    provider.queue(Script([said, tool_call("createUserSkill", SKILL)]))
    panel.ask("Remember how we lit the campfire scene, I want that look again.")
    panel.idle()


def meter(panel: Panel, provider: ProviderThread) -> None:
    explained(panel, provider)
    panel.root.get_by_role("button", name="Show what the model sees").click()


def context(panel: Panel, provider: ProviderThread) -> None:
    """A long chat whose last answer recalls an early message, with the meter open."""
    provider.queue(text("Then keep it, and raise the steps."))
    import_chat(panel.url.rstrip("/"), "long", picture_session(LONG))
    open_chat(panel, "long")
    wanted = {"query": "seed of the violin player"}
    provider.queue(
        Script([tool_call("history_search", wanted)]),
        text(f"It was **{SEED}**, with `heun` and 27 steps."),
    )
    panel.ask("Which seed did the portrait of the violin player have?")
    expect(panel.answer).to_contain_text(str(SEED))
    panel.idle()
    provider.queue(text(AGAIN))
    panel.ask("And how do I make it once more?")
    expect(panel.answer).to_contain_text("Queue")
    panel.idle()
    panel.root.get_by_role("button", name="Show what the model sees").click()


TALKED = (
    ("Batch of 40 product shots on white", "Queue them in four batches of ten."),
    ("Why is my ControlNet ignored?", "Its strength is 0.0, so it changes nothing."),
    ("Flux portrait study, soft window light", "A large window from the left gives soft light."),
    ("Which upscaler keeps skin natural?", "Try 4x UltraSharp, then resize to half of it."),
)
PIN_OLDEST = """async () => {
    const {chats} = await (await fetch('/api/chats')).json()
    await fetch(`/api/chats/${chats.at(-1).id}`, {method: 'PATCH', body: '{"pinned": true}',
        headers: {'Content-Type': 'application/json'}})
}"""
WAITING = "And once more without the negative prompt."


def chats(panel: Panel, provider: ProviderThread) -> None:
    for asked, said in TALKED:
        provider.queue(said)
        panel.new_chat()
        panel.ask(asked)
        expect(panel.answer).to_contain_text(said)
        panel.idle()
    panel.evaluate(PIN_OLDEST)
    panel.button("Chats").click()
    expect(panel.root.get_by_text("Pinned")).to_be_visible()


def versions(panel: Panel, provider: ProviderThread) -> None:
    """An edited question, an unfinished answer to it, and a queued message."""
    explained(panel, provider)
    panel.root.get_by_role("article").first.hover()
    panel.button("Edit").first.click()
    box = panel.root.get_by_role("textbox", name="Edit what you asked")
    box.fill("Explain this workflow in two sentences.")
    begun = {"text": "It makes a **1024 × 1024** picture with Z-Image Turbo in 8 steps. "}
    provider.queue(Script([begun, {"wait": "rest"}, {"text": "Nothing else runs."}]))
    box.press("Enter")
    expect(panel.answer).to_contain_text("in 8 steps")
    panel.ask(WAITING)
    expect(panel.root.get_by_text(WAITING)).to_be_visible()


def settings(panel: Panel, provider: ProviderThread) -> None:
    panel.button("Settings").click()
    provider.queue(text("Ready."), Script([tool_call("ping", {"word": "pong"})]))
    panel.button("Test").first.click()
    expect(panel.root.get_by_text("Tools", exact=True)).to_be_visible()


def error(panel: Panel, provider: ProviderThread) -> None:
    refusal = {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}
    provider.queue(Script(status=401, body=refusal))
    panel.ask("Which sampler suits Flux?")
    expect(panel.button("Enter key")).to_be_visible()


SCENES = (
    Scene("panel", explained, whole_page=True),
    Scene("panel-light", explained, whole_page=True, light=True),
    Scene("first-run", first_run, demo=True),
    Scene("no-model", no_model, none=True),
    Scene("empty", empty),
    Scene("approval", approval),
    Scene("meter", meter),
    Scene("context", context),
    Scene("chats", chats),
    Scene("versions", versions),
    Scene("settings", settings),
    Scene("error", error),
    *(
        Scene(name + suffix, play, light=bool(suffix), width=card_scenes.WIDTH)
        for suffix in ("", "-light")
        for name, play in {**card_scenes.CARDS, **memory_scenes.SCENES}.items()
    ),
)


@contextmanager
def running_host(scene: Scene, provider: ProviderThread) -> Iterator[str]:
    environ = {"ASSISTANT_DISCOVER": "0"}
    if scene.demo:
        environ["ASSISTANT_DEMO_MODEL"] = "1"
    with (
        tempfile.TemporaryDirectory() as folder,
        running_preview(environ, Path(folder)) as url,
    ):
        yield url


def use_provider(panel: Panel, address: str) -> None:
    """Stores the provider at `address` as the settings would, under a name that people know."""
    body = json.dumps({"base_url": address, "model": MODEL, "context_window": WINDOW_TOKENS})
    panel.evaluate(
        """async body => {
            const send = (method, path, body) => fetch(`/api/assistant/providers/Ollama${path}`,
                {method, body, headers: {'Content-Type': 'application/json'}})
            await send('PUT', '', body)
            await send('POST', '/activate', '{}')
        }""",
        body,
    )


def set_the_stage(panel: Panel, scene: Scene) -> None:
    """Sets the theme, the side bar and the canvas to the state that all pictures share."""
    chosen = {**QUIET, "Comfy.ColorPalette": "light" if scene.light else "dark"}
    for name, value in chosen.items():
        panel.evaluate(
            "([name, value]) => window.app.extensionManager.setting.set(name, value)",
            [name, value],
        )
    box = panel.root.bounding_box()
    assert box is not None
    mouse = panel.page.mouse
    edge, middle = box["x"] + box["width"], box["y"] + box["height"] / 2
    mouse.move(edge + 1, middle)
    mouse.down()
    mouse.move(edge + scene.width - box["width"], middle, steps=4)
    mouse.up()
    panel.evaluate(CENTRE_WORKFLOW)
    mouse.move(edge + scene.width, 2)


def take(scene: Scene, browser: Browser) -> bytes:
    with (
        running_provider(models=(MODEL,), port=PORT) as provider,
        running_host(scene, provider) as url,
        opened_panel(browser, url, viewport=WINDOW, device_scale_factor=SCALE) as panel,
    ):
        if not (scene.demo or scene.none):
            use_provider(panel, provider.base_url)
            panel.reload()
        set_the_stage(panel, scene)
        scene.play(panel, provider)
        panel.page.mouse.move(0, 0)  # texts that a pointer shows have times
        panel.page.evaluate("() => document.activeElement?.blur()")
        target = panel.page if scene.whole_page else panel.root
        return target.screenshot(animations="disabled", caret="hide")


def smaller(png: bytes) -> bytes:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    written = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the pictures of the documentation again.")
    parser.add_argument("names", nargs="*", help="only these pictures")
    parser.add_argument("--to", type=Path, default=IMAGES, help="the folder they go to")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=PATIENCE)
    with running_browser(tools.ensure_chromium()) as browser:
        for scene in SCENES:
            if options.names and scene.name not in options.names:
                continue
            picture = smaller(take(scene, browser))
            (options.to / f"{scene.name}.png").write_bytes(picture)
            print(f"{scene.name}.png  {len(picture) // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
