"""Chats while they are in use: what may happen in one, what waits, and who is told of it.

    states.py     the states of a chat and the changes between them, one table (R35)
    commands.py, parsing.py  what a client can ask for, as values and from JSON (R36)
    gates.py      what becomes of a command in each state, one table
    session.py    one chat: its commands one after the other
    answering.py  how its turns begin, go on and end
    path.py       its current path, changed and told in one step
    queue.py      the messages that wait
    view.py       what the chat shows, and the events that tell of each change (R37)
    events.py     numbered events for any number of readers
    folding.py    events -> what a client shows; the law that the panel obeys, too
    deltas.py     what a chunk does to the streaming answer (R38)
    shapes.py     messages, versions and the queue as JSON
    feed.py       the list of chats as it changes
    sessions.py   all of one user's sessions

A turn itself is `turn`'s business, and what is kept that of `chats`; nothing here knows HTTP.
"""
