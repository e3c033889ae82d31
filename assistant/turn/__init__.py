"""One turn: from a user message to the end of the answer, tools and suspensions included.

    launcher.py   launches turns, and knows what those of a chat need
    opening.py    what a request means for the log, and what the turn begins with
    command.py    `/skill` in a user's message (R12)
    conversation.py, conversations.py  the chat's messages as the rows of its context
    chat_memory.py  the whole log, for the tools that look into it
    summariser.py  what a model tells of the messages that are not sent any more
    runner.py     the loop: prepare, ask, write, run tools, again
    asking.py     one request: planned, asked, written, accounted for
    preparation.py  the provider, the system message and the plan of one request
    writer.py     a provider's events -> chunks
    calls.py      running tools, asking first, stopping repetition
    call_ids.py   ids of calls that are unique in a chat
    decisions.py  what lets a suspended turn go on, or ends it
    slash.py, replies.py  the slash commands, and what they are answered (R41)
    storable.py   what of a model's or a panel's value the log can hold
    running.py    the turn as others see it: its chunks so far, then live
    recorder.py   the turn's answer in the log
    measure.py, account.py   what a turn took, and what a request cost
    completion.py one prompt, one text: the model without a chat

The chunks are the UI message stream's. Nothing here knows HTTP, or a queue (`sessions`).
"""
