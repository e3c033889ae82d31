"""What of a chat reaches the model: history -> plan. Pure: no I/O, no clock, no randomness.

`plan` is the way in. The stages it runs, in their order (R13):

    repair.py        calls without results, results without calls, ids used twice (R53)
    system.py        which system message a request gets, and where it stands (R1-R3)
    tool_results.py  old rounds become one line, long results are clamped (R14, R17)
    history.py       the newest groups that fit the limits, rounds never split (R15, R20)
    rendering.py     neighbouring user messages joined where a server wants alternation (R19)
    validator.py     the last word: no invalid request leaves (R53)

`groups` says what belongs together, `tokens` what it costs, `clamp` how text is shortened, and
`report` what the plan did.
"""
