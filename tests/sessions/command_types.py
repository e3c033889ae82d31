"""The types of all commands, from the shapes of their JSON."""

from plugin.assistant.sessions.commands import CommandJson
from plugin.assistant.validation import adapter

COMMAND_TYPES: tuple[str, ...] = tuple(
    adapter(CommandJson).json_schema()["discriminator"]["mapping"]
)
