"""The log of a chat: its rows, the paths through them, and the answer in progress."""
