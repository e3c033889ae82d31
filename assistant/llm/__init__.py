"""Talking to LLM servers: the only room that uses the openai client.

`openai` is imported by the first request, so that ComfyUI starts as fast as without it.
"""
