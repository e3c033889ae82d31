"""The assistant of the ComfyUI that it is loaded into, and the port to that ComfyUI.

The only module that uses ComfyUI's Python side. The root `__init__.py` has it imported when
ComfyUI's server starts; the preview and tests without ComfyUI never import it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aiohttp import hdrs, web

from .app import Assistant, Host, create_assistant
from .comfy_port import Queue, Run, RunState
from .errors import Problem, Refused
from .startup import log_failure

USER_FOLDER = "assistant"
# An older ComfyUI has no system user folders; its routes do not serve a folder of this name either.
OLDER_USER_FOLDER = "__assistant"
CHAT_PATH = "/chat"
WORKFLOWS = "workflows"
"""The folder below a user's folder in which the front end saves workflows."""
MANAGER = "comfyui_manager"
NODE_MAP = "extension-node-map.json"
NO_MODEL_FOLDERS = frozenset({"configs", "custom_nodes"})
# Fields of a node's definition; for each field the attribute of the node's class, and a default.
OLDER_NODE_FACTS = {
    "category": ("CATEGORY", ""),
    "description": ("DESCRIPTION", ""),
    "output_node": ("OUTPUT_NODE", False),
    "python_module": ("RELATIVE_PYTHON_MODULE", "nodes"),
    "deprecated": ("DEPRECATED", False),
    "experimental": ("EXPERIMENTAL", False),
}


@dataclass(frozen=True)
class ComfyUI:
    """The parts of ComfyUI that we use: `PromptServer.instance`, three of its modules, and its
    version. Implements `comfy_port.ComfyPort`."""

    server: Any
    folder_paths: Any
    nodes: Any
    version: str | None
    logger: Any = None

    def node_definitions(self) -> Mapping[str, Any]:
        return node_definitions(self.nodes)

    def model_folders(self) -> Mapping[str, Sequence[Path]]:
        return model_folders(self.folder_paths)

    def model_files(self, kind: str) -> Sequence[str]:
        known = kind in self.model_folders()
        return tuple(self.folder_paths.get_filename_list(kind)) if known else ()

    def queue(self) -> Queue:
        running, waiting = self.server.prompt_queue.get_current_queue()
        # ComfyUI's entries are (number, id, prompt, ...); the waiting ones are a heap.
        ids = (str(entry[1]) for entry in sorted(waiting, key=lambda entry: entry[0]))
        return Queue(tuple(str(entry[1]) for entry in running), tuple(ids))

    def run(self, run_id: str) -> Run | None:
        queue = self.queue()
        if run_id in queue.running:
            return Run(run_id, "running", 0, {})
        if run_id in queue.waiting:
            return Run(run_id, "queued", queue.waiting.index(run_id) + len(queue.running), {})
        entry = self.server.prompt_queue.get_history(prompt_id=run_id).get(run_id)
        return None if entry is None else Run(run_id, _end(entry), 0, entry.get("outputs") or {})

    def log(self) -> Sequence[str] | None:
        kept = self.logger.get_logs() if self.logger is not None else None
        return None if kept is None else "".join(str(entry["m"]) for entry in kept).splitlines()

    def workflows_folder(self, user: str) -> Path | None:
        # An older ComfyUI has no system users, whose folders its routes do not serve.
        of_user = getattr(self.folder_paths, "get_public_user_directory", None)
        if of_user is None:
            return Path(self.folder_paths.get_user_directory()) / user / WORKFLOWS
        folder = of_user(user)
        return None if folder is None else Path(folder) / WORKFLOWS

    def template_files(self) -> Mapping[str, Path]:
        return template_files()

    def package_lists(self) -> Sequence[Path]:
        return package_lists(self.folder_paths)


def _end(entry: Mapping[str, Any]) -> RunState:
    """How the run of an entry in ComfyUI's history ended."""
    status = entry.get("status") or {}
    if any(name == "execution_interrupted" for name, _ in status.get("messages") or ()):
        return "interrupted"
    return "failed" if status.get("status_str") == "error" else "done"


def assistant_in(
    comfyui: ComfyUI, root: Path, environ: Mapping[str, str], ours: Iterable[web.RouteDef]
) -> Assistant:
    """The assistant of the plugin at `root`, for a ComfyUI whose server has the routes `ours`."""
    host = Host(
        root=root,
        user_directory=user_directory(comfyui.folder_paths),
        user_of=lambda request: user_of(comfyui.server, request),
        comfyui=comfyui,
        comfyui_version=comfyui.version,
    )
    assistant = create_assistant(host, environ)
    assistant.problems = (*assistant.problems, *taken_paths(comfyui.server.routes, ours))
    return assistant


def user_directory(folder_paths: Any) -> Path:
    """The folder for our data, which ComfyUI's own routes never serve."""
    system_directory = getattr(folder_paths, "get_system_user_directory", None)
    if system_directory is not None:
        return Path(system_directory(USER_FOLDER))
    return Path(folder_paths.get_user_directory()) / OLDER_USER_FOLDER


def model_folders(folder_paths: Any) -> dict[str, list[Path]]:
    """The folders in which ComfyUI looks for models, by the kind of model."""
    return {
        name: [Path(folder) for folder in folders]
        for name, (folders, _) in folder_paths.folder_names_and_paths.items()
        if name not in NO_MODEL_FOLDERS
    }


def user_of(server: Any, request: web.Request) -> str:
    """The ComfyUI user who sends the request; "default" without --multi-user. Raises `Refused` if
    unknown."""
    try:
        return str(server.user_manager.get_request_user_id(request))
    except KeyError as error:
        raise Refused(
            "ComfyUI does not know this user. Choose a user on ComfyUI's start page.",
            code="unknown_user",
            status=401,
        ) from error


def template_files() -> dict[str, Path]:
    """The workflow templates of the package that ComfyUI's front end shows, by id."""
    try:
        package = import_module("comfyui_workflow_templates")
    except ImportError:
        return {}
    if not hasattr(package, "iter_templates"):
        return older_template_files()
    return {
        str(entry.template_id): Path(package.get_asset_path(entry.template_id, asset.filename))
        for entry in package.iter_templates()
        for asset in entry.assets
        if asset.filename == f"{entry.template_id}.json"
    }


def older_template_files() -> dict[str, Path]:
    """The templates of a package that has all of them in one folder, with their index."""
    folder = Path(str(resources.files("comfyui_workflow_templates"))) / "templates"
    paths = sorted(folder.glob("*.json"))
    return {path.stem: path for path in paths if not path.stem.startswith("index")}


def package_lists(folder_paths: Any) -> list[Path]:
    """ComfyUI-Manager's lists of packages, newest first: of the one that is installed as a Python
    package, and of those among the custom nodes."""
    manager = find_spec(MANAGER)
    installed = manager.submodule_search_locations if manager is not None else None
    found = [Path(folder) / NODE_MAP for folder in installed or ()]
    folders, _ = folder_paths.folder_names_and_paths.get("custom_nodes", ((), ()))
    for folder in folders:
        found.extend(Path(folder).glob(f"*/{NODE_MAP}"))
    return sorted(filter(Path.is_file, found), key=lambda path: path.stat().st_mtime, reverse=True)


def taken_paths(
    table: Iterable[web.AbstractRouteDef], ours: Iterable[web.RouteDef]
) -> list[Problem]:
    """The problem that another plugin serves our chat path first: the panel's messages would go
    to that plugin."""
    our_handlers = {route.handler for route in ours}
    chats = (
        route
        for route in table
        if isinstance(route, web.RouteDef)
        and route.path == CHAT_PATH
        and route.method in (hdrs.METH_POST, hdrs.METH_ANY)
    )
    first = next(chats, None)
    if first is None or first.handler in our_handlers:
        return []
    owner = first.handler.__module__
    message = (
        f"Another plugin ({owner}) already serves /api{CHAT_PATH}, so messages never reach"
        " ComfyUI Assistant. Disable one of the two."
    )
    return [Problem("path_taken", message)]


def node_definitions(nodes: Any) -> Mapping[str, Any]:
    """All node definitions in the shape of `/object_info`. A node that fails is left out.

    Reads folders for the lists of model files, so call it in a thread.
    """
    definitions = {}
    for name, node in list(nodes.NODE_CLASS_MAPPINGS.items()):
        try:
            definitions[name] = definition_of(name, node, nodes.NODE_DISPLAY_NAME_MAPPINGS)
        except Exception as error:
            log_failure(f"cannot read the definition of node {name!a}", error)
    return definitions


def definition_of(name: str, node: Any, display_names: Mapping[str, str]) -> dict[str, Any]:
    """One node's definition; newer nodes describe themselves."""
    describe: Callable[[], dict[str, Any]] | None = getattr(node, "GET_NODE_INFO_V1", None)
    if describe is not None:
        return describe()
    inputs = node.INPUT_TYPES()
    outputs = list(node.RETURN_TYPES)
    return {
        "name": name,
        "display_name": display_names.get(name, name),
        "input": inputs,
        "input_order": {section: list(names) for section, names in inputs.items()},
        "output": outputs,
        "output_name": list(getattr(node, "RETURN_NAMES", outputs)),
        "output_is_list": list(getattr(node, "OUTPUT_IS_LIST", [False] * len(outputs))),
        **{
            key: getattr(node, attribute, usual)
            for key, (attribute, usual) in OLDER_NODE_FACTS.items()
        },
    }
