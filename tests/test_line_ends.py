"""Line ends: the same prompts and skills, whatever a check-out made of their line ends."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from plugin.user_context_loader import SkillLibrary, load_compact_context, load_sections

ROOT = Path(__file__).resolve().parent.parent
READ = ("assistant/prompts/*.j2", "system_context/**/*.md", "user_context/**/*.example")
"""The files whose text a model gets."""
# Renders each template from a copy of the package, in a process of its own.
RENDER = """
import hashlib, sys
from pathlib import Path
root = Path(sys.argv[1])
sys.path.insert(0, str(root / "scripts"))
from bootstrap import register
register(root)
from plugin import agent_prompts
from plugin.user_context_loader import UserContext, load_system_context
def digest():
    text = load_system_context(root / "system_context").text
    made = [
        agent_prompts.get_system_message(text, UserContext(), ""),
        agent_prompts.get_system_message("", UserContext(), "", tools=False),
        agent_prompts.get_compact_system_message(text, UserContext(), 100_000),
        agent_prompts.get_system_message_continuation(UserContext(), 5_000),
    ]
    assert all(prompt.text for prompt in made)
    return hashlib.sha256("|".join(prompt.text for prompt in made).encode()).hexdigest()
print(digest())
if len(sys.argv) > 2:
    for template in (root / "assistant" / "prompts").glob("*.j2"):
        template.write_text("An update", encoding="utf-8")
    agent_prompts._TEMPLATES.cache.clear() if sys.argv[2] == "forgotten" else None
    print(digest())
"""


def copy_of_the_package(folder: Path) -> Path:
    root = folder / "plugin"
    kept = shutil.ignore_patterns("__pycache__")
    for name in ("assistant", "system_context", "user_context"):
        shutil.copytree(ROOT / name, root / name, ignore=kept)
    (root / "scripts").mkdir()
    for name in ("agent_prompts.py", "user_context_loader.py", "scripts/bootstrap.py"):
        shutil.copy(ROOT / name, root / name)
    return root


def shipped(root: Path) -> list[Path]:
    found = sorted(path for pattern in READ for path in root.glob(pattern))
    assert len(found) > 10
    return found


def with_crlf(root: Path) -> None:
    for path in shipped(root):
        content = path.read_bytes()
        assert b"\r" not in content, f"{path} has CRLF already"
        path.write_bytes(content.replace(b"\n", b"\r\n"))


def rendered(root: Path, *arguments: str) -> list[str]:
    command = [sys.executable, "-c", RENDER, str(root), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def skills_of(root: Path) -> str:
    """A hash of all that is read of the shipped files, but for the templates."""
    library = SkillLibrary(root / "system_context", root / "nobody")
    read = [
        *(section.text for section in load_sections(root / "system_context")),
        load_compact_context(root / "system_context"),
        *(library.get_system(skill.slug).instructions for skill in library.list_system()),
    ]
    assert len(read) > 5 and all(read)
    return hashlib.sha256("|".join(read).encode()).hexdigest()


@pytest.mark.slow
def test_a_check_out_with_crlf_has_the_same_prompts_and_skills(tmp_path: Path) -> None:
    root = copy_of_the_package(tmp_path)
    before = rendered(root), skills_of(root)
    with_crlf(root)
    assert (rendered(root), skills_of(root)) == before


@pytest.mark.slow
@pytest.mark.parametrize("templates", ["known", "forgotten"])
def test_templates_that_an_update_replaces_are_used_after_a_restart_only(
    tmp_path: Path, templates: str
) -> None:
    root = copy_of_the_package(tmp_path)
    before, after = rendered(root, templates)
    assert after == before
    assert rendered(root) != [before]


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the check-out")
def test_git_checks_the_files_out_with_lf_whatever_the_user_s_settings(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    origin.mkdir()
    shutil.copy(ROOT / ".gitattributes", origin)
    shutil.copytree(ROOT / "system_context", origin / "system_context")
    shutil.copy(ROOT / "docs" / "images" / "empty.png", origin)
    author = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    windows = ["-c", "core.autocrlf=true", "-c", "core.eol=crlf"]
    for command in (
        ["init", "--quiet", "."],
        ["add", "."],
        [*author, "commit", "--quiet", "-m", "Files"],
        [*windows, "clone", "--quiet", *windows, ".", str(tmp_path / "clone")],
    ):
        subprocess.run(["git", *command], cwd=origin, check=True, capture_output=True)
    names = sorted(path.relative_to(origin) for path in origin.rglob("*") if path.is_file())
    names = [name for name in names if name.parts[0] != ".git"]
    assert len(names) > 5
    for name in names:
        assert (tmp_path / "clone" / name).read_bytes() == (origin / name).read_bytes(), name
