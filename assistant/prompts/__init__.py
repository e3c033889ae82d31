"""The parts of system messages: templates (`*.j2`), and the user context within its caps.

Other rooms use it through `agent_prompts` at the root, which renders the templates.
"""
