"""The graphs that the workflows of a chat had."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    op.create_table(
        "workflows",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("workflow_id", sa.String, primary_key=True),
        sa.Column("revision", sa.String, primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("message_id", sa.String),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("nodes", sa.Integer, nullable=False),
        sa.Column("graph", sa.Text, nullable=False),
    )
