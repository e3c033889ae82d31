"""The edit tasks of `tests/edits`, done by the product: in Chromium, over HTTP, or as models mangle
them.

    python bench/edits.py                  in the stock front end: page, panel, one undo step
    python bench/edits.py --snapshot       over plain HTTP, without a panel
    python bench/edits.py --mangle         operations as models get them wrong

    --only NAME ...   these tasks      --sample N   N tasks, spread over the kinds
    --seed S          of the mangling  --out FILE   the outcomes as JSON; stdout without it

The expected prompts are those that the stock front end gave for the same changes by hand. A task is
exact where the prompt is the expected one and, in Chromium, one Ctrl+Z gives the workflow and the
prompt from before, and Ctrl+Y the edited ones again.
"""

import argparse
import json
import runpy
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()
sys.path.insert(0, str(ROOT / "scripts"))

import tools  # noqa: E402
from plugin.bench import edit_canvas, edit_mangle, edit_snapshot  # noqa: E402
from plugin.bench.edit_outcomes import EXACT, Outcome, table  # noqa: E402
from plugin.tests.edits.task import Task, all_tasks  # noqa: E402

WRITE_AFTER = 5.0  # seconds


def spread(tasks: Sequence[Task], count: int) -> list[Task]:
    """So many tasks: one of each kind, then a second of each, and so on."""
    kinds: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        kinds[task.kind].append(task)
    rounds = max(len(one) for one in kinds.values())
    ordered = [one[turn] for turn in range(rounds) for one in kinds.values() if turn < len(one)]
    return ordered[:count]


def chosen(only: Sequence[str], count: int | None) -> list[Task]:
    """The tasks that the command names. Raises `SystemExit` for a name that no task has."""
    tasks = list(all_tasks())
    names = {task.name for task in tasks}
    if wrong := [name for name in only if name not in names]:
        raise SystemExit(f"There is no task {', '.join(wrong)}.")
    if only:
        tasks = [task for task in tasks if task.name in only]
    return tasks if count is None else spread(tasks, count)


def followed(outcomes: Iterable[Outcome], out: Path | None) -> list[Outcome]:
    """The outcomes, with a line on stderr for each that is not exact as soon as it is known.

    `out` has those that were known a few seconds ago, so that a run that is stopped leaves them.
    """
    found: list[Outcome] = []
    written = time.monotonic()
    for outcome in outcomes:
        found.append(outcome)
        if out is not None and time.monotonic() > written + WRITE_AFTER:
            written = time.monotonic()
            out.write_text(as_json(found), encoding="utf-8")
        if outcome.end != EXACT:
            faults = "; ".join(outcome.faults[:3])
            print(f"{outcome.name}: {outcome.end}: {faults}", file=sys.stderr, flush=True)
    return found


def as_json(outcomes: Sequence[Outcome]) -> str:
    listed = [asdict(one) for one in outcomes]
    return json.dumps(listed, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--sample", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--snapshot", action="store_true")
    way.add_argument("--mangle", action="store_true")
    given = parser.parse_args()
    tasks = chosen(given.only, given.sample)
    if given.mangle:
        ends = edit_mangle.outcomes(tasks, given.seed)
    elif given.snapshot:
        ends = edit_snapshot.outcomes(tasks)
    else:
        ends = edit_canvas.outcomes(tools.ensure_chromium(), tasks)
    outcomes = followed(ends, given.out)
    if given.out is None:
        print(as_json(outcomes), end="")
    else:
        given.out.write_text(as_json(outcomes), encoding="utf-8")
    print(table(outcomes), file=sys.stderr)
    return 0 if all(one.end == EXACT for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
