"""Longest tasks of the page while the panel shows hostile answers:

    python bench/panel_render.py [--only NAME] [--limit SECONDS]

Each answer of `tests/web/hostile.js` comes to a real Chromium in 200 pieces, in ComfyUI's own
front end with its own renderer; then its chat is left and opened again. The table has, for both,
the longest task (milliseconds, with layout; 0: under 50), the number of tasks over 50 ms, and the
seconds until the panel stands still. "over": it was still drawing at the limit.
"""

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()

import argparse  # noqa: E402  the package has its name only now
import shutil  # noqa: E402
import tempfile  # noqa: E402

from playwright.sync_api import expect  # noqa: E402
from plugin.tests.browsers import running_browser  # noqa: E402
from plugin.tests.e2e.conftest import configured  # noqa: E402
from plugin.tests.e2e.hostile import Seen, hostile_texts, opened, streamed  # noqa: E402
from plugin.tests.e2e.panel import opened_panel  # noqa: E402
from plugin.tests.e2e.provider import running_provider  # noqa: E402
from plugin.tests.hosts import running_preview  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="a part of the name of the answers to show")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for each answer")
    options = parser.parse_args()
    texts = {name: text for name, text in hostile_texts().items() if options.only in name}
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("There is no Chromium.")
    expect.set_options(timeout=options.limit * 1000)
    print(f"{'answer':30}{'length':>10}{'streamed':>24}{'opened':>24}")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_provider() as provider,
        running_preview(configured(provider), Path(folder)) as url,
        running_browser(executable) as browser,
        opened_panel(browser, url) as panel,
    ):
        for name, text in texts.items():
            question = f"Show {name}"
            first = streamed(panel, provider, question, text, options.limit)
            both = (first, opened(panel, question, options.limit))
            row = "".join(f"{figures(seen):>24}" for seen in both)
            print(f"{name:30}{len(text):>10,}{row}", flush=True)


def figures(seen: Seen) -> str:
    """The longest task, the number of long tasks, and the seconds."""
    took = f"{seen.seconds:.1f}" if seen.drawn else "over"
    return f"{seen.longest:.0f} {seen.over_50:4} {took:>6}"


if __name__ == "__main__":
    main()
