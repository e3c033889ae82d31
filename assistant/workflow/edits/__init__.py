"""Edits of a workflow: a batch of operations, worked out on its JSON without a canvas."""
