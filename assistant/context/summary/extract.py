"""Finds exact values, corrections, decisions and next steps in a text by patterns, in several
languages. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..clamp import clamp_text

_VALUE = re.compile(
    r"""
      https?://[^\s"'<>)\]}]+                              # addresses
    | (?:[A-Za-z]:|(?!\B\w))[\w.~-]*(?:[/\\][\w.~ -]*\w)+\.\w{2,11}\b   # paths with a file
    | \b[\w-]+(?:\.[\w-]+)*\.(?:safetensors|sft|ckpt|pth?|gguf|onnx|bin|png|jpe?g|webp|mp4|gif
        |wav|flac|mp3|json|ya?ml|txt|py)\b                 # files
    | \b\d{2,5}\s?[x×]\s?\d{2,5}\b                         # sizes
    | \b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+\b   # ids with a digit
    | \b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,64}\b  # hashes
    | \b\d{5,20}\b                                         # seeds and other long numbers
    | \b[a-z]+(?:_[a-z0-9]+){1,5}\b                        # choices such as dpmpp_2m
    | `[^`\n]{2,80}` | "[^"\n]{2,60}"                      # what somebody quoted
    """,
    re.VERBOSE,
)
_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]}]+")
_SPACE = re.compile(r"\s")
LONGEST_VALUE = 256
"""Characters of a value, addresses excepted; paths may be 260 characters long in Windows."""
WINDOW = 2 * LONGEST_VALUE + 64
"""Characters that the pattern sees at a time; the rest is for a match that the end of the window
cuts off."""
_CORRECTION = re.compile(
    r"(?:^|[.!?;,]\s+|\n)\s*(?:(?:but|and|so)\s+)?(?:no\b|not\b|nope|never|always|don'?t|do not"
    r"|stop|wrong|actually|instead|rather|from now on|remember|i said|i meant|that'?s not|undo"
    r"|(?:keep|leave) (?:the|my|it)|please (?:always|never|don'?t)|nein|nicht|immer|nie\b|non\b"
    r"|jamais|toujours|no quiero|siempre|nunca|нет|никогда|всегда)"
    r"|不要|别|不对|错|改成|以后|总是|必须|いいえ|ではなく|じゃない|必ず|아니|항상|절대",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decided|decide|we(?:'ll| will) (?:use|go|keep)|i(?:'ll| will) (?:use|keep|go with)|chose"
    r"|chosen|going with|let'?s (?:use|keep|go)|agreed|instead of|because)\b|决定|采用|使用",
    re.IGNORECASE,
)
_NEXT_STEP = re.compile(
    r"\b(?:next(?=,| step| i\b| we\b)|i(?:'ll| will|'m going to| am going to)|let me|shall (?:i|we)"
    r"|should i|do you want|would you like|want me to|we (?:can|could|should) (?:now|then|next)"
    r"|als nächstes|ich werde|soll ich|möchte(?:st|n) (?:du|sie)|ensuite|je vais"
    r"|(?:voulez|veux)[- ](?:vous|tu)|a continuación|voy a|quieres que|дальше|затем|хотите)\b"
    r"|下一步|接下来|我会|我将|要不要|需要我|次に|次は|ましょうか|다음(?:으로|에)|할까요",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?\n。！？](?:(?<=[\n。！？])|(?=\s))")
"""A dot within a name or number ends no sentence. The pattern begins with a set of characters, to
which `re` skips; one that began with a look behind would be tried at each character."""
_NAME = re.compile(r"[a-z_]+")
"""A text that is only such a word is mostly the name of a widget or a field, and no value."""
LONGEST_SENTENCE = 240
SHORT_SENTENCE = 30
"""Characters of a sentence such as "No.", which means little without the next sentence."""


def values_in(text: str) -> tuple[str, ...]:
    """The exact values in a text, each once, in the order of the text. Takes time that is linear
    in the length of the text."""
    return tuple(dict.fromkeys(found.strip('`"').strip() for found in _found_in(text)))


def _found_in(text: str) -> Iterator[str]:
    """What `_VALUE` finds in `text`, longer values left out.

    The pattern tries a long run of letters and dashes from each of its letters to its end, so it is
    applied to a window of the text; a match begins in the window's first LONGEST_VALUE
    characters."""
    place, size = 0, len(text)
    while place < size:
        match = _VALUE.search(text, place, place + WINDOW)
        if match is None or match.start() >= place + LONGEST_VALUE:
            place += LONGEST_VALUE
        elif match.end() - match.start() <= LONGEST_VALUE:
            yield match.group()
            place = match.end()
        elif address := _ADDRESS.match(text, match.start()):
            yield address.group()
            place = address.end()
        else:
            space = _SPACE.search(text, match.end())
            place = space.start() if space else size


def values_in_arguments(text: str) -> tuple[str, ...]:
    """The exact values in the JSON arguments of a call, without the arguments' names."""
    try:
        leaves = [str(leaf) for leaf in _leaves(json.loads(text))]
    except (ValueError, RecursionError):
        return values_in(text)
    found = (value for leaf in leaves for value in values_in(leaf))
    return tuple(dict.fromkeys(value for value in found if not _NAME.fullmatch(value)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (Mapping, list)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
    elif isinstance(value, (str, int)):
        yield value


def corrections_in(text: str) -> tuple[str, ...]:
    """The sentences in which a user corrects or forbids something, or sets a rule; after a short
    sentence also the next one."""
    found: list[str] = []
    short = False
    for sentence in sentences_of(text):
        corrects = _CORRECTION.search(sentence) is not None
        if corrects or short:
            found.append(sentence)
        short = corrects and len(sentence) < SHORT_SENTENCE
    return tuple(found)


def decisions_in(text: str) -> tuple[str, ...]:
    """The sentences that state a decision."""
    return tuple(s for s in sentences_of(text) if _DECISION.search(s))


def next_step_in(text: str) -> str:
    """The last sentence in which an assistant says or offers what comes next; "" without one."""
    return next((s for s in reversed(sentences_of(text)) if _NEXT_STEP.search(s)), "")


def sentences_of(text: str) -> tuple[str, ...]:
    ends = [end.end() for end in _SENTENCE_END.finditer(text)]
    found = (text[start:end].strip() for start, end in zip((0, *ends), (*ends, None), strict=True))
    return tuple(clamp_text(sentence, LONGEST_SENTENCE) for sentence in found if sentence)
