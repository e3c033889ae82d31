"""Upscaling is added: of pictures with a model, by a factor, and of latents."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="sdxl_upscale_with_model",
        kind="add upscaling",
        template="image_sdxl_simple",
        say="Upscale the picture with 4x-UltraSharp.pth before it is saved.",
        operations=(
            {
                "op": "add",
                "id": "upscaler",
                "type": "UpscaleModelLoader",
                "values": {"model_name": "4x-UltraSharp.pth"},
            },
            {
                "op": "insert",
                "id": "upscale",
                "type": "ImageUpscaleWithModel",
                "into": "7.images",
                "inputs": {"upscale_model": "upscaler.UPSCALE_MODEL"},
            },
        ),
        by_hand="""
            add('upscaler', 'UpscaleModelLoader', '', { model_name: '4x-UltraSharp.pth' })
            add('upscale', 'ImageUpscaleWithModel')
            link('upscaler', 'UPSCALE_MODEL', 'upscale', 'upscale_model')
            link('14', 'IMAGE', 'upscale', 'image')
            link('upscale', 'IMAGE', '7', 'images')
        """,
    ),
    Task(
        name="flux_dev_two_times_larger",
        kind="add upscaling",
        template="flux_dev_full_text_to_image",
        say="Upscale with RealESRGAN_x4plus.safetensors, then halve it, so it is two times larger.",
        operations=(
            {
                "op": "add",
                "id": "upscaler",
                "type": "UpscaleModelLoader",
                "values": {"model_name": "RealESRGAN_x4plus.safetensors"},
            },
            {
                "op": "insert",
                "id": "upscale",
                "type": "ImageUpscaleWithModel",
                "into": "9.images",
                "inputs": {"upscale_model": "upscaler.UPSCALE_MODEL"},
            },
            {
                "op": "insert",
                "id": "halve",
                "type": "ImageScaleBy",
                "into": "9.images",
                "values": {"upscale_method": "lanczos", "scale_by": 0.5},
            },
        ),
        by_hand="""
            add('upscaler', 'UpscaleModelLoader', '', {
                model_name: 'RealESRGAN_x4plus.safetensors',
            })
            add('upscale', 'ImageUpscaleWithModel')
            add('halve', 'ImageScaleBy', '', { upscale_method: 'lanczos', scale_by: 0.5 })
            link('upscaler', 'UPSCALE_MODEL', 'upscale', 'upscale_model')
            link('194', 0, 'upscale', 'image')
            link('upscale', 'IMAGE', 'halve', 'image')
            link('halve', 'IMAGE', '9', 'images')
        """,
    ),
    Task(
        name="sd35_second_pass",
        kind="add upscaling",
        template="sd3.5_simple_example",
        say="Add a second pass: latent 1.5 times larger, then 12 more steps at denoise 0.5.",
        operations=(
            {
                "op": "add",
                "id": "larger",
                "type": "LatentUpscaleBy",
                "values": {"scale_by": 1.5},
                "inputs": {"samples": "3.LATENT"},
            },
            {
                "op": "add",
                "id": "second",
                "type": "KSampler",
                "title": "Second pass",
                "values": {
                    "seed": 7,
                    "steps": 12,
                    "cfg": 4.01,
                    "sampler_name": "euler",
                    "scheduler": "sgm_uniform",
                    "denoise": 0.5,
                },
                "inputs": {
                    "model": "4.MODEL",
                    "positive": "16.CONDITIONING",
                    "negative": "40.CONDITIONING",
                    "latent_image": "larger.LATENT",
                },
            },
            {"op": "connect", "from": "second.LATENT", "to": "8.samples"},
        ),
        by_hand="""
            add('larger', 'LatentUpscaleBy', '', { scale_by: 1.5 })
            add('second', 'KSampler', '', {
                seed: 7, steps: 12, cfg: 4.01, sampler_name: 'euler', scheduler: 'sgm_uniform',
                denoise: 0.5,
            }).title = 'Second pass'
            link('3', 'LATENT', 'larger', 'samples')
            link('4', 'MODEL', 'second', 'model')
            link('16', 'CONDITIONING', 'second', 'positive')
            link('40', 'CONDITIONING', 'second', 'negative')
            link('larger', 'LATENT', 'second', 'latent_image')
            link('second', 'LATENT', '8', 'samples')
        """,
    ),
    Task(
        name="z_image_scale_by_factor",
        kind="add upscaling",
        template="image_z_image_turbo_int8",
        say="Make the picture two times larger with lanczos, without a model.",
        operations=(
            {
                "op": "insert",
                "id": "scale",
                "type": "ImageScaleBy",
                "into": "9.images",
                "values": {"upscale_method": "lanczos", "scale_by": 2},
            },
        ),
        by_hand="""
            add('scale', 'ImageScaleBy', '', { upscale_method: 'lanczos', scale_by: 2 })
            link('57', 0, 'scale', 'image')
            link('scale', 'IMAGE', '9', 'images')
        """,
    ),
    Task(
        name="wan_upscaled_frames",
        kind="add upscaling",
        template="text_to_video_wan",
        say="Upscale the frames with RealESRGAN_x2.pth and bring them to 1920 x 1080.",
        operations=(
            {
                "op": "add",
                "id": "upscaler",
                "type": "UpscaleModelLoader",
                "values": {"model_name": "RealESRGAN_x2.pth"},
            },
            {
                "op": "add",
                "id": "upscale",
                "type": "ImageUpscaleWithModel",
                "inputs": {"upscale_model": "upscaler.UPSCALE_MODEL", "image": "8.IMAGE"},
            },
            {
                "op": "add",
                "id": "full_hd",
                "type": "ImageScale",
                "values": {
                    "upscale_method": "area",
                    "width": 1920,
                    "height": 1080,
                    "crop": "center",
                },
                "inputs": {"image": "upscale.IMAGE"},
            },
            {"op": "connect", "from": "full_hd.IMAGE", "to": "49.images"},
        ),
        by_hand="""
            add('upscaler', 'UpscaleModelLoader', '', { model_name: 'RealESRGAN_x2.pth' })
            add('upscale', 'ImageUpscaleWithModel')
            add('full_hd', 'ImageScale', '', {
                upscale_method: 'area', width: 1920, height: 1080, crop: 'center',
            })
            link('upscaler', 'UPSCALE_MODEL', 'upscale', 'upscale_model')
            link('8', 'IMAGE', 'upscale', 'image')
            link('upscale', 'IMAGE', 'full_hd', 'image')
            link('full_hd', 'IMAGE', '49', 'images')
        """,
    ),
    Task(
        name="ovis_second_pass_in_the_subgraph",
        kind="add upscaling",
        template="image_ovis_text_to_image",
        say="Inside the subgraph, upscale the latent two times and sample again at 0.4.",
        operations=(
            {
                "op": "add",
                "id": "larger",
                "type": "LatentUpscaleBy",
                "inside": "57",
                "values": {"upscale_method": "bislerp", "scale_by": 2},
                "inputs": {"samples": "57:44.LATENT"},
            },
            {
                "op": "add",
                "id": "second",
                "type": "KSampler",
                "inside": "57",
                "values": {"seed": 0, "steps": 10, "cfg": 5, "denoise": 0.4},
                "inputs": {
                    "model": "57:47.MODEL",
                    "positive": "57:45.CONDITIONING",
                    "negative": "57:49.CONDITIONING",
                    "latent_image": "larger.LATENT",
                },
            },
            {"op": "connect", "from": "second.LATENT", "to": "57:43.samples"},
        ),
        by_hand="""
            add('larger', 'LatentUpscaleBy', '57', { upscale_method: 'bislerp', scale_by: 2 })
            add('second', 'KSampler', '57', { seed: 0, steps: 10, cfg: 5, denoise: 0.4 })
            link('57:44', 'LATENT', 'larger', 'samples')
            link('57:47', 'MODEL', 'second', 'model')
            link('57:45', 'CONDITIONING', 'second', 'positive')
            link('57:49', 'CONDITIONING', 'second', 'negative')
            link('larger', 'LATENT', 'second', 'latent_image')
            link('second', 'LATENT', '57:43', 'samples')
        """,
    ),
)
