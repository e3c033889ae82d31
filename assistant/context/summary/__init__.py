"""The rolling summary, which replaces the rows that cuts cover (R16, R24, R26).

    ledger.py       the net changes of the workflow, computed from tool calls
    extract.py      exact values, corrections and decisions in a text, found by patterns
    state.py        the summary as a value, extended by the groups of each cut
    text.py         the summary as a message, within its words and tokens
    llm_summary.py  the request for an LLM summary, and the check of its answer

All of it is deterministic and calls no model.
"""
