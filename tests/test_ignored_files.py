"""What `.gitignore` and `.comfyignore` keep out of commits and of the package for users."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.skipif(shutil.which("git") is None, reason="git decides what is ignored")
@pytest.mark.parametrize("ignore", [".gitignore", ".comfyignore"])
def test_files_that_somebody_adds_to_user_context_are_ignored(tmp_path: Path, ignore: str) -> None:
    shipped = (ROOT / "user_context").rglob("*.example")
    ours = [path.relative_to(ROOT).as_posix() for path in shipped] + ["user_context/README.md"]
    theirs = [
        "user_context/SOUL.md",
        "user_context/goals.md",
        "user_context/notes.txt",
        "user_context/skills/poster/SKILL.md",
        "user_context/skills/example/SKILL.md",
    ]
    shutil.copy(ROOT / ignore, tmp_path / ".gitignore")
    for command in (["init", "--quiet"], ["check-ignore", "--no-index", *ours, *theirs]):
        git = subprocess.run(
            ["git", *command], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
        )
    assert sorted(git.stdout.split()) == sorted(theirs)


@pytest.mark.skipif(shutil.which("git") is None, reason="git decides what is ignored")
def test_the_package_for_users_has_the_scripts_that_run_needs_and_no_others(
    tmp_path: Path,
) -> None:
    scripts = {path.stem: path for path in (ROOT / "scripts").glob("*.py")}
    needed, waiting = set(), ["run"]
    while waiting:
        name = waiting.pop()
        if name in scripts and name not in needed:
            needed.add(name)
            tree = ast.walk(ast.parse(scripts[name].read_text(encoding="utf-8")))
            for node in tree:
                if isinstance(node, ast.Import):
                    waiting += [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    waiting.append(node.module)
    shutil.copy(ROOT / ".comfyignore", tmp_path / ".gitignore")
    every = [path.relative_to(ROOT).as_posix() for path in (ROOT / "scripts").rglob("*.py")]
    for command in (["init", "--quiet"], ["check-ignore", "--no-index", *every]):
        git = subprocess.run(
            ["git", *command], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
        )
    shipped = set(every) - set(git.stdout.split())
    assert shipped == {f"scripts/{name}.py" for name in needed}
