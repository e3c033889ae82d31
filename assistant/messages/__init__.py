"""Messages in three forms, and the conversions between them. Pure.

UI message JSON  <-> ui.py ->          Message (parts.py)        clients send it, the log stores it
Message           -> conversion.py ->  PromptMessage (prompt.py) a model reads it
chunks (chunks.py) -> fold.py ->       Message                   an answer's stream becomes it

`json_text` writes the JSON of all three.
"""
