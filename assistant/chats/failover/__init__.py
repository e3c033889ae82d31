"""What happens to chats while the database file takes no writes: they are kept in memory."""
