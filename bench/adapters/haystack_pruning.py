"""haystack's `ToolResultPruningCompactor` with its defaults: it only replaces old results."""

from haystack.hooks.compaction import ToolResultPruningCompactor
from haystack_messages import serve_compactor

serve_compactor(ToolResultPruningCompactor())
