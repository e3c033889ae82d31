"""The types of all commands, as the JSON that is read has them."""

from plugin.assistant.sessions.commands import CommandJson
from plugin.assistant.validation import adapter

COMMAND_TYPES: tuple[str, ...] = tuple(
    adapter(CommandJson).json_schema()["discriminator"]["mapping"]
)
