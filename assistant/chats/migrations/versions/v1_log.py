"""The chats, their log, and the answers in progress."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "chats",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("title_source", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("updated", sa.String, nullable=False),
        sa.Column("activity", sa.Integer, nullable=False),
        sa.Column("head_row", sa.Integer),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("allowed_tools", sa.Text, nullable=False),
        sa.Column("workflow", sa.Text),
        sa.Column("log_chars", sa.Integer, nullable=False),
    )
    op.create_index("chats_by_activity", "chats", ["activity"])
    op.create_table(
        "messages",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("row", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("parent_row", sa.Integer),
        sa.Column("message_id", sa.String, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("run_start", sa.Integer, nullable=False),
        sa.Column("run_parent", sa.Integer),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("messages_by_id", "messages", ["chat_id", "message_id"])
    op.create_table(
        "running",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("message_id", sa.String, nullable=False),
        sa.Column("parent_row", sa.Integer),
        sa.Column("started", sa.String, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
