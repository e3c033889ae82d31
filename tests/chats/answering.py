"""A process that is giving an answer, for `test_ownership`:

    python answering.py DATABASE

It makes a chat `theirs` with an answer in progress and an empty chat `quiet`, says `answering`, and
finishes the answer when it reads `finish`.
"""

import asyncio
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


async def _answer(path: Path) -> None:
    from plugin.assistant.chats import ChatStore, TurnStart
    from plugin.assistant.database.lease import this_process
    from plugin.assistant.database.sqlite import SqliteDatabase
    from plugin.assistant.messages.parts import Message, TextPart

    store = ChatStore(SqliteDatabase(path), owner=this_process("127.0.0.1:8189"))
    for chat in ("theirs", "quiet"):
        await store.create(chat)
    await store.append("theirs", Message("u1", "user", (TextPart("Hello"),)))
    await store.begin_turn("theirs", TurnStart(Message("a1", "assistant", ())))
    await store.checkpoint("theirs", Message("a1", "assistant", (TextPart("Hal"),)))
    sys.stdout.write("answering\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    await store.finish_answer("theirs", Message("a1", "assistant", (TextPart("Done"),)))
    sys.stdout.write("finished\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    runpy.run_path(str(ROOT / "scripts" / "bootstrap.py"))["register"]()
    asyncio.run(_answer(Path(sys.argv[1])))
