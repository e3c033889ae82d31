"""How much memory objects hold, as against how much their owner counts."""

from __future__ import annotations

import gc
import sys
import types

_SHARED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


def held_bytes(*roots: object) -> int:
    """The bytes of all objects that can be reached from `roots`, each once, without code."""
    seen: set[int] = set()
    waiting = list(roots)
    total = 0
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, _SHARED):
            continue
        seen.add(id(item))
        total += sys.getsizeof(item)
        waiting.extend(gc.get_referents(item))
    return total
