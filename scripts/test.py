"""Runs every check of this checkout: python scripts/test.py

Makes the same `.venv` as `run.py`, installs what the tests need, and runs the linters, the type
checkers, and all tests; with `--fast` without browser, oracle and slow tests. Each step prints its
name and its time; the exit code is 1 if a step failed. Tests with browsers and with the `ai`
package run beside the others, and what they print is shown when the others have ended.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036  An older Python must be able to print this.
    sys.exit(f"The tests need Python 3.10 or newer; this is {sys.version.split()[0]}.")

import argparse
import os
import platform
import re
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

# An isolated Python (`-I`, ComfyUI's portable build) leaves a script's own folder out.
if (FOLDER := str(Path(__file__).resolve().parent)) not in sys.path:
    sys.path.insert(0, FOLDER)

import check
import environment
import tools
from environment import PYTHON, ROOT, SetupError, say

ENCODING_WARNINGS = {"PYTHONWARNDEFAULTENCODING": "1"}  # see `filterwarnings` in pyproject.toml
# Without it every process of pytest, and every server that a test starts, compiles all modules.
BYTECODE_CACHE = {
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(ROOT / ".cache" / "bytecode"),
}
LINK_PREFIX = str(check.TYPES.relative_to(ROOT) / "plugin") + os.sep
NO_TESTS_COLLECTED = 5  # pytest's exit code
NODE_COUNT = re.compile(r"^\S+ (pass|fail) (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What a step counted: a linter is one test, a test runner as many as it ran."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0


Run = Callable[[TextIO], Outcome]
"""Runs a step, which prints to the file."""


@dataclass(frozen=True)
class Step:
    name: str
    run: Run


def main() -> int:
    environment.accept_any_text()
    arguments = parse_arguments()
    try:
        if not environment.inside():
            environment.make()
            return environment.rerun(str(Path(__file__).resolve()))
        say(f"Python {platform.python_version()} of {environment.VENV.name}")
        environ = prepare(arguments)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    outcomes = all_outcomes(*steps(arguments, environ))
    if not os.environ.get("COMFYUI_DIR"):
        say("\nTests with a real ComfyUI were skipped: set COMFYUI_DIR to its folder to run them.")
    passed, failed, skipped = (
        sum(getattr(outcome, field) for outcome in outcomes)
        for field in ("passed", "failed", "skipped")
    )
    say(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run every check of ComfyUI Assistant.")
    without = "without browser, oracle and slow tests"
    parser.add_argument("--fast", action="store_true", help=without)
    parser.add_argument("-k", metavar="EXPRESSION", help="only pytest's tests that match")
    return parser.parse_args()


def prepare(arguments: argparse.Namespace) -> dict[str, str]:
    """Install what the chosen tests need; returns the environment for them."""
    wanted = [environment.PLUGIN, environment.TESTS, environment.PREVIEW, environment.DEMO]
    environment.install(wanted)
    tools.ensure_npm_packages()
    browser = tools.test_environment(browser=not arguments.fast)
    return {**os.environ, **BYTECODE_CACHE, **ENCODING_WARNINGS, **browser}


def all_outcomes(steps: Sequence[Step], beside: Sequence[Step]) -> list[Outcome]:
    """Runs the steps, and those `beside` them at the same time: both wait much."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as kept:
        with ThreadPoolExecutor(1) as other:
            later = other.submit(lambda: [timed(step, kept) for step in beside])
            outcomes = [timed(step, sys.stdout) for step in steps]
            outcomes += later.result()
        kept.seek(0)
        for line in kept:
            say(line.rstrip("\n"))
    return outcomes


def steps(
    arguments: argparse.Namespace, environ: Mapping[str, str]
) -> tuple[list[Step], list[Step]]:
    """The steps that run one after another, and those that run beside them."""

    def checked(*command: str) -> Run:
        return lambda output: run_check(command, environ, output)

    def pytest(marker: str, *options: str) -> Run:
        selected = ["-k", arguments.k] if arguments.k else []
        return lambda output: run_pytest(["-m", marker, *options, *selected], environ, output)

    python = str(PYTHON)
    # A worker gets whole files, since the fixtures of a file are made once. There are more workers
    # than processors, since tests over HTTP spend half of their time waiting.
    workers = max(2, (os.cpu_count() or 2) * 3 // 2)
    side_by_side = ("-n", str(workers), "--dist", "loadfile")
    beside: list[Step] = []
    if arguments.fast:
        tests = [Step("pytest", pytest("not e2e and not oracle and not slow", *side_by_side))]
    else:
        tests = [Step("pytest", pytest("not e2e and not oracle", *side_by_side))]
        # Each worker has a browser, which alone can use a processor.
        browsers = ("-n", str(min(4, os.cpu_count() or 1)), "--dist", "loadfile")
        beside = [
            Step("pytest: e2e", pytest("e2e", *browsers)),
            Step("pytest: oracle", pytest("oracle")),
        ]
    if arguments.k:
        return tests, beside
    scripts = sorted(map(str, (ROOT / "scripts").glob("*.py")))
    checks = [
        Step("ruff check", checked(python, "-m", "ruff", "check", ".")),
        Step("ruff format", checked(python, "-m", "ruff", "format", "--check", ".")),
        Step("mypy", mypy(environ, "-p", "plugin")),
        Step("mypy scripts", mypy(environ, "--explicit-package-bases", *scripts)),
        Step("tsc", checked(*type_checker())),
        Step("node --test", lambda output: run_node_tests(environ, output)),
    ]
    return [*checks, *tests], beside


def timed(step: Step, output: TextIO) -> Outcome:
    print(f"\n== {step.name}", file=output, flush=True)
    start = time.monotonic()
    outcome = step.run(output)
    verdict = "FAILED" if outcome.failed else "ok"
    took = f"{time.monotonic() - start:.1f} s"
    print(f"== {step.name}: {verdict} in {took}", file=output, flush=True)
    return outcome


def run_check(command: Sequence[str], environ: Mapping[str, str], output: TextIO) -> Outcome:
    """A command that passes or fails as a whole."""
    done = subprocess.run(command, cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT)
    succeeded = done.returncode == 0
    return Outcome(passed=int(succeeded), failed=int(not succeeded))


def mypy(environ: Mapping[str, str], *arguments: str) -> Run:
    """mypy sees the package through a link with its name, whatever this folder is called."""

    def run(output: TextIO) -> Outcome:
        check.link_package()
        command = [str(PYTHON), "-m", "mypy", *arguments]
        variables = {**environ, "MYPYPATH": "scripts"}
        result = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, errors="replace"
        )
        said = (result.stdout + result.stderr).replace(LINK_PREFIX, "").rstrip()
        print(said, file=output, flush=True)
        succeeded = result.returncode == 0
        return Outcome(passed=int(succeeded), failed=int(not succeeded))

    return run


def type_checker() -> list[str]:
    """The TypeScript compiler over the panel and its tests, as `jsconfig.json` says."""
    modules = tools.NODE_CACHE / "tools" / "node_modules"
    compiler = modules / "typescript" / "bin" / "tsc"
    return [
        tools.node(),
        str(compiler),
        "-p",
        "jsconfig.json",
        "--typeRoots",
        str(modules / "@types"),
    ]


def run_node_tests(environ: Mapping[str, str], output: TextIO) -> Outcome:
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/web").rglob("*.test.*js"))
    command = [tools.node(), "--test", *files]
    result = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, errors="replace"
    )
    counts = {name: int(number) for name, number in NODE_COUNT.findall(result.stdout)}
    if result.returncode != 0 or not counts.get("pass"):
        print(result.stdout + result.stderr, file=output, flush=True)
        return Outcome(counts.get("pass", 0), max(1, counts.get("fail", 0)))
    print(f"{counts['pass']} passed", file=output, flush=True)
    return Outcome(counts["pass"])


def run_pytest(arguments: Sequence[str], environ: Mapping[str, str], output: TextIO) -> Outcome:
    """pytest's own output, counted from the report that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [str(PYTHON), "-m", "pytest", "-q", f"--junitxml={report}", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environ, stdout=output, stderr=subprocess.STDOUT
        )
        code = done.returncode
        if code == NO_TESTS_COLLECTED:
            return Outcome()
        if not report.exists():
            return Outcome(failed=1)
        suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    total, failures, errors, skipped = (
        int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")
    )
    failed = failures + errors
    return Outcome(total - failed - skipped, failed or int(code != 0), skipped)


if __name__ == "__main__":
    sys.exit(main())
