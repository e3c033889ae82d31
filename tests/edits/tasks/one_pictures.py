"""Text to image becomes image to image."""

from plugin.tests.edits.task import Task

TASKS = (
    Task(
        name="sdxl_from_a_picture",
        kind="image to image",
        template="image_sdxl_simple",
        say="Start from my picture portrait.png instead of noise, with denoise 0.6.",
        operations=(
            {
                "op": "add",
                "id": "picture",
                "type": "LoadImage",
                "values": {"image": "portrait.png"},
            },
            {
                "op": "add",
                "id": "encode",
                "type": "VAEEncode",
                "inputs": {"pixels": "picture.IMAGE", "vae": "15.VAE"},
            },
            {"op": "connect", "from": "encode.LATENT", "to": "12.latent_image"},
            {"op": "set", "node": "12", "values": {"denoise": 0.6}},
            {"op": "remove", "node": "13"},
        ),
        by_hand="""
            add('picture', 'LoadImage', '', { image: 'portrait.png' })
            add('encode', 'VAEEncode')
            link('picture', 'IMAGE', 'encode', 'pixels')
            link('15', 'VAE', 'encode', 'vae')
            link('encode', 'LATENT', '12', 'latent_image')
            put('12', 'denoise', 0.6)
            remove('13')
        """,
    ),
    Task(
        name="sd35_from_a_picture_at_one_megapixel",
        kind="image to image",
        template="sd3.5_simple_example",
        say="Use house.jpg as the start, scaled to one megapixel with lanczos, denoise 0.55.",
        operations=(
            {"op": "add", "id": "house", "type": "LoadImage", "values": {"image": "house.jpg"}},
            {
                "op": "add",
                "id": "scaled",
                "type": "ImageScaleToTotalPixels",
                "values": {"upscale_method": "lanczos", "megapixels": 1},
                "inputs": {"image": "house.IMAGE"},
            },
            {
                "op": "add",
                "id": "latent",
                "type": "VAEEncode",
                "inputs": {"pixels": "scaled.IMAGE", "vae": "4.VAE"},
            },
            {"op": "connect", "from": "latent.LATENT", "to": "3.latent_image"},
            {"op": "set", "node": "3", "values": {"denoise": 0.55}},
            {"op": "remove", "node": "53"},
        ),
        by_hand="""
            add('house', 'LoadImage', '', { image: 'house.jpg' })
            add('scaled', 'ImageScaleToTotalPixels', '', {
                upscale_method: 'lanczos', megapixels: 1,
            })
            add('latent', 'VAEEncode')
            link('house', 'IMAGE', 'scaled', 'image')
            link('scaled', 'IMAGE', 'latent', 'pixels')
            link('4', 'VAE', 'latent', 'vae')
            link('latent', 'LATENT', '3', 'latent_image')
            put('3', 'denoise', 0.55)
            remove('53')
        """,
    ),
    Task(
        name="wan22_from_a_picture",
        kind="image to image",
        template="video_wan2_2_5B_ti2v",
        say="Make it image to video, from dancer.png.",
        operations=(
            {"op": "mode", "node": "56", "mode": "run"},
            {"op": "set", "node": "56", "values": {"image": "dancer.png"}},
        ),
        by_hand="""
            mode('56', 'run')
            put('56', 'image', 'dancer.png')
        """,
    ),
    Task(
        name="hidream_from_a_picture",
        kind="image to image",
        template="hidream_i1_full",
        say="Turn this into image to image with sketch.png (denoise 0.7). Keep the empty latent.",
        operations=(
            {"op": "add", "id": "sketch", "type": "LoadImage", "values": {"image": "sketch.png"}},
            {
                "op": "add",
                "id": "encode",
                "type": "VAEEncode",
                "inputs": {"pixels": "sketch.IMAGE", "vae": "81.VAE"},
            },
            {"op": "connect", "from": "encode.LATENT", "to": "93.latent_image"},
            {"op": "set", "node": "93", "values": {"denoise": 0.7}},
        ),
        by_hand="""
            add('sketch', 'LoadImage', '', { image: 'sketch.png' })
            add('encode', 'VAEEncode')
            link('sketch', 'IMAGE', 'encode', 'pixels')
            link('81', 'VAE', 'encode', 'vae')
            link('encode', 'LATENT', '93', 'latent_image')
            put('93', 'denoise', 0.7)
        """,
    ),
    Task(
        name="flux_dev_from_a_picture_in_the_subgraph",
        kind="image to image",
        template="flux_dev_full_text_to_image",
        say="Inside the subgraph, start from forest.png with denoise 0.8, not from nothing.",
        operations=(
            {
                "op": "add",
                "id": "forest",
                "type": "LoadImage",
                "inside": "194",
                "values": {"image": "forest.png"},
            },
            {
                "op": "add",
                "id": "encode",
                "type": "VAEEncode",
                "inside": "194",
                "inputs": {"pixels": "forest.IMAGE", "vae": "194:45.VAE"},
            },
            {"op": "connect", "from": "encode.LATENT", "to": "194:50.latent_image"},
            {"op": "set", "node": "194:50", "values": {"denoise": 0.8}},
        ),
        by_hand="""
            add('forest', 'LoadImage', '194', { image: 'forest.png' })
            add('encode', 'VAEEncode', '194')
            link('forest', 'IMAGE', 'encode', 'pixels')
            link('194:45', 'VAE', 'encode', 'vae')
            link('encode', 'LATENT', '194:50', 'latent_image')
            put('194:50', 'denoise', 0.8)
        """,
    ),
)
