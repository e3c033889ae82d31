"""Chats that are pinned, and chats that are deleted and can be brought back."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    op.add_column("chats", sa.Column("pinned", sa.Boolean, nullable=False, server_default="0"))
    op.add_column("chats", sa.Column("deleted", sa.String))
