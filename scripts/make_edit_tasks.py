"""Makes `tests/edits/data/prompts.json.gz`: what each edit task gives when it is done by hand.

    python scripts/make_edit_tasks.py object_info.json.gz                  all tasks
    python scripts/make_edit_tasks.py object_info.json.gz --only NAME ...  these; others are kept
    python scripts/make_edit_tasks.py object_info.json.gz --show NAME ...  what changes; no file

The tasks are those of `tests/edits/tasks`. Each template is opened in the stock front end, in
Chromium, with a ComfyUI's own `/object_info`; the change is made there by hand, and
`app.graphToPrompt()` gives the prompt. The same packages give the same bytes.
"""

import argparse
import gzip
import json
import runpy
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()

import tools  # noqa: E402
from make_catalog import read_object_info  # noqa: E402
from playwright.sync_api import Error  # noqa: E402
from plugin.preview.catalog import Catalog  # noqa: E402
from plugin.tests.browsers import running_browser  # noqa: E402
from plugin.tests.edits.page import edit_page  # noqa: E402
from plugin.tests.edits.same_prompt import prompt_differences  # noqa: E402
from plugin.tests.edits.task import RECORDED, Recorded, Task, all_tasks  # noqa: E402
from plugin.tests.hosts import running_canvas  # noqa: E402

PACKAGES = ("comfyui-frontend-package", "comfyui-workflow-templates-json")


def outcomes(catalog: Catalog, tasks: list[Task]) -> Iterator[tuple[Task, Recorded | str]]:
    """Each task with what the front end makes of it, or the front end's error."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_canvas(catalog, Path(folder)) as url,
        running_browser(tools.ensure_chromium()) as browser,
        edit_page(browser, url) as page,
    ):
        for task in tasks:
            try:
                yield task, page.recorded(task)
            except Error as error:
                yield task, error.message.splitlines()[0]


def kept(tasks: tuple[Task, ...]) -> dict[str, Any]:
    """What the file has already, of tasks that there still are."""
    if not RECORDED.exists():
        return {}
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))["tasks"]
    return {task.name: recorded[task.name] for task in tasks if task.name in recorded}


def write(comfyui: str, recorded: dict[str, Any]) -> None:
    made = {
        "comfyui": comfyui,
        **{name: version(name) for name in PACKAGES},
        "tasks": dict(sorted(recorded.items())),
    }
    text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    RECORDED.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def show(task: Task, outcome: Recorded | str) -> None:
    """Print the task's words and operations beside what changed."""
    print(f"== {task.name} ({task.kind}, {task.template}): {task.say}")
    if isinstance(outcome, str):
        print(f"   FAILED: {outcome}")
        return
    for operation in task.operations:
        print(f"   {json.dumps(operation)}")
    print(f"   names {outcome.names}" + (f", noted {outcome.noted}" if outcome.noted else ""))
    for line in prompt_differences(outcome.before, outcome.expected):
        print(f"   {line[:400]}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the expected prompts of the edit tasks.")
    parser.add_argument("object_info", type=Path, help="JSON of /object_info, may be .gz")
    parser.add_argument("--comfyui-version", default="0.33.0", help="the ComfyUI that gave it")
    parser.add_argument("--only", nargs="*", help="only these tasks")
    parser.add_argument("--show", nargs="*", help="print these tasks' changes and write nothing")
    arguments = parser.parse_args()
    wanted = arguments.only or arguments.show
    tasks = [task for task in all_tasks() if not wanted or task.name in wanted]
    catalog = Catalog(arguments.comfyui_version, read_object_info(arguments.object_info))
    recorded = kept(all_tasks()) if arguments.only else {}
    failed = 0
    for task, outcome in outcomes(catalog, tasks):
        show(task, outcome)
        if isinstance(outcome, str):
            failed += 1
            recorded.pop(task.name, None)
        else:
            recorded[task.name] = asdict(outcome)
    if arguments.show is None:
        write(arguments.comfyui_version, recorded)
        print(f"{len(recorded)} tasks, {RECORDED.stat().st_size:,} B")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
