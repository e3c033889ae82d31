"""Slash commands in a user message: their list, their answers, and `/skill`."""
