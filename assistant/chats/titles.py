"""Titles of chats: by rule from the first user message, without a call to any model; or as one line
of a text by a model or a person."""

from __future__ import annotations

import re
import unicodedata

from ..messages.parts import FilePart, Message

NEW_CHAT = "New chat"
TITLE_CHARS = 60
"""About as many characters as a list of chats shows in one line."""
SHORTEST_SENTENCE = 16
"""Characters; a shorter first sentence is a greeting, and the next sentence has the request."""
LOOKED_AT_CHARS = 2_000
"""A first message may be a long pasted text; the title is made of its beginning."""

_SKILL = re.compile(r"/skill\s+(\S.*)", re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?:```|~~~)[^`]*$")
_BLOCK_MARK = re.compile(r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|\d{1,3}[.)]\s+)+")
_RULE = re.compile(r"^\s*([-*_=]\s*){3,}$")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_STRONG = re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<!\w)([*_])(?=\S)([^*_]+)(?<=\S)\1(?!\w)")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")
_LABEL = re.compile(r"^(?:title|titel|titre|título)\s*:\s*", re.IGNORECASE)
_AROUND = " \"'`*_“”„‘’«»「」"
"""Quotation marks and Markdown."""
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ZERO_WIDTH_JOINER = "\u200d"


def title_for(message: Message) -> str:
    """A title of at most 60 characters and an ellipsis; one line, without Markdown."""
    skill = message.data("skill")
    if isinstance(skill, dict) and isinstance(skill.get("name"), str) and _plain(skill["name"]):
        asked = skill.get("request")
        line = _first_line(asked[:LOOKED_AT_CHARS]) if isinstance(asked, str) else ""
        return _shorten(_first_sentence(line) if line else f"Skill: {_plain(skill['name'])}")
    line = _first_line(message.text[:LOOKED_AT_CHARS])
    if typed := _SKILL.fullmatch(line):
        return _shorten(f"Skill: {typed[1]}")
    if line:
        return _shorten(_first_sentence(line))
    for part in message.parts:
        if isinstance(part, FilePart) and part.filename and _plain(part.filename):
            return _shorten(_plain(part.filename))
    return NEW_CHAT


def title_from(text: str) -> str | None:
    """The title in a model's text, without label, quotation marks and Markdown; None for an empty
    title."""
    line = _LABEL.sub("", _first_line(text[:LOOKED_AT_CHARS]))
    plain = line.strip(_AROUND).rstrip(" .:;,")
    return _shorten(plain) if plain else None


def clean_title(text: str) -> str:
    """A title that a person typed, as one line of printable text of at most 200 characters."""
    return _plain(text)[:200].strip() or NEW_CHAT


def _first_line(text: str) -> str:
    for line in text.splitlines():
        if _FENCE.match(line) or _RULE.match(line):
            continue
        if plain := _plain(_without_markdown(line)):
            return plain
    return ""


def _without_markdown(line: str) -> str:
    line = _BLOCK_MARK.sub("", line)
    line = _LINK.sub(r"\1", line)
    line = _STRONG.sub(r"\2", line)
    line = _EMPHASIS.sub(r"\2", line)
    return line.replace("`", "")


def _plain(text: str) -> str:
    """One line without control characters, lone surrogates and direction overrides."""
    kept = (
        " " if character.isspace() else character
        for character in text
        if character.isspace()
        or (unicodedata.category(character) not in ("Cc", "Cs") and character not in _BIDI)
    )
    return " ".join("".join(kept).split())


def _first_sentence(line: str) -> str:
    for end in _SENTENCE_END.finditer(line):
        if end.end() >= SHORTEST_SENTENCE:
            line = line[: end.end()]
            break
    return line.rstrip(".:;, 。") or line


def _shorten(text: str) -> str:
    if len(text) <= TITLE_CHARS:
        return text
    cut = text[: TITLE_CHARS + 1]
    border = cut.rfind(" ")
    # Text without spaces, such as Chinese, is cut at any character.
    cut = cut[:border] if border > TITLE_CHARS // 2 else cut[:TITLE_CHARS]
    while cut and (cut[-1] == _ZERO_WIDTH_JOINER or unicodedata.combining(text[len(cut)]) != 0):
        cut = cut[:-1]
    return cut.rstrip(" .:;,") + "…"
