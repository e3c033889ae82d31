"""Search without tables: terms of a text, places of messages, and the ranking of hits."""
