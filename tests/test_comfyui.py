"""How we connect to ComfyUI's Python side, with stand-ins for its server and modules."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from plugin.assistant import comfyui
from plugin.assistant.app import Assistant
from plugin.assistant.comfyui import ComfyUI
from plugin.assistant.errors import Refused
from plugin.tests.hosts import plugin_without_settings


class OlderNode:
    RETURN_TYPES = ("IMAGE", "MASK")
    RETURN_NAMES = ("picture", "mask")
    CATEGORY = "image"
    OUTPUT_NODE = True

    @classmethod
    def INPUT_TYPES(cls) -> dict[str, Any]:  # noqa: N802  ComfyUI's name
        return {"required": {"width": ("INT", {"default": 1})}, "optional": {"name": ("STRING",)}}


class NewerNode:
    @classmethod
    def GET_NODE_INFO_V1(cls) -> dict[str, Any]:  # noqa: N802  ComfyUI's name
        return {"name": "Newer"}


class BrokenNode:
    @classmethod
    def INPUT_TYPES(cls) -> dict[str, Any]:  # noqa: N802  ComfyUI's name
        raise RuntimeError("no models\nhere: ü")


async def handler(request: web.Request) -> web.Response:
    return web.Response()


def server_with_routes() -> Any:
    return SimpleNamespace(routes=web.RouteTableDef(), app=web.Application(), user_manager=None)


def folder_paths_in(folder: Path) -> Any:
    return SimpleNamespace(
        get_system_user_directory=lambda name: str(folder / f"__{name}"),
        folder_names_and_paths={},
    )


def test_node_definitions_have_the_shape_of_object_info() -> None:
    nodes = SimpleNamespace(
        NODE_CLASS_MAPPINGS={"Older": OlderNode, "Newer": NewerNode},
        NODE_DISPLAY_NAME_MAPPINGS={"Older": "An Older Node"},
    )
    definitions = comfyui.node_definitions(nodes)
    older = definitions["Older"]
    assert older["display_name"] == "An Older Node"
    assert older["input_order"] == {"required": ["width"], "optional": ["name"]}
    assert (older["output"], older["output_name"]) == (["IMAGE", "MASK"], ["picture", "mask"])
    assert older["output_is_list"] == [False, False]
    assert (older["category"], older["output_node"]) == ("image", True)
    assert definitions["Newer"] == {"name": "Newer"}


def test_a_node_that_fails_is_left_out_with_one_ascii_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nodes = SimpleNamespace(
        NODE_CLASS_MAPPINGS={"Broken": BrokenNode, "Newer": NewerNode},
        NODE_DISPLAY_NAME_MAPPINGS={},
    )
    with caplog.at_level(logging.WARNING, "comfyui_assistant"):
        assert list(comfyui.node_definitions(nodes)) == ["Newer"]
    (record,) = caplog.records
    line = record.getMessage()
    assert line.isascii()
    assert "\n" not in line
    assert "'Broken'" in line


def test_our_data_lie_in_the_system_user_folder(tmp_path: Path) -> None:
    assert comfyui.user_directory(folder_paths_in(tmp_path)) == tmp_path / "__assistant"


def test_an_older_comfyui_gets_a_folder_of_the_same_kind(tmp_path: Path) -> None:
    older = SimpleNamespace(get_user_directory=lambda: str(tmp_path))
    assert comfyui.user_directory(older) == tmp_path / "__assistant"


def test_model_folders_leave_out_what_holds_no_models() -> None:
    folder_paths = SimpleNamespace(
        folder_names_and_paths={
            "loras": (["a", "b"], set()),
            "custom_nodes": (["c"], set()),
            "vae": (["d"], set()),
        }
    )
    assert comfyui.model_folders(folder_paths) == {
        "loras": [Path("a"), Path("b")],
        "vae": [Path("d")],
    }


def test_an_unknown_user_is_refused_in_words() -> None:
    def unknown(request: web.Request) -> str:
        raise KeyError("Unknown user")

    server = SimpleNamespace(user_manager=SimpleNamespace(get_request_user_id=unknown))
    with pytest.raises(Refused, match="does not know this user") as caught:
        comfyui.user_of(server, make_mocked_request("GET", "/api/chats"))
    assert caught.value.status == 401


@pytest.mark.parametrize("method", ["POST", "*"])
def test_a_path_that_another_plugin_serves_first_is_a_problem(method: str) -> None:
    ours = [web.post("/chat", handler)]

    async def other(request: web.Request) -> web.Response:
        return web.Response()

    table = [web.get("/chat", other), web.route(method, "/chat", other), *ours]
    (problem,) = comfyui.taken_paths(table, ours)
    assert problem.code == "path_taken"
    assert __name__ in problem.message
    assert comfyui.taken_paths([*ours, web.post("/chat", other)], ours) == []


def made_in(server: Any, folder: Path, ours: Any = ()) -> Assistant:
    root = plugin_without_settings(folder / "plugin")
    host = ComfyUI(server, folder_paths_in(folder), SimpleNamespace(), "0.33.0")
    return comfyui.assistant_in(host, root, {}, ours)


def test_a_path_that_is_taken_shows_among_the_problems(tmp_path: Path) -> None:
    server = server_with_routes()
    server.routes.post("/chat")(handler)
    assert "path_taken" in [problem.code for problem in made_in(server, tmp_path).problems]


def test_our_own_routes_are_no_problem(tmp_path: Path) -> None:
    server = server_with_routes()
    server.routes.post("/chat")(handler)
    assistant = made_in(server, tmp_path, [web.post("/chat", handler)])
    assert "path_taken" not in [problem.code for problem in assistant.problems]
