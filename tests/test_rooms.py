"""The limits between rooms: which room may import which (the table in `docs/architecture.md`), and
rules for all modules. Most tests read the source and do not run it."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = ROOT / "docs" / "architecture.md"
ROW = re.compile(r"^\| `(?P<room>\w+)` \|(?P<imports>[^|]*)\|$", re.MULTILINE)
# Modules at the top of the repository, and the room that each belongs to.
FACES = {"agent_prompts": "prompts", "user_context_loader": "user_context", "nodes": "nodes"}
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "misc", "common"}
LONGEST_MODULE = 400  # lines
SQLITE = ("assistant", "database", "sqlite")
# The module that makes the database, and the port's own module, which names its implementation.
CHOOSE_THE_DATABASE = {"assistant.space", "assistant.database"}
SQLITE_WORDS = re.compile(r"\w*sqlite\w*|PRAGMA|FTS5|\browid\b", re.IGNORECASE)
PAST_THE_PORT = re.compile(r"dbapi_connection|driver_connection|exec_driver_sql")
SQLITE_SQL = re.compile(r"\bINSERT OR\b|\bMATCH\b|(?:=|,|\() ?\?(?=[\s,)]|$)")
LOGGER = "comfyui_assistant"

Name = tuple[str, ...]
"""A module's path, such as ("assistant", "llm", "client")."""


@dataclass(frozen=True)
class Module:
    name: Name
    tree: ast.Module
    text: str
    is_package: bool

    @property
    def folder(self) -> Name:
        return self.name if self.is_package else self.name[:-1]

    def __str__(self) -> str:
        return ".".join(self.name)


def read_modules() -> dict[Name, Module]:
    files = [*ROOT.glob("assistant/**/*.py"), *ROOT.glob("preview/*.py")]
    files += [ROOT / f"{face}.py" for face in FACES]
    modules = {}
    for file in files:
        path = file.relative_to(ROOT).with_suffix("").parts
        is_package = path[-1] == "__init__"
        name = path[:-1] if is_package else path
        text = file.read_text(encoding="utf-8")
        modules[name] = Module(name, ast.parse(text), text, is_package)
    return modules


MODULES = read_modules()


def each_module(check: Callable[[Module], None]) -> Callable[[], None]:
    """One test that makes the check for every module and names the first one that fails."""

    def test() -> None:
        for module in MODULES.values():
            try:
                check(module)
            except AssertionError as error:
                raise AssertionError(f"{module}: {error}") from error

    test.__name__, test.__doc__ = check.__name__, check.__doc__
    return test


def read_table() -> dict[str, set[str]]:
    text = ARCHITECTURE.read_text(encoding="utf-8").partition("## Rooms\n")[2].partition("\n## ")[0]
    return {row["room"]: set(re.findall(r"`(\w+)`", row["imports"])) for row in ROW.finditer(text)}


TABLE = read_table()


def room_of(name: Name) -> str | None:
    """The room of a module; None for the packages `assistant` and `preview` themselves, since all
    rooms may import the version."""
    if name[0] != "assistant":
        return FACES.get(name[0], name[0])
    return name[1] if len(name) > 1 else None


def our_imports(module: Module) -> Iterator[Name]:
    """Every module of ours that `module` imports, also inside functions."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        start = module.folder[: len(module.folder) - (node.level - 1)]
        target = (*start, *(node.module.split(".") if node.module else ()))
        for alias in node.names:
            deeper = (*target, alias.name)
            yield deeper if deeper in MODULES else target


@each_module
def test_a_room_imports_only_what_the_table_allows(module: Module) -> None:
    room = room_of(module.name)
    rooms = (room_of(name) for name in our_imports(module))
    used = {name for name in rooms if name is not None and name != room}
    if room is None:
        assert not used
        return
    assert room in TABLE, f"{room} is not in the table of {ARCHITECTURE.name}"
    assert used <= TABLE[room], f"{module} imports {sorted(used - TABLE[room])}"


def test_the_table_names_no_room_that_is_not_there() -> None:
    rooms = {room_of(name) for name in MODULES} - {None}
    assert set(TABLE) == rooms
    assert set().union(*TABLE.values()) <= rooms


def test_no_rooms_are_in_a_circle() -> None:
    left = {room: set(imports) for room, imports in TABLE.items()}
    while free := {room for room, imports in left.items() if not imports & set(left)}:
        left = {room: imports for room, imports in left.items() if room not in free}
    assert not left, f"a circle among {sorted(left)}"


@each_module
def test_our_own_modules_are_imported_relatively(module: Module) -> None:
    """ComfyUI gives the package a name of its own, so any other name of it is wrong inside."""
    ours = {name[0] for name in MODULES} | {"plugin"}
    absolute = {
        imported.partition(".")[0] for _, imported in absolute_imports(ast.walk(module.tree))
    }
    assert not absolute & ours


@each_module
def test_openai_is_imported_when_it_is_needed_only(module: Module) -> None:
    at_import = outside_functions(module.tree)
    assert "openai" not in {
        imported.partition(".")[0] for _, imported in absolute_imports(at_import)
    }


def test_the_assistant_starts_without_openai() -> None:
    """The import of openai takes too long for ComfyUI's start."""
    probe = (
        "import sys; sys.path.insert(0, 'scripts'); from bootstrap import register; register();"
        "import plugin.assistant.app, plugin.nodes; sys.exit('openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", probe], cwd=ROOT).returncode == 0


@each_module
def test_sqlite_is_known_behind_the_database_port_only(module: Module) -> None:
    """Another database must be able to replace SQLite: no other module has its imports, its name or
    its SQL."""
    if module.name[:3] == SQLITE or str(module) in CHOOSE_THE_DATABASE:
        return
    imported = {name for _, name in absolute_imports(ast.walk(module.tree))}
    assert not {name for name in imported if name.startswith(("sqlite3", "sqlalchemy.dialects"))}
    assert not SQLITE_WORDS.findall(module.text)
    assert room_of(module.name) == "database" or not PAST_THE_PORT.findall(module.text)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not SQLITE_SQL.search(node.value), f"line {node.lineno}"


@each_module
def test_a_module_prints_nothing_and_logs_under_one_name(module: Module) -> None:
    if str(module) == "assistant.llm.gguf_server":  # a program: its parent reads its output
        return
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert called != "print", f"line {node.lineno}"
        if called.endswith("getLogger"):
            assert [ast.literal_eval(argument) for argument in node.args] == [LOGGER]


@each_module
def test_a_module_can_be_read_in_one_sitting(module: Module) -> None:
    assert ast.get_docstring(module.tree), "a module says what it is for"
    assert len(module.text.splitlines()) <= LONGEST_MODULE
    assert module.name[-1] not in VAGUE_NAMES


@each_module
def test_a_module_leaves_the_import_path_alone(module: Module) -> None:
    assert "sys.path" not in {
        ast.unparse(node) for node in ast.walk(module.tree) if isinstance(node, ast.Attribute)
    }


def absolute_imports(nodes: Iterator[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of every import that is not relative."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, node.module or ""


def outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when the module is imported, without imports for the type checker."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from outside_functions(node)
