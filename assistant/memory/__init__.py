"""What holds across chats: statements of the user, each with the words that it comes from."""
