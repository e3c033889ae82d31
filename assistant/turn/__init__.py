"""One turn: from a user message to the end of its answer, with tools and suspensions.

In the order of a turn:

    request.py            what a client asks for
    service.py            request -> running turn; lists the idle jobs
    opening.py            what the request adds to the log, and what the turn begins with
    turn.py               the turn as a value, and its observer
    runner.py             the loop: prepare, ask, write, run tools, again
    preparation.py        provider, window, system message and tools of the turn; plans requests
    conversation.py, conversations.py   the chat's messages as rows of its context
    model_request.py      one request: planned, sent, written, its use counted
    answer_writer.py      a provider's events -> chunks
    calls.py              runs tools, asks first, stops repetition
    stream.py             the chunks so far, then live, for any number of readers
    recorder.py           the answer in the store
    decisions.py          how a suspended turn goes on or ends
    slash/                slash commands and `/skill` (R12, R41)
    idle/                 work between two turns: titles, summaries
    turn_notes.py         events and recalled passages for the tail of the turn's requests (R56)
    loaded_tools.py       the groups of tools that stay where prompts are cached
    standing_notes.py     the open workflow and a reminder, as lines of the tail
    skills_in_use.py      the skills that the system message of later turns names
    history.py            the chat's log, for tools and for recall (R49)
    found_rows.py         rows of the context for the pieces of messages that a search found
    services.py           what every turn uses

Chunks are those of the UI message stream. Nothing here knows HTTP or a queue (`sessions`).
"""
