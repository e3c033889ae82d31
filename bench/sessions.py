"""Writes a benchmark log: `python bench/sessions.py --seed 1 --out FOLDER`.

FOLDER gets `log.json` (OpenAI messages), `facts.jsonl` (the planted values), `queries.jsonl` (a
question for each) and `edits.json` (the true net changes, and each edit).
"""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"))[
    "register"
]()

import argparse  # noqa: E402  the package has its name only now
import json  # noqa: E402

from plugin.bench.session import MESSAGES, Session, Shape, write_session  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a ComfyUI-like session as a log.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--messages", type=int, default=MESSAGES, help="at least this many")
    parser.add_argument("--full-share", type=float, default=Shape().full_share)
    parser.add_argument("--giant-share", type=float, default=Shape().giant_share)
    parser.add_argument("--look-weight", type=int, default=Shape().look_weight)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    arguments = parser.parse_args()
    shape = Shape(
        arguments.messages,
        arguments.full_share,
        arguments.giant_share,
        arguments.look_weight,
    )
    save(write_session(arguments.seed, shape), arguments.out)


def save(session: Session, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "log.json", json.dumps(session.messages, ensure_ascii=False))
    _write(folder / "facts.jsonl", _lines(session.facts))
    _write(folder / "queries.jsonl", _lines(session.queries))
    _write(folder / "edits.json", json.dumps(session.edits, ensure_ascii=False, indent=1))


def _lines(rows: list[dict[str, str]] | list[dict[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
