"""ComfyUI workflows as values and as text for a model. Pure: no ComfyUI, no I/O."""
