"""What the text of a memory may say: never more than the person said, and nothing that acts.

    quoted("12 GB", ["My GPU has\\n12 GB of VRAM."])             whether the words are there
    kept_text("The user's GPU is fast", "My GPU has 12 GB")      "My GPU has 12 GB"

Pure; the same for the same words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from ..messages.fences import DIRECTION, INVISIBLE
from ..search.words import UNSPACED, index_terms, query_terms

LEAST_LETTERS: Final = 12
LEAST_UNSPACED: Final = 6
"""Letters of the shortest quote that proves something, and characters where a script has no spaces:
shorter words stand in any message."""
NUMBER: Final = re.compile(r"\d+(?:[.,:/x×]\d+)*")

_FRAME: Final = frozenset(term for word in ("user", "users") for term in index_terms(word))
"""Words that only say whose statement it is."""
_LIMITS: Final = re.compile(
    r"\b(?:no|not|never|none|nor|without|only|unless|except|if|until|instead|less|hate|dislike"
    r"|cannot|stop|avoid"
    r"|nicht|nie|niemals|kein\w*|ohne|nur|außer|wenn|falls|statt"
    r"|ne|pas|jamais|sans|sauf|si|seulement|aucun\w*"
    r"|nunca|jamás|sin|solo|sólo|salvo|excepto|ningun\w*|tampoco"
    r"|не|нет|никогда|без|только|кроме|если)\b|n['’]t\b"
    r"|不|没|沒|别|別|勿|非|只|除了|如果|ない|ません|ずに|だけ|しか|なら|않|안|못|말고|없|만|면",
    re.IGNORECASE,
)
"""Words that turn a statement round or narrow it. A text that lacks one of its quote's says
something else."""
_ORDERS: Final = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\b.{0,40}"
    r"\b(?:rule|instruct|prompt|approv|previous|above)"
    r"|\b(?:allow(?:ed|s)?|permit(?:ted|s)?|approv(?:e|es|ed|al))\b.{0,60}"
    r"\b(?:run|delete|remove|install|download|tool|call|act|everything|all)"
    r"|\b(?:delete|remove|install|download|execute|run|upload|send)s?\b.{0,30}"
    r"\b(?:all|every|any|without asking|automatically|immediately)"
    r"|\b(?:all|every|any)\b.{0,40}\b(?:deleted|removed|installed|downloaded|executed|uploaded)\b"
    r"|\bwithout (?:asking|approval|permission|confirm)|\b(?:don['’]?t|never|do not) ask\b"
    r"|\bsystem prompt\b|\bno (?:approval|confirmation|questions?)\b",
    re.IGNORECASE | re.DOTALL,
)
"""A text that tells to act, to allow or to ignore is no memory."""
_SECRETS: Final = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|github_pat|hf|xox[abprs]|AKIA|AIza|eyJ)[-_A-Za-z0-9]{12,}"
    r"|\b(?:password|passwd|passphrase|passwort|kennwort|mot de passe|contraseña|пароль"
    r"|api[-_ ]?key|secret|token|bearer)\b\s*(?:is|ist|est|es|=|:)?\s*\S{4,}"
    r"|密码|密碼|パスワード|비밀번호|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\b[0-9a-f]{32,}\b|://[^/\s:@]+:[^/\s@]+@",
    re.IGNORECASE,
)
_PERSONAL: Final = re.compile(
    r"\b(?:his|her|their|he|she|wife|husband|son|daughter|mother|father|friend|boss|colleague"
    r"|client|neighbou?r|brother|sister)\b.{0,60}"
    r"\b(?:cancer|hiv|aids|depress\w*|pregnan\w*|diagnos\w*|disease|illness|disabled|autis\w*|suicid\w*"
    r"|muslim|jewish|jew|christian|catholic|hindu|buddhist|atheist|religio\w*|faith|gay|lesbian"
    r"|transgender|bisexual|addict\w*|alcoholic)\b",
    re.IGNORECASE | re.DOTALL,
)
"""The health, faith or love of somebody else."""


_UNSEEN: Final = re.compile(
    f"[{DIRECTION}{INVISIBLE}\u034f\u180b-\u180f\u200c\u200d\u2065\ufe00-\ufe0f\U000e0080-\U000e0fff]"
)
"""Characters that nobody sees, joiners and selectors included; between the letters of a word they
would hide it from a pattern."""


def plain(text: str) -> str:
    """`text` for comparison: one kind of each character, small letters, single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.sub(r"[^\w\s]+", " ", folded).split())


def quoted(quote: str, texts: Iterable[str]) -> bool:
    """Whether the words stand in one of the texts, white space aside, and are enough of them to
    prove something."""
    wanted = "".join(quote.split())
    if not wanted or not proves(quote):
        return False
    return any(wanted in "".join(text.split()) for text in texts)


def proves(quote: str) -> bool:
    """Whether a quote is long enough to name a statement."""
    letters = sum(one.isalnum() for one in quote)
    unspaced = len(re.findall(f"[{UNSPACED}]", quote))
    return letters >= LEAST_LETTERS or unspaced >= LEAST_UNSPACED


def kept_text(text: str, quote: str) -> str:
    """`text` where it says no more than `quote`, else the quote itself: each content word, number
    and name of the text stands in the quote, or a form of it, and the text has all words of the
    quote that turn it round or narrow it; where it has such a word, the words of both stand in the
    same order, since "not A but B" has the words of "not B but A"."""
    return text if _says_no_more(text, quote) else " ".join(quote.split())


def _says_no_more(text: str, quote: str) -> bool:
    said = index_terms(quote)
    if any(term not in said and term not in _FRAME for term in query_terms(text)):
        return False
    numbers = set(NUMBER.findall(quote))
    if any(number not in numbers for number in NUMBER.findall(text)):
        return False
    if _limits(quote) != _limits(text) or (_UNSEEN.search(text) and text not in quote):
        return False
    return not _limits(quote) or _in_order(text, quote)


def _in_order(text: str, quote: str) -> bool:
    """Whether the words of the text that the quote has stand in the order of the quote."""
    said = [index_terms(word) for word in quote.split()]
    known = frozenset().union(*said)
    place = 0
    for word in text.split():
        terms = index_terms(word) & known
        if terms:
            places = (at for at in range(place, len(said)) if terms & said[at])
            place = next(places, len(said))
            if place == len(said):
                return False
    return True


def _limits(text: str) -> frozenset[str]:
    return frozenset(found.casefold() for found in _LIMITS.findall(text))


def negations(text: str) -> frozenset[str]:
    """The words of a text that turn it round or narrow it."""
    return _limits(text)


def is_refused(text: str) -> bool:
    """Whether the text is none that may be kept: it tells to act, to allow or to ignore, or holds a
    key, a password, or what is private to somebody else."""
    return tells_to_act(text) or is_secret(text) or bool(_PERSONAL.search(_as_read(text)))


def tells_to_act(text: str) -> bool:
    return bool(_ORDERS.search(_as_read(text)))


def is_secret(text: str) -> bool:
    return bool(_SECRETS.search(_as_read(text)))


def _as_read(text: str) -> str:
    """The text as it is read: one kind of each letter, without characters that nobody sees."""
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
