"""Keeps chats in memory while the database takes no writes."""
