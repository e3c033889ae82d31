"""HTTP: the only room that knows it. Requests are parsed, checked and refused here.

A handler is small: it reads a request into values, calls one thing that it was handed, and answers.
Every handler stands behind `guard.guarded`. Paths are given without `/api`, which ComfyUI adds.
"""
