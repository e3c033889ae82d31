"""Chats while they are in use: which command may run, which messages wait, which readers follow.

    chat_session.py    one chat: carries out its commands one after the other (R36)
    commands.py        the commands, parsed from JSON
    gates.py           whether a command runs, waits or is refused in each state: one table
    states.py          the states of a chat and the changes between them: one table (R35)
    chat_turns.py      how turns begin, go on and end, for the readers of the chat
    path.py            changes of the chat's current path
    message_queue.py   the messages that wait
    live_chat.py       the chat as its readers have it; each change is sent as an event (R37)
    event_log.py       numbered events for any number of readers
    merged_chunks.py, serialization.py   what events and snapshots hold, as JSON
    feed.py            the list of chats as it changes
    sessions.py        all sessions of one ComfyUI user

`turn` runs a turn and `chats` stores it; nothing here knows HTTP.
"""
