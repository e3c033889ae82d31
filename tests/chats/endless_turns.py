"""A process that stores turns until it is killed, and prints each acknowledged write.

    python endless_turns.py DATABASE

One line per acknowledged write: `row <message id> <text length>` or `checkpoint <message id>
<text length>`. Used by `test_crash`.
"""

import asyncio
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _register() -> None:
    spec = importlib.util.spec_from_file_location("_bootstrap", ROOT / "scripts" / "bootstrap.py")
    assert spec is not None and spec.loader is not None
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    bootstrap.register(ROOT)


def _say(kind: str, identity: str, length: int) -> None:
    sys.stdout.write(f"{kind} {identity} {length}\n")
    sys.stdout.flush()


async def _turns(path: Path) -> None:
    from plugin.assistant.chats import ChatStore, TurnStart
    from plugin.assistant.database.sqlite import SqliteDatabase
    from plugin.assistant.messages.parts import Message, TextPart

    store = ChatStore(SqliteDatabase(path))
    await store.recover()
    chat = await store.get("c") or await store.create("c")
    turn = chat.messages
    while True:
        turn += 1
        await store.append("c", Message(f"u{turn}", "user", (TextPart("x" * turn),)))
        _say("row", f"u{turn}", turn)
        length = 0
        await store.begin_turn("c", TurnStart(Message(f"a{turn}", "assistant", ())))
        for length in range(100, 600, 100):
            answer = Message(f"a{turn}", "assistant", (TextPart("y" * length),))
            await store.checkpoint("c", answer)
            _say("checkpoint", f"a{turn}", length)
        await store.finish_answer("c", answer)
        _say("row", f"a{turn}", length)


if __name__ == "__main__":
    _register()
    asyncio.run(_turns(Path(sys.argv[1])))
