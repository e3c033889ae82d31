"""Full-text search over the messages of chats."""
