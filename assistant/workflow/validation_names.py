"""The nearest right name for a wrong one.

Names are compared without regard to case, separators and endings of files. How much is compared in
one validation is limited, so that a workflow with thousands of wrong names is answered at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

LIKE_ENOUGH = 0.6
"""The least likeness of a name that is worth naming, from 0 to 1: difflib's own default."""
COMPARISONS = 20_000
"""Names that one validation compares: below a second in all."""
LONGEST_NAME = 200
"""Characters of a name that are compared."""
_SEPARATORS = re.compile(r"[\s_.\-\\/|()]+")
_ENDING = re.compile(r"\.(safetensors|sft|ckpt|pth?|pt2|bin|gguf|onnx|yaml|png|jpe?g|webp)$")


class Nearest:
    """Finds nearest names and remembers what it found; one object for one validation."""

    def __init__(self, comparisons: int = COMPARISONS) -> None:
        self._left = comparisons
        self._found: dict[tuple[str, int], str | None] = {}
        self._plain: dict[str, str] = {}
        self._kept: list[Sequence[Any]] = []

    def name(
        self, wrong: Any, names: Sequence[Any], like_enough: float = LIKE_ENOUGH
    ) -> str | None:
        """The name that is most like `wrong`; `None` where none is like it.

        The same file in another folder, or written with the other slash, comes before likeness.
        `names` has to stay as it is while this object is used.
        """
        if not isinstance(wrong, str) or not wrong:
            return None
        key = (wrong, id(names))
        if key not in self._found:
            self._kept.append(names)  # so that no other list gets its id
            self._found[key] = self._search(wrong, names, like_enough)
        return self._found[key]

    def _search(self, wrong: str, listed: Sequence[Any], like_enough: float) -> str | None:
        if self._left < len(listed):
            return None
        self._left -= len(listed)
        names = [one for one in listed if isinstance(one, str)]
        file = _file_name(wrong)
        slashed = wrong.replace("\\", "/").casefold()
        for same in (
            lambda name: name.replace("\\", "/").casefold() == slashed,
            lambda name: _file_name(name) == file,
        ):
            found = next((name for name in names if same(name)), None)
            if found is not None:
                return found
        return self._likest(wrong, names, like_enough)

    def _likest(self, wrong: str, names: list[str], like_enough: float) -> str | None:
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(self._comparable(wrong))
        best, found = like_enough, None
        for name in names:
            matcher.set_seq1(self._comparable(name))
            if matcher.real_quick_ratio() < best or matcher.quick_ratio() < best:
                continue
            ratio = matcher.ratio()
            if ratio > best or (ratio == best and found is None):
                best, found = ratio, name
        return found

    def _comparable(self, name: str) -> str:
        plain = self._plain.get(name)
        if plain is None:
            lower = _ENDING.sub("", name[:LONGEST_NAME].casefold())
            plain = self._plain[name] = _SEPARATORS.sub(" ", lower)
        return plain


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].casefold()
