"""Words and ranking: what a search compares and how hits are ordered. It has no table."""
