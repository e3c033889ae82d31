"""Makes `tests/workflow/data/prompts.json.gz`: what the stock front end makes of each template.

    python scripts/make_prompts.py object_info.json.gz             all templates, full definitions
    python scripts/make_prompts.py object_info.json.gz --compare   with the preview's own catalog

The oracle of the tests in `tests/workflow`: every official template is opened in the stock front
end, in Chromium, with a ComfyUI's own `/object_info`, and `app.graphToPrompt()` gives its API
prompt. The same packages give the same bytes. `--compare` opens the templates with the preview's
catalog instead, prints each difference to the file and exits with 1 if there is one.
"""

import argparse
import gzip
import json
import runpy
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()

import tools  # noqa: E402
from make_catalog import read_object_info  # noqa: E402
from plugin.preview.catalog import Catalog, load_catalog  # noqa: E402
from plugin.tests.browsers import running_browser  # noqa: E402
from plugin.tests.hosts import running_canvas  # noqa: E402
from plugin.tests.prompts import (  # noqa: E402
    PROMPTS,
    prompt_page,
    recorded_prompts,
    template_ids,
    template_text,
)

PACKAGES = ("comfyui-frontend-package", "comfyui-workflow-templates-json")
SHOWN = 20  # differences of one template that are printed


def outcomes(catalog: Catalog, identities: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each template's prompt or error, in the given order."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_canvas(catalog, Path(folder)) as url,
        running_browser(tools.ensure_chromium()) as browser,
        prompt_page(browser, url) as page,
    ):
        for identity in identities:
            yield identity, page.outcome(template_text(identity))


def write(path: Path, comfyui: str, prompts: dict[str, Any]) -> None:
    made = {"comfyui": comfyui, **{name: version(name) for name in PACKAGES}, "prompts": prompts}
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def differences(expected: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where two JSON values differ, as lines `path: expected -> found`."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in {**expected, **found}:
            yield from differences(expected.get(key), found.get(key), f"{place}/{key}")
    elif expected != found:
        yield f"{place}: {json.dumps(expected)[:200]} -> {json.dumps(found)[:200]}"


def compare(identities: list[str]) -> int:
    expected = recorded_prompts()
    equal = 0
    for identity, found in outcomes(load_catalog(), identities):
        differing = list(differences(expected[identity], found))
        equal += not differing
        for line in differing[:SHOWN]:
            print(f"{identity}{line}", flush=True)
    print(f"{equal} of {len(identities)} prompts are equal")
    return 0 if equal == len(identities) else 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the prompts of all official templates.")
    parser.add_argument("object_info", type=Path, help="JSON of /object_info, may be .gz")
    parser.add_argument("--comfyui-version", default="0.33.0", help="the ComfyUI that gave it")
    parser.add_argument("--compare", action="store_true", help="compare the preview's catalog")
    parser.add_argument("--only", nargs="*", help="only these templates")
    parser.add_argument("--to", type=Path, default=PROMPTS, help="the file to write")
    arguments = parser.parse_args()
    identities = arguments.only or template_ids()
    if arguments.compare:
        return compare(identities)
    catalog = Catalog(arguments.comfyui_version, read_object_info(arguments.object_info))
    prompts: dict[str, Any] = {}
    started = time.monotonic()
    for identity, outcome in outcomes(catalog, identities):
        prompts[identity] = outcome
        if len(prompts) % 20 == 0:
            print(
                f"{len(prompts)} of {len(identities)}, {time.monotonic() - started:.0f} s",
                flush=True,
            )
    write(arguments.to, arguments.comfyui_version, prompts)
    failed = sum("error" in outcome for outcome in prompts.values())
    print(f"{len(prompts)} templates, {failed} without a prompt, {arguments.to.stat().st_size:,} B")
    return 0


if __name__ == "__main__":
    sys.exit(main())
