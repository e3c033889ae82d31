"""The queue, the parameters, the draft and the unread mark of a chat; an index to find branches;
the process that gives an answer; the attachments of each chat."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    op.add_column("chats", sa.Column("unread", sa.Boolean, nullable=False, server_default="0"))
    op.add_column("chats", sa.Column("params", sa.Text, nullable=False, server_default="{}"))
    op.add_column("chats", sa.Column("draft", sa.Text))
    op.add_column("chats", sa.Column("branched_from", sa.Text))
    op.execute(
        'CREATE INDEX messages_by_branch ON messages (chat_id, run_parent) WHERE "row" = run_start'
    )
    op.create_table(
        "queue",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("type", sa.String, nullable=False),
        sa.Column("priority", sa.Boolean, nullable=False),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("message", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.add_column("running", sa.Column("owner", sa.Text))
    op.add_column("running", sa.Column("beat", sa.String))
    op.create_table(
        "attachments",
        sa.Column("chat_id", sa.String, sa.ForeignKey("chats.id"), primary_key=True),
        sa.Column("sha256", sa.String, primary_key=True),
    )
    op.create_index("attachments_by_content", "attachments", ["sha256"])
    op.create_table("attachments_gone", sa.Column("sha256", sa.String, primary_key=True))
