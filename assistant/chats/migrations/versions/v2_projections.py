"""The projections of a chat's context: the messages that its requests leave out."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    op.create_table(
        "cuts",
        sa.Column(
            "chat_id", sa.String, sa.ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("first", sa.Integer, nullable=False),
        sa.Column("end", sa.Integer, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
    )
    op.create_table(
        "projections",
        sa.Column(
            "chat_id", sa.String, sa.ForeignKey("chats.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("body", sa.Text, nullable=False),
    )
