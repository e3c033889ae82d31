"""From a chat's log to a request: log -> plan -> request. Pure: no I/O, no clock, no randomness.

`chat_context.ChatContext` is the interface. Planning a request has these steps, each a module:

    log.py                 rows and rounds; repairs what would make a request invalid (R53)
    projections.py         the committed ranges of rows that are left out, with hashes (R28, R51)
    draft.py               the request under these projections, in segments
    fidelity.py            how much of each group is sent (R14, R17)
    compaction_policy.py   whether a mask or a cut is due, and how much it covers (R15, R21, R50)
    summary/               the summary of the rows that were cut (R16, R24, R26)
    emergency.py           shortens this one request by force (R29)
    rendering.py           the message order that the server requires (R19)
    validator.py           refuses invalid requests (R53)

`notes` are texts of one turn alone, `tail` their budget, `passages` the messages out of sight that
a turn asks for, `placed_notes` where all these stand. `limits` and `window` are the numbers,
`tokens` and `calibration` count tokens, `handles` and `left_out` name what a request leaves out
(R49), and `reporting` makes the report (R32).
"""
