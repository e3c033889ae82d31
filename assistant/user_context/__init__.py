"""What a user adds to the assistant, and how it is kept: skills, rules, preferences, environment.

`user_context_loader` (root) is the way in for the other rooms; `agent_prompts` makes text of it.
"""
