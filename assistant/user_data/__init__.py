"""All data of one ComfyUI user: how much there is, and one archive with everything (R62)."""
