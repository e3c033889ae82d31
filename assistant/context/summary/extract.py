"""What a text says that must not be lost in a summary. Pure, by patterns; several languages."""

from __future__ import annotations

import re

from ..clamp import clamp_text

_VALUE = re.compile(
    r"""
      https?://[^\s"'<>)\]}]+                              # addresses
    | (?:[A-Za-z]:)?[\w.~-]*(?:[/\\][\w.~ -]*\w)+\.\w{2,11}\b   # paths with a file
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
_CORRECTION = re.compile(
    r"(?:^|[.!?;,]\s+|\n)\s*(?:no\b|not\b|nope|never|always|don'?t|do not|stop|wrong|actually"
    r"|instead|rather|from now on|remember|i said|i meant|that'?s not|undo|keep (?:the|my)"
    r"|please (?:always|never|don'?t)|nein|nicht|immer|nie\b|non\b|jamais|toujours|no quiero"
    r"|siempre|nunca|нет|никогда|всегда)|不要|别|不对|错|改成|以后|总是|必须|いいえ|ではなく|じゃない"
    r"|必ず|아니|항상|절대",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decided|decide|we(?:'ll| will) (?:use|go|keep)|i(?:'ll| will) (?:use|keep|go with)|chose"
    r"|chosen|going with|let'?s (?:use|keep|go)|agreed|instead of|because)\b|决定|采用|使用",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?。！？]+(?=\s|$)|[。！？]|\n|$)")
LONGEST_SENTENCE = 240


def values_in(text: str) -> tuple[str, ...]:
    """Exact values, each once, in the order of the text."""
    return tuple(
        dict.fromkeys(match.group().strip('`"').strip() for match in _VALUE.finditer(text))
    )


def is_correction(text: str) -> bool:
    """Whether a user corrects, forbids, or says how things are to be done from now on."""
    return _CORRECTION.search(text) is not None


def decisions_in(text: str) -> tuple[str, ...]:
    """Sentences in which something was decided."""
    return tuple(s for s in sentences_of(text) if _DECISION.search(s))


def sentences_of(text: str) -> tuple[str, ...]:
    found = (match.group().strip() for match in _SENTENCE.finditer(text))
    return tuple(clamp_text(sentence, LONGEST_SENTENCE) for sentence in found if sentence)
