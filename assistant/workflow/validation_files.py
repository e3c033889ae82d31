"""Which inputs list files, and of what: models, or the user's own pictures, sounds and the like.

ComfyUI's definitions do not say where a list of choices comes from. The rule here, the first that
applies:

1. Options that only lists of the user's own files have (`image_upload` and the like), or an input
   that is known to list them: input files.
2. An input that is known to list a folder of models: by its node and name, or by a name that all
   loaders use (`ckpt_name`, `lora_name`, …). From a ComfyUI 0.33 with one file in each folder.
3. A choice that ends like a model file (`.safetensors`, …): models, in a folder that is not known.
4. A choice that ends like a picture, sound, video or mesh: input files.
5. A value that ends so, in a list of at most two choices, as it is where no file is installed
   ("None"): what its ending says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Literal

from .inputs import Input

Kind = Literal["model", "file"]

MODEL_ENDINGS: Final = (
    ".safetensors", ".sft", ".ckpt", ".pt", ".pt2", ".pth", ".bin", ".pkl", ".gguf", ".onnx",
    ".engine",
)  # fmt: skip
"""ComfyUI's own endings of models, and those that widespread packages add."""
FILE_ENDINGS: Final = (
    ".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".exr", ".avif", ".svg",
    ".mp4", ".webm", ".mov", ".mkv", ".avi", ".m4v", ".wav", ".mp3", ".flac", ".ogg", ".opus",
    ".m4a", ".glb", ".gltf", ".obj", ".fbx", ".stl", ".ply", ".splat", ".spz", ".ksplat",
    ".latent", ".psd", ".hdr", ".pdf", ".txt",
)  # fmt: skip
FOLDERS: Final = {
    "ckpt_name": "checkpoints",
    "lora_name": "loras",
    "existing_lora": "loras",
    "vae_name": "vae",
    "unet_name": "diffusion_models",
    "clip_name": "text_encoders",
    "text_encoder": "text_encoders",
    "control_net_name": "controlnet",
    "controlnet_name": "controlnet",
    "style_model_name": "style_models",
    "gligen_name": "gligen",
    "hypernetwork_name": "hypernetworks",
    "photomaker_model_name": "photomaker",
    "audio_encoder_name": "audio_encoders",
    "bg_removal_name": "background_removal",
    "upscale_model_name": "upscale_models",
    "clip_vision_name": "clip_vision",
}
"""The folder below `models` by an input's name, without digits at its end."""
NODE_FOLDERS: Final = {
    ("CLIPVisionLoader", "clip_name"): "clip_vision",
    ("CheckpointLoader", "config_name"): "configs",
    ("DiffusersLoader", "model_path"): "diffusers",
    ("UpscaleModelLoader", "model_name"): "upscale_models",
    ("LatentUpscaleModelLoader", "model_name"): "latent_upscale_models",
    ("ModelPatchLoader", "name"): "model_patches",
    ("FrameInterpolationModelLoader", "model_name"): "frame_interpolation",
    ("OpticalFlowLoader", "model_name"): "optical_flow",
    ("LoadMoGeModel", "model_name"): "geometry_estimation",
    ("LoadDA3Model", "model_name"): "geometry_estimation",
    ("LoadMediaPipeFaceLandmarker", "model_name"): "detection",
}
"""The same for inputs whose name says less, or something else."""
INPUT_FILES: Final = frozenset({
    ("LoadLatent", "latent"), ("GeminiInputFiles", "file"), ("OpenAIInputFiles", "file"),
    ("LoadTrainingDataset", "folder_name"), ("LoadImageOutput", "image"),
})  # fmt: skip
"""Inputs that list the user's own files without an option that says so."""
LISTED_FOLDERS: Final = {"Load3D": "3d", "Load3DAdvanced": "3d"}
"""The folder in ComfyUI's input folder that a node lists, where it is not that folder itself."""
FEW: Final = 2
"""Choices of a list that may be one of files though it names none."""
_NUMBER = re.compile(r"_?\d+$")
_ANNOTATION = re.compile(r" \[(input|output|temp)\]$")


def listed_files(type_: str, name: str, one: Input, listed: Kind | None, value: Any) -> Kind | None:
    """What an input's choices are files of; `None` where they are no files. See the rule above.

    `listed` is `files_by_ending` of the choices.
    """
    plain = name.rpartition(".")[2]
    if one.lists_files or (type_, plain) in INPUT_FILES:
        return "file"
    if model_folder(type_, name) is not None:
        return "model"
    few = len(one.choices or ()) <= FEW
    return listed or (files_by_ending((value,)) if few else None)


def model_folder(type_: str, name: str) -> str | None:
    """The folder below `models` that an input lists; `None` where that is not known."""
    plain = name.rpartition(".")[2]
    return NODE_FOLDERS.get((type_, plain)) or FOLDERS.get(_NUMBER.sub("", plain))


def files_by_ending(values: Iterable[Any]) -> Kind | None:
    """What these are files of, by their endings; models count more than other files."""
    texts = [value.lower() for value in values if isinstance(value, str)]
    if any(text.endswith(MODEL_ENDINGS) for text in texts):
        return "model"
    return "file" if any(text.endswith(FILE_ENDINGS) for text in texts) else None


def plain_file(value: str) -> tuple[str, str]:
    """A file's name without the folder that ComfyUI writes behind it, and that folder.

    `"fox.png [output]"` is `("fox.png", "output")`; without such a note the folder is `input`.
    """
    found = _ANNOTATION.search(value)
    return (value[: found.start()], found[1]) if found else (value, "input")


def beyond_the_list(type_: str, value: Any) -> bool:
    """Whether an input file may exist though the list of choices does not have it.

    Nodes that load pictures and the like list one folder, and read from any folder in ComfyUI's
    input folder and from the folders of outputs, too. An empty name is that folder itself.
    """
    if not isinstance(value, str):
        return False
    name, folder = plain_file(value.replace("\\", "/"))
    inside = name.rpartition("/")[0]
    return folder != "input" or not name or inside != LISTED_FOLDERS.get(type_, "")
