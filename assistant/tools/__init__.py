"""The tools of the model. A tool reads, edits or acts; it runs on the server or in the panel.

tool.py         a tool as data, and the context that it runs in
parameters.py   its arguments: a JSON schema, and the function that checks JSON against it
toolset.py      all tools: which tools a request offers, and how a tool is called
ports.py        protocols of the parts of other rooms that tools use
*_tools.py      the tools, one topic each
"""
