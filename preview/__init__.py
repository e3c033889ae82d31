"""ComfyUI's stock front end with this plugin, without ComfyUI's engine."""
