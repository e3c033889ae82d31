"""The texts of people, models and ComfyUI in a benchmark session. Data only."""

from __future__ import annotations

from typing import Any

SYSTEM = (
    "You are ComfyUI Assistant, an expert on ComfyUI workflows who works inside the user's own "
    "installation. You see the workflow on the canvas through tools, never by guessing. Look "
    "before you change anything, change only what was asked for, and say what you changed with "
    "node ids and values. Use node types that searchNodes or getNodeInfo confirm, and models that "
    "getAvailableModels lists. When a run fails, read the error, name the node and the cause, and "
    "repair it. Keep the user's seeds and prompts unless told otherwise. Answer in the language "
    "of the user, briefly, without repeating whole workflows."
)
"""The beginning of every session's log."""

ADJECTIVES = (
    "amber brass cobalt dusty ember frosted golden hollow ivory jade kelp lunar misty nimble opal "
    "pearl quiet rusty silver tidal umber velvet windy yellow zinc azure birch coral"
).split()
NOUNS = (
    "lighthouse harbour orchard cathedral bicycle teapot locomotive greenhouse violin glacier "
    "carousel library meadow observatory pier quarry reef sawmill tram vineyard windmill yacht "
    "abbey bakery canyon dovecote estuary foundry"
).split()

REQUESTS = (
    "Make the picture of the {topic} sharper without changing its composition.",
    "I want the {topic} in the foreground, a bit larger, and the light coming from the left.",
    "Why does the {topic} come out so dark? Have a look at the sampler and the prompt, please.",
    "Try a different sampler for the {topic} and tell me what you changed.",
    "Can you set this up so that I get four variants of the {topic} in one run?",
    "The colours of the {topic} are too saturated. Fix it, but leave the seed alone.",
    "Which nodes would I need to put the {topic} on a transparent background?",
    "Run it again with the {topic} and tell me whether it worked.",
    "Please check the whole workflow for the {topic}; something is connected wrongly, I think.",
    "Go back to what we had for the {topic} before, only with more steps.",
)
CORRECTIONS = (
    "No, that's wrong: for the {topic} keep the {kind} that I gave you, {value}.",
    "Stop changing the sampler of the {topic}. From now on ask me first. The {kind} is {value}.",
    "I said landscape, not portrait, for the {topic}. The {kind} is {value}.",
    "Please always use the {kind} {value} for the {topic}, never the default.",
)
INSTRUCTIONS = (
    "Remember for later: the {kind} of the {topic} is {value}.",
    "The client gave the {topic} the {kind} {value}; keep that in mind.",
    "For every {topic} picture use the {kind} {value} from my notes.",
)
FOREIGN_REQUESTS = (
    "请把{topic}的分辨率提高一倍，然后重新运行，参考编号是 {value}。",
    "もう少し明るい{topic}にしてください。管理番号は {value} です。",
    "{topic} 이미지를 더 밝게 해 주세요. 참조 번호는 {value} 입니다.",
    "Mach die Farben vom {topic} bitte wärmer; die Auftragsnummer lautet {value}.",
    "Сделай {topic} светлее, номер заказа {value}.",
    "Hazme el {topic} más nítido, por favor; la referencia es {value}.",
)
FOREIGN_ANSWERS = (
    "好的，我先看一下工作流，然后再调整{topic}的参数。",
    "了解しました。まずワークフローを確認してから{topic}を調整します。",
    "네, 먼저 워크플로를 확인하고 {topic} 설정을 바꾸겠습니다.",
    "Gern, ich sehe mir zuerst den Workflow an und ändere dann den {topic}.",
    "Хорошо, сначала посмотрю рабочий процесс, потом изменю {topic}.",
    "De acuerdo, primero miro el flujo y luego cambio el {topic}.",
)

OPENINGS = (
    "Let me look at the workflow first.",
    "I'll check the nodes that feed the sampler.",
    "I'll change that and validate the graph.",
    "One moment, I am reading the node definitions.",
    "",
    "",
)
ANSWERS = (
    "Done. The {topic} now uses the new values; nothing else was touched. If the edges are still "
    "soft, the next thing to try is a second pass with a low denoise.",
    "I changed what you asked for on the {topic}. The graph validates, and the run is queued.",
    "The cause was the conditioning of the {topic}: the negative prompt took the highlights away. "
    "I shortened it and left the rest.",
    "That worked: the {topic} was rendered without errors. Tell me if you want more variants.",
    "Two things matter for the {topic}: the step count and the scheduler. I raised the first and "
    "left the second as it was, because you asked me not to touch it.",
)
DECISIONS = (
    "I decided to keep the {topic} at the {kind} {value}, since the other one failed.",
    "For the record, the {kind} of the {topic} is {value}.",
    "I noted {value} as the {kind} of the {topic} and will use it from here on.",
)

ERRORS = (
    "Prompt outputs failed validation: KSampler {node}: - Value not in list: sampler_name: "
    "'{value}' not in ['euler', 'euler_ancestral', 'heun', 'dpm_2', 'dpmpp_2m', 'ddim', 'uni_pc']",
    "Prompt outputs failed validation: CheckpointLoaderSimple {node}: - Value not in list: "
    "ckpt_name: '{value}.safetensors' not in (list of length 37)",
    "Error(s) in loading state_dict for Flux: size mismatch for img_in.weight: copying a param "
    "with shape torch.Size([3072, 64]) from checkpoint {value}, the shape in current model is "
    "torch.Size([3072, 128]).",
    "[Errno 2] No such file or directory: 'models/loras/{value}.safetensors'",
    "Allocation on device 0 would exceed allowed memory. (out of memory) Currently allocated: "
    "21.44 GiB, requested: 2.25 GiB, while running node {node} for prompt {value}",
    "mat1 and mat2 shapes cannot be multiplied (77x2048 and 768x320) in node {node}, run {value}",
    "Required input is missing: vae (node {node}, request {value})",
    "Failed to convert an input value to a FLOAT value: cfg, {value}, could not convert string to "
    "float (node {node})",
)

NODE_KINDS: dict[str, dict[str, Any]] = {
    "LoraLoaderModelOnly": {"lora_name": "detail_tweaker.safetensors", "strength_model": 0.8},
    "ImageScaleBy": {"upscale_method": "lanczos", "scale_by": 2.0},
    "ImageSharpen": {"sharpen_radius": 1, "sigma": 0.6, "alpha": 0.4},
    "UpscaleModelLoader": {"model_name": "4x_foolhardy_Remacri.pth"},
    "FreeU_V2": {"b1": 1.3, "b2": 1.4, "s1": 0.9, "s2": 0.2},
    "PreviewImage": {},
    "ImageBlur": {"blur_radius": 2, "sigma": 1.0},
    "ModelSamplingFlux": {"max_shift": 1.15, "base_shift": 0.5, "width": 1024, "height": 1024},
}
"""Nodes that a session adds, with their first values."""
SAMPLERS = (
    "euler",
    "euler_ancestral",
    "dpmpp_2m",
    "dpmpp_2m_sde",
    "ddim",
    "uni_pc",
    "res_multistep",
)
SCHEDULERS = ("normal", "karras", "simple", "sgm_uniform", "beta", "exponential")
MODEL_WORDS = (
    "anime detail film grain juggernaut lightning realism turbo vivid sketch watercolor portrait "
    "hyper cinematic inpaint depth canny tile"
).split()
DESCRIPTIONS = (
    "Applies the model patch to the incoming model and passes the rest through unchanged.",
    "Scales an image by a factor with one of several interpolation methods.",
    "Encodes a text prompt with a CLIP model into an embedding that guides the diffusion model.",
    "Uses the provided model, positive and negative conditioning to denoise the latent image.",
    "Loads a diffusion checkpoint; a variational autoencoder and a text model come with it.",
    "Decodes latent images back into pixel space images.",
)
