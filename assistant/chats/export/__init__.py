"""Chats as files: Markdown, JSON, JSON Lines; export and import."""
