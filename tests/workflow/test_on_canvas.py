"""The JSON of an open canvas is read as the canvas is, that of a file as the front end opens it."""

import json
from typing import Any

from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.edits.forecast import forecast
from plugin.assistant.workflow.parse import ON_CANVAS, parse_workflow
from plugin.tests.prompts import template_text
from plugin.tests.workflow.prompts_of_templates import definitions

PICTURES = {f"model.images.image_{number}" for number in (1, 2, 3)}
# The inputs of node 18 as the front end writes them once the template is open, and their links.
WRITTEN = {
    "prompt": None,
    "model": None,
    "model.width": 28,
    "model.height": 32,
    "model.images.image_1": 25,
    "model.images.image_2": 26,
    "model.images.image_3": 27,
    "model.images.image_4": None,
    "seed": None,
}


def written(*, on_canvas: bool) -> dict[str, Any]:
    """The template with three pictures, as the front end writes it."""
    graph: dict[str, Any] = json.loads(template_text("api_bfl_flux2_max_sofa_swap"))
    node = next(one for one in graph["nodes"] if one["id"] == 18)
    known = {one["name"]: one for one in node["inputs"]}
    node["inputs"] = [
        {"name": name, "type": known.get(name, {"type": "STRING"})["type"], "link": link}
        for name, link in WRITTEN.items()
    ]
    places = {link: place for place, link in enumerate(WRITTEN.values()) if link is not None}
    for link in graph["links"]:
        link[4] = places.get(link[0], link[4])
    if on_canvas:
        graph["extra"] = {**graph.get("extra", {}), ON_CANVAS: True}
    return graph


def pictures(graph: dict[str, Any]) -> set[str]:
    """The pictures' inputs that the prompt has."""
    prompt = api_prompt(parse_workflow(graph), definitions())
    return PICTURES & set(prompt["18"]["inputs"])


def test_a_link_that_the_front_end_would_lose_of_a_file_is_there_on_the_canvas() -> None:
    assert pictures(written(on_canvas=True)) == PICTURES
    # The stock front end opens what it wrote itself with two of three pictures.
    assert pictures(written(on_canvas=False)) == PICTURES - {"model.images.image_3"}


def test_an_edit_on_the_canvas_starts_from_all_links() -> None:
    cut = [{"op": "disconnect", "to": "18.model.images.image_2"}]
    made = forecast(written(on_canvas=True), cut, definitions())
    assert made.base["18"]["links"].keys() >= PICTURES
    # The third picture moves up, as on the canvas.
    assert pictures(made.content) == PICTURES - {"model.images.image_3"}
    prompt = api_prompt(parse_workflow(made.content), definitions())
    assert prompt["18"]["inputs"]["model.images.image_2"] == ["10", 0]
