"""The HTTP API: the only room that uses HTTP. Requests are checked, parsed and refused here.

`table` lists all routes, `route` says how a request gets to its handler, `guard` refuses requests,
`openapi` describes the API. A handler gets parsed values, calls one part of the assistant, and
returns a response. Paths are given without `/api`, which ComfyUI adds.
"""
