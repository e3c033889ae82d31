"""What a request has of the knowledge that its turn needs: the goals of the context engine, beside
its peers and beside an earlier version of itself, in one run.

    python bench/sense.py [--locomo locomo10.json] [--realtalk FOLDER] [--rows locomo talks ...]
        [--sample N] [--lived] [--modes none auto] [--set VARIABLE=VALUE ...] [--only NAME ...]
        [--against REVISION] [--out FOLDER]

`locomo10.json` is `data/locomo10.json` of github.com/snap-research/locomo, FOLDER has the files
`data/Chat_*.json` of github.com/danny911kr/REALTALK; without them their rows are left out. Peers
are installed from PyPI as by `peers.py`; `--only ours` asks none of them. `--sample N` asks about N
questions of each row, and takes 4 N messages of each log. The conversations of the two sets are
imported as a whole; `--lived` makes them turn by turn, which takes minutes. `--set` changes a
setting for ours, such as `LLM_RECALL_TOKENS=800`; without it all are the defaults. `--against`
measures the commit REVISION with these same modules.

FOLDER (`.cache/bench`) gets `sense.json` and `sense.md`. All figures are shares or ratios, but for
tokens and milliseconds.
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import asyncio  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
from typing import Any  # noqa: E402

from plugin.assistant.environment import load_settings  # noqa: E402
from plugin.bench.environments import ROOT  # noqa: E402
from plugin.bench.revision import measured_at  # noqa: E402
from plugin.bench.sense_row import Options  # noqa: E402
from plugin.bench.sense_rows import ROWS, Row  # noqa: E402
from plugin.bench.sense_table import markdown  # noqa: E402

OURS = "ours"
SEED = 1


def main() -> None:
    arguments = _parser().parse_args()
    logging.getLogger("comfyui_assistant").setLevel(logging.ERROR)
    arguments.out.mkdir(parents=True, exist_ok=True)
    options = Options(
        locomo=arguments.locomo,
        realtalk=arguments.realtalk,
        sample=arguments.sample,
        lived=arguments.lived,
        modes=tuple(arguments.modes),
        peers=None if arguments.only is None else tuple(arguments.only),
        seed=arguments.seed,
        changed=_settings(arguments.set),
        folder=arguments.out,
    )
    results: dict[str, Any] = {"rows": []}
    if arguments.against:
        results["against"] = arguments.against
        results["before"] = measured_at(arguments.against, arguments.rows, options)
    for row in _chosen(arguments.rows):
        results["rows"] += [figure.to_json() for figure in asyncio.run(row.measure(options))]
        text = markdown(results)
        written = json.dumps(results, indent=1, ensure_ascii=False)
        (arguments.out / "sense.json").write_text(written + "\n", encoding="utf-8")
        (arguments.out / "sense.md").write_text(text, encoding="utf-8")
    print(markdown(results))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the goals of the context engine.")
    parser.add_argument("--locomo", type=Path, metavar="FILE.json")
    parser.add_argument("--realtalk", type=Path, metavar="FOLDER")
    parser.add_argument("--rows", nargs="+", choices=[row.name for row in ROWS], metavar="ROW")
    parser.add_argument("--sample", type=int, metavar="N", help="about N questions of each row")
    parser.add_argument("--lived", action="store_true", help="turn by turn, not imported")
    parser.add_argument("--modes", nargs="+", choices=("none", "auto"), default=("none", "auto"))
    parser.add_argument(
        "--only", action="append", metavar="NAME", help=f"`{OURS}`, or a peer such as litellm_trim"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="of the talks")
    parser.add_argument("--set", action="append", default=[], metavar="VARIABLE=VALUE")
    parser.add_argument("--against", metavar="REVISION", help="a commit to be measured, too")
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "bench", metavar="FOLDER")
    return parser


def _settings(given: list[str]) -> dict[str, str]:
    """The variables of `--set`. Exits with a sentence about a fault."""
    changed = dict(one.partition("=")[::2] for one in given)
    if problems := load_settings(changed).problems:
        raise SystemExit(problems[0].message)
    return changed


def _chosen(names: list[str] | None) -> list[Row]:
    return [row for row in ROWS if names is None or row.name in names]


if __name__ == "__main__":
    main()
