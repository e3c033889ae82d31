"""One workflow for each defect, and its repair."""

from plugin.tests.edits.task import Task
from plugin.tests.edits.tasks.bodies import replaced

TASKS = (
    Task(
        name="unknown_decoder",
        kind="repair unknown node",
        template="flux_schnell",
        damage="""
workflow.nodes.find((node) => node.id === 8).type = 'FancyVAEDecode'
return workflow
""",
        say="I don't have FancyVAEDecode, use the usual decoder.",
        operations=({"op": "replace", "node": "8", "type": "VAEDecode"},),
        by_hand=replaced("8", "VAEDecode")
        + """
link('31', 'LATENT', '8', 'samples')
link('30', 'VAE', '8', 'vae')
link('8', 'IMAGE', '9', 'images')
""",
    ),
    Task(
        name="unknown_sampler_inside",
        kind="repair unknown node",
        template="video_kandinsky5_t2v",
        damage="""
const inner = workflow.definitions.subgraphs[0].nodes.find((node) => node.id === 9)
inner.type = 'VAEDecodeTurbo'
return workflow
""",
        say="The red node inside the subgraph should be a normal VAE decode.",
        operations=({"op": "replace", "node": "12:9", "type": "VAEDecode"},),
        by_hand=replaced("12:9", "VAEDecode")
        + """
link('12:8', 'LATENT', '12:9', 'samples')
link('12:6', 'VAE', '12:9', 'vae')
link('12:9', 'IMAGE', '12:10', 'images')
""",
    ),
    Task(
        name="latent_not_connected",
        kind="repair missing input",
        template="audio_stable_audio_example",
        damage="unlink('3', 'latent_image')",
        say="It says that the sampler has no latent. Fix it.",
        operations=({"op": "connect", "from": "11.LATENT", "to": "3.latent_image"},),
        by_hand="link('11', 'LATENT', '3', 'latent_image')",
    ),
    Task(
        name="conditioning_not_connected_deep_inside",
        kind="repair missing input",
        template="flux_depth_lora_example",
        damage="unlink('150:41:94', 'conditioning')",
        say="A required input is missing. Connect it.",
        operations=({"op": "connect", "from": "150:41:96.0", "to": "150:41:94.conditioning"},),
        by_hand="link('150:41:96', 0, '150:41:94', 'conditioning')",
    ),
    Task(
        name="mesh_input_gone_with_its_node",
        kind="repair missing input",
        template="3d_hunyuan3d_multiview_to_model",
        damage="remove('66')",
        say="The latent node got lost. I want the resolution 3072 again.",
        operations=(
            {
                "op": "add",
                "id": "latent",
                "type": "EmptyLatentHunyuan3Dv2",
                "values": {"resolution": 3072},
            },
            {"op": "connect", "from": "latent.LATENT", "to": "3.latent_image"},
        ),
        by_hand="""
add('latent', 'EmptyLatentHunyuan3Dv2', '', { resolution: 3072 })
link('latent', 'LATENT', '3', 'latent_image')
""",
    ),
    Task(
        name="vae_in_the_latent_input",
        kind="repair wrong type",
        template="hidream_i1_dev",
        damage="""
const wrong = workflow.links.find((link) => link[3] === 3 && link[4] === 3)
const source = (id) => workflow.nodes.find((node) => node.id === id).outputs[0]
source(wrong[1]).links = source(wrong[1]).links.filter((link) => link !== wrong[0])
source(55).links.push(wrong[0])
wrong[1] = 55
return workflow
""",
        say="The sampler gets a VAE where the latent should be.",
        operations=({"op": "connect", "from": "53.LATENT", "to": "3.latent_image"},),
        by_hand="link('53', 'LATENT', '3', 'latent_image')",
    ),
    Task(
        name="unknown_sampler_name",
        kind="repair not a choice",
        template="sdxlturbo_example",
        damage="""
workflow.nodes.find((node) => node.id === 14).widgets_values[0] = 'euler_a'
return workflow
""",
        say="ComfyUI does not know the sampler euler_a.",
        operations=({"op": "set", "node": "14", "values": {"sampler_name": "euler_ancestral"}},),
        by_hand="put('14', 'sampler_name', 'euler_ancestral')",
    ),
    Task(
        name="unknown_method_of_a_dynamic_node",
        kind="repair not a choice",
        template="utility_image_stitch",
        damage="""
workflow.nodes.find((node) => node.id === 21).widgets_values = [
  'scale dimensions', 2048, 2048, 'middle', 'lanczos4',
]
return workflow
""",
        say="Two choices of the resize node are not valid: use center and lanczos.",
        operations=(
            {
                "op": "set",
                "node": "21",
                "values": {"resize_type.crop": "center", "scale_method": "lanczos"},
            },
        ),
        by_hand="put('21', 'resize_type.crop', 'center'); put('21', 'scale_method', 'lanczos')",
    ),
    Task(
        name="steps_and_cfg_out_of_range",
        kind="repair out of range",
        template="image_sdxl_simple",
        damage="""
const values = workflow.nodes.find((node) => node.id === 12).widgets_values
values[2] = 0
values[3] = 700
return workflow
""",
        say="ComfyUI refuses the sampler's numbers. 25 steps and CFG 7 it should be.",
        operations=({"op": "set", "node": "12", "values": {"steps": 25, "cfg": 7}},),
        by_hand="put('12', 'steps', 25); put('12', 'cfg', 7)",
    ),
    Task(
        name="denoise_out_of_range_inside",
        kind="repair out of range",
        template="flux1_krea_dev",
        damage="at('200:197').widgets.find((own) => own.name === 'denoise').value = 1.5",
        say="Denoise is too high, set it to 1.",
        operations=({"op": "set", "node": "200:197", "values": {"denoise": 1}},),
        by_hand="put('200:197', 'denoise', 1)",
    ),
    Task(
        name="link_that_the_file_has_lost",
        kind="repair dangling link",
        template="ltxv_text_to_video",
        damage="""
workflow.links = workflow.links.filter((link) => !(link[3] === 71 && link[4] === 0))
return workflow
""",
        say="The scheduler's latent link is broken.",
        operations=({"op": "connect", "from": "70.LATENT", "to": "71.latent"},),
        by_hand="link('70', 'LATENT', '71', 'latent')",
    ),
    Task(
        name="link_to_an_output_that_is_not_there",
        kind="repair dangling link",
        template="sdxlturbo_example",
        damage="""
workflow.links.find((link) => link[3] === 8 && link[4] === 1)[2] = 7
return workflow
""",
        say="The decoder's VAE link leads nowhere.",
        operations=({"op": "connect", "from": "20.VAE", "to": "8.vae"},),
        by_hand="link('20', 'VAE', '8', 'vae')",
    ),
    Task(
        name="circle_of_model_patches",
        kind="repair cycle",
        template="wan2.1_fun_control",
        damage="link('66', 0, '65', 'model')",
        say="The model runs in a circle. Start it at the loader.",
        operations=({"op": "connect", "from": "37.MODEL", "to": "65.model"},),
        by_hand="link('37', 'MODEL', '65', 'model')",
    ),
    Task(
        name="circle_inside_a_subgraph",
        kind="repair cycle",
        template="image_flux2_klein_image_edit_9b_base",
        damage="""
link('75:122', 'CONDITIONING', '75:124', 'conditioning')
link('75:124', 'CONDITIONING', '75:122', 'conditioning')
""",
        say="Two nodes feed each other inside the subgraph; each needs its own prompt.",
        operations=(
            {"op": "connect", "from": "75:74.CONDITIONING", "to": "75:124.conditioning"},
            {"op": "connect", "from": "75:67.CONDITIONING", "to": "75:122.conditioning"},
        ),
        by_hand="""
link('75:74', 'CONDITIONING', '75:124', 'conditioning')
link('75:67', 'CONDITIONING', '75:122', 'conditioning')
""",
    ),
    Task(
        name="vae_that_is_not_installed",
        kind="repair missing model",
        template="flux_redux_model_example",
        damage="put('10', 'vae_name', 'flux_vae.safetensors')",
        say="I have ae.safetensors, not flux_vae.safetensors.",
        operations=({"op": "set", "node": "10", "values": {"vae_name": "ae.safetensors"}},),
        by_hand="put('10', 'vae_name', 'ae.safetensors')",
    ),
    Task(
        name="promoted_model_that_is_not_installed",
        kind="repair missing model",
        template="basic_switch_node",
        damage="""
const loader = workflow.definitions.subgraphs[0].nodes.find((node) => node.id === 52)
loader.widgets_values[0] = 'qwen3_4b_fp8.safetensors'
return workflow
""",
        say="The text encoder is missing, I only have qwen_3_4b.safetensors.",
        operations=(
            {
                "op": "set",
                "node": "64:52",
                "values": {"clip_name": "qwen_3_4b.safetensors"},
            },
        ),
        by_hand="put('64', 'clip_name', 'qwen_3_4b.safetensors')",
    ),
    Task(
        name="no_save_node",
        kind="repair no output",
        template="ltxv_text_to_video",
        damage="remove('79')",
        say="Nothing is saved. Save the video as video/mine.",
        operations=(
            {
                "op": "add",
                "id": "save",
                "type": "SaveVideo",
                "values": {"filename_prefix": "video/mine"},
                "inputs": {"video": "78.VIDEO"},
            },
        ),
        by_hand="""
add('save', 'SaveVideo', '', { filename_prefix: 'video/mine' })
link('78', 'VIDEO', 'save', 'video')
""",
    ),
    Task(
        name="save_node_muted",
        kind="repair no output",
        template="image_to_video_wan",
        damage="mode('56', 'mute')",
        say="The prompt has no outputs.",
        operations=({"op": "mode", "node": "56", "mode": "run"},),
        by_hand="mode('56', 'run')",
    ),
    Task(
        name="input_that_no_definition_has",
        kind="repair unknown value",
        template="image_to_video_wan",
        damage="""
const sampler = workflow.nodes.find((node) => node.id === 3)
const id = workflow.last_link_id + 1
sampler.inputs.push({ name: 'clip', type: 'CLIP', link: id })
workflow.links.push([id, 38, 0, 3, sampler.inputs.length - 1, 'CLIP'])
workflow.nodes.find((node) => node.id === 38).outputs[0].links.push(id)
workflow.last_link_id = id
return workflow
""",
        say="The sampler has an input clip that it should not have. Cut it.",
        operations=({"op": "disconnect", "to": "3.clip"},),
        by_hand="unlink('3', 'clip')",
    ),
)
