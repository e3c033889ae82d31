"""Workflows and steps for tests of the panel's hand, as ComfyUI and the server write them."""

from typing import Any

Graph = dict[str, Any]


def node(id_: int, type_: str, inputs: str, outputs: str, values: list[Any], **more: Any) -> Graph:
    """A node as ComfyUI writes it; `inputs` and `outputs` as in "model:MODEL clip:CLIP"."""
    slots = [one.split(":") for one in inputs.split()]
    made = [one.split(":") for one in outputs.split()]
    return {
        "id": id_,
        "type": type_,
        "pos": [300 * (id_ % 10), 200 * (id_ // 10)],
        "size": [270, 120],
        "flags": {},
        "order": 0,
        "mode": 0,
        "inputs": [{"name": name, "type": kind, "link": None} for name, kind in slots],
        "outputs": [{"name": name, "type": kind, "links": []} for name, kind in made],
        "properties": {},
        "widgets_values": values,
        **more,
    }


SAMPLER_INPUTS = "model:MODEL positive:CONDITIONING negative:CONDITIONING latent_image:LATENT"


def sampler(id_: int) -> Graph:
    values = [7, "fixed", 20, 8, "euler", "normal", 1]
    return node(id_, "KSampler", SAMPLER_INPUTS, "LATENT:LATENT", values)


def text_to_image() -> Graph:
    """Checkpoint 4, prompts 6 and 7, latent 5, sampler 3, decoder 8, save 9."""
    nodes = [
        sampler(3),
        node(4, "CheckpointLoaderSimple", "", "MODEL:MODEL CLIP:CLIP VAE:VAE", ["sd.safetensors"]),
        node(5, "EmptyLatentImage", "", "LATENT:LATENT", [512, 512, 1]),
        node(6, "CLIPTextEncode", "clip:CLIP", "CONDITIONING:CONDITIONING", ["a tower"]),
        node(7, "CLIPTextEncode", "clip:CLIP", "CONDITIONING:CONDITIONING", ["blurry"]),
        node(8, "VAEDecode", "samples:LATENT vae:VAE", "IMAGE:IMAGE", []),
        node(9, "SaveImage", "images:IMAGE", "", ["ComfyUI"]),
    ]
    ends = [
        (4, 0, 3, 0, "MODEL"),
        (6, 0, 3, 1, "CONDITIONING"),
        (7, 0, 3, 2, "CONDITIONING"),
        (5, 0, 3, 3, "LATENT"),
        (4, 1, 6, 0, "CLIP"),
        (4, 1, 7, 0, "CLIP"),
        (3, 0, 8, 0, "LATENT"),
        (4, 2, 8, 1, "VAE"),
        (8, 0, 9, 0, "IMAGE"),
    ]
    return workflow(nodes, ends)


def workflow(nodes: list[Graph], ends: list[tuple[int, int, int, int, str]]) -> Graph:
    """A workflow; `ends` are (source, its output, target, its input, type)."""
    by_id = {one["id"]: one for one in nodes}
    links = []
    for number, (source, output, target, place, kind) in enumerate(ends, 1):
        links.append([number, source, output, target, place, kind])
        by_id[source]["outputs"][output]["links"].append(number)
        by_id[target]["inputs"][place]["link"] = number
    last = max(by_id)
    return {
        "last_node_id": last,
        "last_link_id": len(links),
        "nodes": nodes,
        "links": links,
        "groups": [],
        "config": {},
        "extra": {},
        "version": 0.4,
    }


def link(source: str, output: int, name: str, target: str, input_: str, place: int) -> Graph:
    ends = {"from": source, "output": output, "output_name": name, "to": target}
    return {"do": "link", **ends, "input": input_, "input_index": place}


def add(raw: Graph, scope: str = "") -> Graph:
    address = f"{scope}:{raw['id']}" if scope else str(raw["id"])
    return {"do": "add", "scope": scope, "node": address, "raw": raw}


def upscale(id_: int, before: str = "LATENT") -> list[Graph]:
    """Between sampler 3 and decoder 8."""
    raw = node(id_, "LatentUpscaleBy", "samples:LATENT", "LATENT:LATENT", ["bislerp", 2])
    return [
        add(raw),
        link("3", 0, "LATENT", str(id_), "samples", 0),
        link(str(id_), 0, "LATENT", "8", "samples", 0),
    ]
