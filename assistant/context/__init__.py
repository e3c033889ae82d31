"""What of a chat reaches the model: log -> plan -> request. Pure: no I/O, no clock, no randomness.

`chat_context.ChatContext` is the way in. A request comes about in these steps, each a module:

    log.py           rows as they come; rounds; what would make a request invalid is mended (R53)
    projections.py   what the chat has committed to leave out, as ranges with hashes (R28, R51)
    draft.py         the request under those: system, head, summary, asked, tail
    shapes.py        how much of each group: whole, admitted, clamped, as lines (R14, R17)
    commitment.py    whether more must be left out, and where to cut (R15, R21, R27, R50)
    summary/         what stands for the rows that were cut (R16, R24, R26)
    emergency.py     made to fit by force, for this one request (R29)
    rendering.py     as the server wants it (R19)
    validator.py     the last word: no invalid request leaves (R53)

`limits` and `window` are the numbers, `tokens` and `calibration` what texts cost, `handles` and
`left_out` how everything can be had back (R49), `reporting` what the plan did (R32).
"""
