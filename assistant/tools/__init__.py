"""What the model may do. A tool reads, edits or acts; it runs on the server or in the panel.

tool.py         a tool as data, and the context that it runs in
parameters.py   its arguments: a JSON schema, and the function that checks JSON against it
toolset.py      all tools: which of them a request offers, and how one is called
ports.py        what tools need of other rooms
*_tools.py      the tools, one topic each
"""
