"""The parts of system messages: templates (`*.j2`), and what of the user's words fits into them.

`agent_prompts` (root) puts them together and is the way in for the other rooms.
"""
