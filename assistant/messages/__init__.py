"""Messages in their three shapes, and the ways between them. Pure.

UI message JSON  <-> ui.py ->          Message (parts.py)        what clients send and the log keeps
Message           -> conversion.py ->  PromptMessage (prompt.py) what a model reads
chunks (chunks.py) -> fold.py ->       Message                   what an answer becomes

`json_text` writes the JSON of all of them.
"""
