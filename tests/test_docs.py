"""Checks the documents: links have targets, and the names, values and shapes in them are those of
the code. Sections "Not built yet" and requirement rows that are not fully built are left out."""

import dataclasses
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from plugin.assistant import __version__
from plugin.assistant.app import Host, create_assistant
from plugin.assistant.config import Settings
from plugin.assistant.errors import ProviderError
from plugin.tests.hosts import NO_COMFYUI

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "user_context" / "README.md"]
DOCUMENTS += [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
EACH = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))

CODE = ("assistant", "preview", "scripts", "tests")
REQUIREMENTS = ROOT / "docs" / "requirements.md"
FOR_USERS = [ROOT / ".env.example", *DOCUMENTS[:3]]
FOR_USERS += [
    ROOT / "docs" / f"{name}.md"
    for name in ("chats", "configuration", "context", "deployment", "http")
]

LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
VARIABLE = re.compile(r"\b(?:OPENAI|LLM|ASSISTANT|MAX_SKILLS)_[A-Z_]+\b")
ROUTE = re.compile(r"`(?P<method>GET|POST|PUT|PATCH|DELETE) /api(?P<path>/[^`?\s]+)`")
NUMBER = re.compile(r"\d[\d,]*")
ROW = re.compile(r"\bR\d+\b")
DOCUMENT_NAME = re.compile(r"(?<![\w/])(?:docs|contracts|decisions)/[\w/.-]+\.md\b")
INCOMPLETE = re.compile(r"^\| R\d+ \|.*\| (?:no|partly: [^|]*) \|$", re.MULTILINE)
DEFAULTS = {f.metadata["variable"]: f.default for f in dataclasses.fields(Settings)}


def read(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def claims(document: Path) -> str:
    """The text of a document about the code of today, without planned parts."""
    return INCOMPLETE.sub("", read(document).partition("\n## Not built yet\n")[0])


def sources() -> Iterator[Path]:
    """All text files that may name a requirement row or a document."""
    folders = (*CODE, "bench", "web", "system_context", "docs", "user_context")
    kinds = {".py", ".js", ".mjs", ".md", ".j2", ".yaml", ".example"}
    for folder in folders:
        yield from (f for f in (ROOT / folder).glob("**/*") if f.suffix in kinds and f.is_file())
    yield from (f for f in ROOT.iterdir() if f.suffix in kinds)


def script(name: str) -> ModuleType:
    """A module of `scripts/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return script("make_config_docs")


def test_env_example_fits_the_settings(generator: ModuleType) -> None:
    assert read(generator.EXAMPLE) == generator.example(), "run scripts/make_config_docs.py"


def test_the_configuration_page_fits_the_settings(generator: ModuleType) -> None:
    assert read(generator.GUIDE) == generator.guide(), "run scripts/make_config_docs.py"


@EACH
def test_links_lead_somewhere(document: Path) -> None:
    for target in (match["target"] for match in LINK.finditer(read(document))):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = document.parent / name if name else document
        assert file.exists(), f"{target}: there is no such file"
        if anchor:
            assert anchor in anchors(file), f"{target}: there is no such heading"


def anchors(document: Path) -> set[str]:
    """The headings of a document as GitHub names them in links."""
    titles = (match["title"].lower() for match in HEADING.finditer(read(document)))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


@EACH
def test_variables_that_are_named_exist(document: Path) -> None:
    assert set(VARIABLE.findall(claims(document))) <= set(DEFAULTS)


def test_every_limit_in_the_context_page_is_the_default() -> None:
    rows = re.findall(
        r"^\|[^|]*\| (?P<limit>[^|]*) \| `(?P<name>\w+)` \|$",
        read(ROOT / "docs" / "context.md"),
        re.MULTILINE,
    )
    told = {name: NUMBER.search(limit) for limit, name in rows if name != "LLM_CONTEXT_WINDOW"}
    assert len(told) == 17
    for name, number in told.items():
        assert number and int(number[0].replace(",", "")) == DEFAULTS[name], name


def served(folder: Path) -> set[tuple[str, str]]:
    """Method and path of all our routes, without /api."""
    host = Host(folder, folder / "user", lambda request: "default", NO_COMFYUI, None)
    return {(route.method, route.path) for route in create_assistant(host, {}).routes()}


def test_the_api_page_has_every_route_and_no_other(tmp_path: Path) -> None:
    told = {(m["method"], m["path"]) for m in ROUTE.finditer(read(ROOT / "docs" / "http.md"))}
    assert told == served(tmp_path)


@EACH
def test_routes_that_are_named_exist(document: Path, tmp_path: Path) -> None:
    told = {(m["method"], m["path"]) for m in ROUTE.finditer(claims(document))}
    assert told <= served(tmp_path)


def test_the_requirements_have_each_row_once_and_in_order() -> None:
    rows = re.findall(
        r"^\| R(\d+) \|.*\| (?:yes|no|partly: [^|]+) \|$", read(REQUIREMENTS), re.MULTILINE
    )
    assert rows == [str(number) for number in range(1, len(rows) + 1)]
    assert len(rows) == len(re.findall(r"^\| R\d+ ", read(REQUIREMENTS), re.MULTILINE))


def test_every_requirement_row_that_is_named_exists() -> None:
    rows = set(ROW.findall("\n".join(re.findall(r"^\| R\d+ ", read(REQUIREMENTS), re.MULTILINE))))
    for file in sources():
        unknown = set(ROW.findall(read(file))) - rows
        assert not unknown, f"{file.relative_to(ROOT)} names {sorted(unknown)}"


def test_every_document_that_is_named_exists() -> None:
    for file in sources():
        # A link is relative to its document, and `test_links_lead_somewhere` checks it.
        for name in DOCUMENT_NAME.findall(LINK.sub("", read(file))):
            assert (ROOT / name).is_file(), f"{file.relative_to(ROOT)} names {name}"


@pytest.mark.parametrize("document", FOR_USERS, ids=lambda d: d.name)
def test_what_users_read_names_no_requirement_row(document: Path) -> None:
    assert not ROW.findall(read(document))


@EACH
def test_examples_in_json_are_json(document: Path) -> None:
    for match in BLOCK.finditer(read(document)):
        if match["kind"] == "json":
            assert all(isinstance(value, dict) for value in json_values(match["text"]))
        for line in match["text"].splitlines():
            if line.startswith("data: {"):
                assert json.loads(line.removeprefix("data: "))["type"]


def json_values(text: str) -> Iterator[Any]:
    """One value in several lines, or one in each."""
    try:
        yield json.loads(text)
    except ValueError:
        yield from (json.loads(line) for line in text.splitlines())


def test_the_api_page_names_every_error_code_and_action() -> None:
    text = read(ROOT / "docs" / "http.md")
    (line,) = re.findall(r"^Error codes: (.*)\.$", text, re.MULTILINE)
    # A refusal of tools never reaches a client: the turn goes on without them.
    assert set(re.findall(r"`(\w+)`", line)) == (ProviderError.CODES | {"internal"}) - {
        "tools_refused"
    }
    for action in ProviderError.ACTIONS:
        assert f"`{action}`" in text


def test_modules_that_the_architecture_names_exist() -> None:
    text = read(ROOT / "docs" / "architecture.md")
    files = [*ROOT.glob("*.py"), *(f for room in CODE for f in (ROOT / room).glob("**/*.py"))]
    known = {f"/{file.relative_to(ROOT).as_posix()}" for file in files}
    for name in re.findall(r"`([\w/]+\.py)`", text):
        assert any(path.endswith(f"/{name}") for path in known), name
    for name in re.findall(r"`(web/[\w/-]+\.js)`", text):
        assert (ROOT / name).is_file(), name


def test_every_dependency_says_why_it_is_there() -> None:
    text = read(ROOT / "docs" / "architecture.md").partition("## Dependencies")[2]
    requirements = [
        line.strip()
        for line in read(ROOT / "requirements.txt").splitlines()
        if line and not line.startswith("#")
    ]
    for requirement in requirements:
        name = re.split(r"[^\w-]", requirement)[0]
        assert f"`{name}`" in text, name
        assert f'"{requirement}",' in read(ROOT / "pyproject.toml"), requirement


def test_the_readme_names_options_that_run_py_has() -> None:
    section = read(ROOT / "README.md").partition("## Try it")[2].partition("\n## ")[0]
    options = set(re.findall(r"`(--[a-z-]+)", section))
    source = read(ROOT / "scripts" / "run.py")
    assert options
    assert {option for option in options if f'"{option}"' not in source} == set()


def test_the_version_is_the_same_everywhere() -> None:
    assert f'\nversion = "{__version__}"\n' in read(ROOT / "pyproject.toml")
    assert f"\n## {__version__}" in read(ROOT / "CHANGELOG.md")


def test_the_readme_names_the_addresses_that_the_panel_offers() -> None:
    presets = read(ROOT / "web" / "text" / "provider.js").partition("PRESETS")[2].partition("];")[0]
    addresses = re.findall(r'url: "([^"]+)"', presets)
    assert addresses
    for address in addresses:
        assert f"`{address}`" in read(ROOT / "README.md")
