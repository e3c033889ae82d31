"""The rolling summary: what a cut leaves of the rows that it covers (R16, R24, R26).

    ledger.py     the net changes of the workflow, computed from tool calls
    extract.py    what a row says that must not be lost: values, errors, corrections, decisions
    state.py      the summary as a value: the last one and the new groups in, the new one out
    text.py       the value as the message that the model reads, within its words and tokens

All of it is deterministic and asks no model.
"""
