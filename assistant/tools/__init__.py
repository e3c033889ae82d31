"""What the model may do. A tool reads, edits or acts; it runs on the server or in the panel.

`tool` says what a tool is, `toolset` which there are and what the provider is told of them; the
other modules are the tools, one topic each.
"""
