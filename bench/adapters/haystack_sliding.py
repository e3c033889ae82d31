"""haystack's `SlidingWindowCompactor` with its defaults."""

from haystack.hooks.compaction import SlidingWindowCompactor
from haystack_messages import serve_compactor

serve_compactor(SlidingWindowCompactor())
