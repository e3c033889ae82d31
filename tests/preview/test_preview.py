"""The routes of the preview, with which ComfyUI's stock front end starts."""

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import FormData
from aiohttp.test_utils import TestClient
from plugin.preview import frontend
from plugin.preview.catalog import Catalog, load_catalog
from plugin.preview.site import create_site
from plugin.preview.userdata import files_below
from pytest_aiohttp import AiohttpClient

pytestmark = pytest.mark.usefixtures("files_as_on_windows")
Client = TestClient[Any, Any]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def plugin_root(tmp_path: Path) -> Path:
    """A plugin with a panel of two modules, in a folder whose name needs quoting."""
    root = tmp_path / "My Plugin-1"
    (root / "web" / "views").mkdir(parents=True)
    (root / "web" / "main.js").write_text("export {}", encoding="utf-8")
    (root / "web" / "views" / "panel.js").write_text("export {}", encoding="utf-8")
    return root


@pytest.fixture
async def client(
    aiohttp_client: AiohttpClient, plugin_root: Path, tmp_path: Path, catalog: Catalog
) -> Client:
    site = create_site(plugin_root, tmp_path / "user", tmp_path / "files", catalog)
    site.add_routes(frontend.routes(plugin_root))
    return await aiohttp_client(site)


async def read_json(client: Client, path: str) -> Any:
    response = await client.get(path)
    assert response.status == 200, path
    return await response.json()


# The catalog


def test_catalog_keeps_facts_of_a_node(catalog: Catalog) -> None:
    sampler = catalog.nodes["KSampler"]
    inputs = sampler["input"]["required"]
    assert list(inputs)[:3] == ["model", "seed", "steps"]
    assert inputs["steps"] == ["INT", {"default": 20, "max": 10000, "min": 1}]
    assert "euler" in inputs["sampler_name"][0]
    assert inputs["seed"][1]["control_after_generate"] is True
    assert sampler["output"] == sampler["output_name"] == ["LATENT"]
    assert sampler["input_order"]["required"][0] == "model"
    assert sampler["category"] == "model/sampling"


def test_catalog_restores_empty_options_inside_of_inputs(catalog: Catalog) -> None:
    images = catalog.nodes["BatchImagesNode"]["input"]["required"]["images"]
    assert images[1]["template"]["input"] == {"required": {"image": ["IMAGE", {}]}}
    sizes = catalog.nodes["ResizeImageMaskNode"]["input"]["required"]["resize_type"]
    inputs = {one["key"]: one["inputs"] for one in sizes[1]["options"]}
    assert inputs["match size"]["required"]["match"][1] == {}


def test_catalog_restores_usual_values(catalog: Catalog) -> None:
    needed = {"name", "display_name", "description", "input", "output", "output_is_list"}
    for name, node in catalog.nodes.items():
        assert needed <= set(node), name
        assert len(node["output_is_list"]) == len(node["output"]), name


def test_catalog_holds_no_prose_but_defaults(catalog: Catalog) -> None:
    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            assert "tooltip" not in value
            kept = [item for key, item in value.items() if key != "default"]
            return [text for item in kept for text in texts(item)]
        if isinstance(value, list):
            return [text for item in value for text in texts(item)]
        return [value] if isinstance(value, str) else []

    sentences = [text for text in texts(catalog.nodes) if text.count(" ") > 8 and "." in text]
    assert sentences == []


def test_catalog_keeps_growing_and_dynamic_inputs(catalog: Catalog) -> None:
    images = catalog.nodes["BatchImagesNode"]["input"]["required"]["images"]
    assert images[0] == "COMFY_AUTOGROW_V3"
    assert images[1]["template"]["input"] == {"required": {"image": ["IMAGE", {}]}}


def test_catalog_keeps_the_order_of_inputs_inside_a_dynamic_combo(catalog: Catalog) -> None:
    inputs = catalog.nodes["TextGenerate"]["input"]["required"]
    options = {option["key"]: option["inputs"] for option in inputs["sampling_mode"][1]["options"]}
    assert list(options["on"]["required"]) == [
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "repetition_penalty",
        "seed",
    ]


def test_catalog_keeps_a_long_default_whole(catalog: Catalog) -> None:
    section = catalog.nodes["GeminiImageNode"]["input"]["optional"]
    assert section["system_prompt"][1]["default"].startswith("You are an expert")
    assert len(section["system_prompt"][1]["default"]) > 400


# The front end and the panel


async def test_page_is_the_stock_front_end(client: Client) -> None:
    response = await client.get("/")
    assert response.status == 200
    assert "<title>ComfyUI</title>" in await response.text()
    assert "connect-src 'self'" in response.headers["Content-Security-Policy"]


async def test_extensions_name_every_module_of_the_panel(client: Client) -> None:
    modules = await read_json(client, "/extensions")
    assert "/extensions/My%20Plugin-1/main.js" in modules
    assert "/extensions/My%20Plugin-1/views/panel.js" in modules
    assert any(module.startswith("/extensions/core/") for module in modules)


async def test_modules_are_sent_fresh(client: Client) -> None:
    response = await client.get("/extensions/My%20Plugin-1/main.js")
    assert response.status == 200
    assert "no-store" in response.headers["Cache-Control"]
    assert "javascript" in response.headers["Content-Type"]


@pytest.mark.parametrize("name", ["..%2F..%2Fsecret.js", "%2Fetc%2Fpasswd", "a%00", "nothing.js"])
async def test_modules_never_come_from_elsewhere(
    client: Client, name: str, plugin_root: Path
) -> None:
    (plugin_root.parent / "secret.js").write_text("no", encoding="utf-8")
    assert (await client.get(f"/extensions/My%20Plugin-1/{name}")).status == 404


async def test_saved_entries_are_listed_with_their_kind(client: Client) -> None:
    await client.post("/api/userdata/workflows%2Fa.json", data=b"{}")
    entries = await read_json(client, "/api/v2/userdata")
    assert [(entry["name"], entry["type"]) for entry in entries] == [("workflows", "directory")]


async def test_front_end_files_win_over_nothing_of_the_api(client: Client) -> None:
    assert (await client.get("/scripts/app.js")).status == 200
    assert (await client.get("/api/no_such_route")).status == 404


ASKED_WHILE_BOOTING = (
    "settings users system_stats embeddings queue history i18n experiment/models features jobs"
    " workflow_templates node_replacements global_subgraphs userdata?dir=workflows"
    " object_info/KSampler"
)


@pytest.mark.parametrize("path", ASKED_WHILE_BOOTING.split())
async def test_what_the_front_end_asks_while_booting_is_json(client: Client, path: str) -> None:
    assert await read_json(client, f"/api/{path}") is not None


async def test_object_info_has_all_nodes(client: Client, catalog: Catalog) -> None:
    assert len(await read_json(client, "/api/object_info")) == len(catalog.nodes) > 800


async def test_templates_come_from_the_package(client: Client) -> None:
    index = await read_json(client, "/templates/index.json")
    name = index[0]["templates"][0]["name"]
    assert "nodes" in await read_json(client, f"/templates/{name}.json")


async def test_a_missing_template_picture_is_a_plain_tile(client: Client) -> None:
    response = await client.get("/templates/no-such-picture.webp")
    assert response.content_type == "image/svg+xml"
    assert (await client.get("/templates/no-such-workflow.json")).status == 404


async def test_templates_never_lead_out_of_their_folder(client: Client) -> None:
    assert (await client.get("/templates/..%2F__init__.py")).status == 404


# The missing engine


async def test_running_a_workflow_answers_with_a_clear_error(client: Client) -> None:
    response = await client.post("/api/prompt", json={"prompt": {}})
    assert response.status == 400
    body = await response.json()
    assert "cannot run workflows" in body["error"]["message"]
    assert body["node_errors"] == {}


async def test_socket_greets_and_answers_feature_flags(client: Client) -> None:
    async with client.ws_connect("/ws?clientId=abc") as socket:
        greeting = await socket.receive_json()
        assert greeting["type"] == "status"
        assert greeting["data"]["sid"] == "abc"
        await socket.send_str("no json")
        await socket.send_json({"type": "feature_flags", "data": {}})
        assert (await socket.receive_json())["type"] == "feature_flags"


# Uploads


def upload(name: str, content: bytes, **fields: str) -> FormData:
    form = FormData(fields)
    form.add_field("image", content, filename=name, content_type="image/png")
    return form


async def test_an_upload_is_stored_below_its_type_and_can_be_seen(client: Client) -> None:
    sent = upload("scene.png", b"one", subfolder="threed", type="temp")
    response = await client.post("/api/upload/image", data=sent)
    assert await response.json() == {"name": "scene.png", "subfolder": "threed", "type": "temp"}
    seen = await client.get("/api/view?filename=scene.png&subfolder=threed&type=temp")
    assert (await seen.read(), seen.content_type) == (b"one", "image/png")
    assert (await client.get("/api/view?filename=scene.png&subfolder=threed")).status == 404


async def test_an_upload_never_replaces_another_file_unasked(client: Client) -> None:
    async def name_of(content: bytes, **fields: str) -> str:
        sent = upload("a.png", content, **fields)
        name: str = (await (await client.post("/upload/image", data=sent)).json())["name"]
        return name

    assert [await name_of(content) for content in (b"1", b"2", b"1")] == [
        "a.png",
        "a (1).png",
        "a.png",
    ]
    assert await name_of(b"3", overwrite="true") == "a.png"
    assert await (await client.get("/view?filename=a.png&type=input")).read() == b"3"


@pytest.mark.parametrize(
    "fields",
    [
        {"subfolder": ".."},
        {"subfolder": "../temp"},
        {"subfolder": "/etc"},
        {"subfolder": "a\0"},
        {"type": ".."},
        {"type": "models"},
    ],
)
async def test_an_upload_never_leaves_its_folder(
    client: Client, fields: dict[str, str], tmp_path: Path
) -> None:
    before = files_below(tmp_path, deep=True)
    response = await client.post("/upload/image", data=upload("a.png", b"x", **fields))
    assert response.status == 400
    assert (await client.post("/upload/image", data={"type": "input"})).status == 400
    assert files_below(tmp_path, deep=True) == before


async def test_nothing_but_uploads_can_be_viewed(client: Client, tmp_path: Path) -> None:
    (tmp_path / "files" / "input").mkdir(parents=True)
    (tmp_path / "files" / "secret.png").write_bytes(b"no")
    for query in ("type=input&filename=..%2Fsecret.png", "type=.&filename=secret.png"):
        assert (await client.get(f"/view?{query}")).status == 404


async def test_an_upload_that_may_hold_a_script_is_downloaded(client: Client) -> None:
    for name in ("a.svg", "a.html", "a.unknown"):
        await client.post("/upload/image", data=upload(name, b"<script>"))
        seen = await client.get(f"/view?type=input&filename={name}")
        assert seen.content_type == "application/octet-stream"
        assert seen.headers["Content-Disposition"] == "attachment"


async def test_temporary_files_are_removed_when_the_server_starts(
    aiohttp_client: AiohttpClient, plugin_root: Path, tmp_path: Path, catalog: Catalog
) -> None:
    for name in ("input/kept.png", "temp/threed/old.png"):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
    await aiohttp_client(create_site(plugin_root, tmp_path / "u", tmp_path / "files", catalog))
    assert files_below(tmp_path / "files", deep=True) == [tmp_path / "files/input/kept.png"]


# Settings and files


async def test_settings_are_kept(client: Client) -> None:
    assert (await client.post("/api/settings/Comfy.A", json="dark")).status == 200
    assert (await client.post("/api/settings", json={"Comfy.B": 2})).status == 200
    settings = await read_json(client, "/api/settings")
    assert (settings["Comfy.A"], settings["Comfy.B"]) == ("dark", 2)
    assert (await client.post("/api/settings", data=b"[")).status == 400


async def test_settings_that_cannot_be_read_now_are_not_replaced(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client.post("/settings", json={"a": 1})
    monkeypatch.setattr("plugin.assistant.files.time.sleep", lambda _seconds: None)

    def held(path: Path) -> bytes:
        raise PermissionError(13, "Zugriff verweigert", str(path))

    with monkeypatch.context() as holding:
        holding.setattr(Path, "read_bytes", held)
        response = await client.post("/settings/b", json=2)
        assert response.status == 503
        assert (await response.text()).startswith("The file could not be used: access is denied")
    settings = await read_json(client, "/settings")
    assert settings["a"] == 1 and "b" not in settings


async def test_a_saved_workflow_is_listed_read_moved_and_deleted(client: Client) -> None:
    path = "/api/userdata/workflows%2Fmine.json"
    stored = await client.post(f"{path}?full_info=true", data=b'{"nodes": []}')
    assert (await stored.json())["path"] == "workflows/mine.json"
    assert (await client.post(f"{path}?overwrite=false", data=b"{}")).status == 409
    listing = "/api/userdata?dir=workflows&recurse=true&full_info=true"
    assert [entry["path"] for entry in await read_json(client, listing)] == ["mine.json"]
    assert json.loads(await (await client.get(path)).text()) == {"nodes": []}
    moved = await client.post(f"{path}/move/workflows%2Fyours.json")
    assert await moved.json() == "workflows/yours.json"
    assert (await client.get(path)).status == 404
    assert (await client.delete("/api/userdata/workflows%2Fyours.json")).status == 204
    assert await read_json(client, listing) == []


@pytest.mark.parametrize("name", ["..%2Fsecret", "%2Fetc%2Fpasswd", "a%2F..%2F..%2Fb", "a%00b"])
async def test_file_names_never_lead_out_of_the_folder(
    client: Client, name: str, tmp_path: Path
) -> None:
    before = files_below(tmp_path, deep=True)
    assert (await client.post(f"/api/userdata/{name}", data=b"x")).status == 403
    assert (await client.get(f"/api/userdata/{name}")).status == 403
    assert files_below(tmp_path, deep=True) == before


# Other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
    ],
)
async def test_a_foreign_page_is_refused(client: Client, headers: dict[str, str]) -> None:
    assert (await client.get("/api/settings", headers=headers)).status == 403
    assert (await client.post("/api/settings", json={}, headers=headers)).status == 403


async def test_a_link_from_another_site_opens_the_page(client: Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert (await client.get("/", headers=headers)).status == 200
