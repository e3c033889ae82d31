"""A user's skills, rules and preferences, and the summary of the user's ComfyUI.

Other rooms use it through `user_context_loader` at the root; `agent_prompts` renders it as text.
"""
