"""Edits of workflows: worked out on the server's graph, carried out on a canvas or on the graph.

planning.py       what an edit would make of a workflow; whether a canvas made just that
canvas.py         a call that a panel carries out on its canvas, and its result
turn_edits.py     the edits of one turn, which its tools make (`tools.ports.Edits`)
chat_edits.py     the edits of chats: those of running turns, and late results
taking_back.py    what people take back, make again, and go back to
"""
