"""The `.venv` of this checkout: made once, filled by pip, checked at each start.

Standard library only, because it runs before anything is installed. Stamp files record what is
installed, so that a second start installs nothing. Each failure is one sentence.
"""

import hashlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
SCRIPTS, EXECUTABLE = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
PYTHON = VENV / SCRIPTS / EXECUTABLE
STAMPS = ".installed"  # folder inside an environment: which requirements it has
SHOWN_LINES = 6  # lines of pip's last output shown after a failure
# What to do where Python has no module `venv`, by `sys.platform`.
WITHOUT_VENV = {
    "linux": " On Debian and Ubuntu, 'apt install python3-venv' brings what is missing.",
    "win32": " The Python of ComfyUI's portable build cannot make one: start that ComfyUI with"
    " --comfyui DIR, or run this script with a Python from python.org.",
}
# Lines of pip's output that are shown as progress.
DOWNLOADING = re.compile(r"^\s*Downloading (?P<file>[^ /]+) (?P<size>\(.*\))")
INSTALLING = re.compile(r"^(Installing collected packages|Building wheel)")


class SetupError(Exception):
    """The set-up cannot go on; the message says why and what the user can do."""


@dataclass(frozen=True)
class Requirements:
    """A requirements file; `no_deps`: its packages are installed without their dependencies."""

    title: str
    file: Path
    no_deps: bool = False

    def fingerprint(self) -> str:
        """A hash of the file."""
        return hashlib.sha256(self.file.read_bytes()).hexdigest()


PLUGIN = Requirements("what the plugin needs", ROOT / "requirements.txt")
PREVIEW = Requirements("ComfyUI's front end", ROOT / "preview" / "requirements.txt", no_deps=True)
DEMO = Requirements("the demo model", ROOT / "preview" / "requirements-demo.txt", no_deps=True)
TESTS = Requirements("what the tests need", ROOT / "requirements-dev.txt")


def inside() -> bool:
    """Whether this process runs the environment's Python."""
    return Path(sys.prefix).resolve() == VENV.resolve()


def make() -> None:
    """Make the environment unless it exists and works. Raises `SetupError`."""
    if PYTHON.exists() and works(PYTHON):
        return
    say(f"Making a Python environment in {VENV.name} ...")
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if result.returncode != 0:
        raise SetupError(
            "Python could not make an environment: "
            + last_line(result.stdout + result.stderr)
            + WITHOUT_VENV.get(sys.platform, "")
        )


def works(python: Path | str) -> bool:
    """Whether `python` starts and has pip. Moving the checkout or an upgrade may break it."""
    try:
        command = [str(python), "-c", "import pip"]
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def install(wanted: Sequence[Requirements]) -> None:
    """Install the requirements that are missing. Raises `SetupError` with pip's output."""
    missing = [requirements for requirements in wanted if not is_installed(requirements)]
    for number, requirements in enumerate(missing, start=1):
        step = f" ({number} of {len(missing)})" if len(missing) > 1 else ""
        say(f"Installing {requirements.title}{step} ...")
        arguments = ["--no-deps"] if requirements.no_deps else []
        pip_install(PYTHON, [*arguments, "-r", str(requirements.file)], requirements.title)
        stamp = stamp_of(requirements)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(requirements.fingerprint(), encoding="ascii")


def is_installed(requirements: Requirements) -> bool:
    stamp = stamp_of(requirements)
    return stamp.exists() and stamp.read_text(encoding="ascii") == requirements.fingerprint()


def stamp_of(requirements: Requirements) -> Path:
    name = requirements.file.relative_to(ROOT).with_suffix("").as_posix().replace("/", "-")
    return VENV / STAMPS / name


def pip_install(python: Path | str, arguments: Sequence[str], title: str) -> None:
    """Run `pip install` and show its downloads. Raises `SetupError`."""
    command = [str(python), "-m", "pip", "install", "--no-input", "--progress-bar", "off"]
    command += ["--disable-pip-version-check", *arguments]
    output: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line.rstrip())
            show_progress(line)
    if process.returncode != 0:
        raise SetupError(explain(output, title))


def show_progress(line: str) -> None:
    if match := DOWNLOADING.match(line):
        say(f"  {match['file'].split('-')[0]} {match['size']}")
    elif INSTALLING.match(line):
        say("  unpacking ...")


def explain(output: Sequence[str], title: str) -> str:
    """One sentence about a failed installation, then the last lines of pip's output."""
    text = "\n".join(output)
    if re.search(r"(NewConnection|ConnectTimeout|Name or service not known|Network is unr)", text):
        reason = "the package index cannot be reached. Is this computer online?"
    elif "No space left" in text:
        reason = "the disk is full."
    elif "No matching distribution" in text or "Could not find a version" in text:
        reason = f"there is no package for this Python ({sys.version.split()[0]}) and system."
    else:
        reason = "pip reported an error."
    errors = [line for line in output if line and not line.startswith("WARNING")]
    return "\n  ".join([f"Could not install {title}: {reason}", *errors[-SHOWN_LINES:]])


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given."


def rerun(script: str) -> int:
    """Run the same command with the environment's Python; on POSIX it replaces this process."""
    command = [str(PYTHON), script, *sys.argv[1:]]
    if os.name == "posix":  # on Windows, execv would return to the prompt at once
        sys.stdout.flush()
        os.execv(command[0], command)
    return subprocess.call(command)


def link(path: Path, target: Path) -> None:
    """Make a link to a folder; on Windows a junction, because links need an administrator."""
    if sys.platform == "win32":
        import _winapi

        _winapi.CreateJunction(str(target), str(path))
    else:
        path.symlink_to(target, target_is_directory=True)


def accept_any_text() -> None:
    """Let the output take every path: characters that the terminal's encoding does not have, such
    as Japanese ones in cp1252, are written as `\\u7d75`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Print a line without buffering."""
    print(text, flush=True)
