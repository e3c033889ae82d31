"""The edits of answers, and which graph came with which message."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    op.add_column("workflows", sa.Column("edited", sa.String))
    made = sa.Column("made", sa.Boolean, nullable=False, server_default="0")
    op.add_column("workflows", made)
    op.create_table(
        "message_graphs",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("message_id", sa.String, primary_key=True),
        sa.Column("workflow_id", sa.String, nullable=False),
        sa.Column("revision", sa.String, nullable=False),
    )
    op.execute(
        "INSERT INTO message_graphs (chat_id, message_id, workflow_id, revision) "
        "SELECT chat_id, message_id, min(workflow_id), min(revision) FROM workflows "
        "WHERE message_id IS NOT NULL GROUP BY chat_id, message_id"
    )
    op.create_table(
        "edits",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("message_id", sa.String, nullable=False),
        sa.Column("workflow_id", sa.String, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("before", sa.String, nullable=False),
        sa.Column("after", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("undone", sa.Boolean, nullable=False, server_default="0"),
        sa.Column("takes_back", sa.String),
    )
    op.create_table(
        "edit_graphs",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("graph", sa.Text, nullable=False),
    )
