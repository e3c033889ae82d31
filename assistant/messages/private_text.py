"""Takes keys, paths and names of people out of texts that somebody else will read. Pure.

    taker = PrivateText(secrets={"sk-..."}, names={"tom"})
    taker.learn(every_text)        names that stand in paths to home folders
    taker.without(text)            the text with [key], [path], [user] and [e-mail] in their places

What is taken out: the given secrets; keys in the shapes that providers give them, and what is
assigned to a name such as `api_key`; sign-in data, query and fragment of web addresses; absolute
paths of Windows, macOS and Linux, of which the part below ComfyUI's folders and the name of a file
stay; the given and the learned names as whole words; e-mail addresses; contents of `data:`
addresses. Where it is not sure, it takes out too much. The time grows in proportion to the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

KEY: Final = "[key]"
PATH: Final = "[path]"
USER: Final = "[user]"
MAIL: Final = "[e-mail]"
DATA: Final = "[data]"
PIECE: Final = 16_384
AHEAD: Final = 1_024
"""Characters in which a match begins, and characters behind them that a pattern looks at."""
SHORTEST_NAME: Final = 3
NOBODY: Final = frozenset(
    (
        "admin administrator all app comfy comfyui debian default dev docker guest home linux me "
        "nobody owner pc pi public root runner shared sys system test tester ubuntu user users "
        "vagrant windows workspace"
    ).split()
)
"""Names of accounts that are no person's."""
KEPT_FROM: Final = frozenset("comfyui models custom_nodes input output workflows".split())
"""Folders from which on the rest of a path stays: it is the same in every installation."""

Kind = Literal["keys", "paths", "names"]

_SIGNS: Final = r"""\s\\/:*?"<>|`"""
"""What no name in a path has, and white space."""
_WORD: Final = rf"[^{_SIGNS}]{{1,80}}"
_SEGMENT: Final = rf"{_WORD}(?: {_WORD}){{0,4}}"
"""The name of a folder, of up to five words; the regular expression goes on with a separator."""
_LAST: Final = rf"[^{_SIGNS}'),;\]}}]{{0,200}}"
_WINDOWS_PART: Final = r"(?:\\{1,4}|/)"
_UNIX_PART: Final = r"\\{0,2}/"
_ROOTS: Final = (
    "Applications|Library|System|Users|Volumes|beegfs|ceph|data|disk|etc|export|gpfs|hdd|home|"
    "lustre|media|mnt|net|nfs|nvme|opt|pool|private|raid|root|run|scratch|srv|ssd|storage|tank|tmp|"
    "usr|var|volume|workspace"
)
_ROUTES: Final = r"api|extensions|v\d"
"""Below these, an address of a web server begins: what else has three names is taken for a path."""
_WINDOWS_PATH: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?:\\{{2,4}}[?.]\\{{1,2}})?[A-Za-z]:{_WINDOWS_PART}"
    rf"|(?<!\\)\\{{2,4}}[\w.$-]{{1,80}}\\{{1,2}}(?=[\w$]))"
    rf"(?:{_SEGMENT}{_WINDOWS_PART})*{_LAST}"
)
_UNIX_PATH: Final = re.compile(
    rf"(?<![\w.:/~\]])(?:~[\w.-]{{0,32}}|{_UNIX_PART}(?:(?:{_ROOTS})\d{{0,3}}(?![\w.-])"
    rf"|(?!(?:{_ROUTES})[\\/])\w[^{_SIGNS}]{{0,79}}(?={_UNIX_PART}\w[^{_SIGNS}]{{0,79}}{_UNIX_PART}))"
    rf"){_UNIX_PART}"
    rf"(?:{_SEGMENT}{_UNIX_PART})*{_LAST}"
    rf"|(?<![\w.:/~\]])/(?:root|home)(?![\w./-])"
)
_BETWEEN: Final = re.compile(r"\\{0,4}/|\\{1,4}")
_HOMES: Final = frozenset(("users", "home", "documents and settings"))
_ABOVE_HOME: Final = frozenset(
    "data export mnt net nfs private raid scratch srv storage usr var volumes".split()
)
_FILE_ADDRESS: Final = re.compile(r"\bfile:/{2,3}(?=[A-Za-z]:)|\bfile://")
_FILE: Final = re.compile(r"[^.].*\.\w{1,12}")
_LETTERS: Final = re.compile(r"\w+")
_AROUND_NAME: Final = " .,;-+!#$%&()[]{}@^~='"
"""What a name in a path may begin or end with and a person's name does not."""
_ADDRESS: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+-]{0,20})://(?P<rest>[^\s<>\"'`|\\]+)")
_DATA_ADDRESS: Final = re.compile(r"\bdata:[\w/+.-]{0,80}(?:;[\w=.-]{1,80}){0,4},[^\s)\"'<>]{16,}")
_CLOSING: Final = ").,;:!?]}*_"
"""What follows an address in a sentence and is no part of it."""
_MAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_PROMPT: Final = re.compile(r"(?<![\w.-])[\w.-]{1,32}@[\w-]{1,63}(?=:[~/])")
_VARIABLE: Final = re.compile(
    r"\b(?P<name>USER|USERNAME|LOGNAME|SUDO_USER|COMPUTERNAME|HOSTNAME)=(?P<value>[^\s\"']{1,80})"
)
_PEM: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----BEGIN ).){0,10000}?"
    r"(?:-----END [A-Z ]{0,40}-----|(?=-----BEGIN )|\Z)",
    re.DOTALL,
)
"""A key ends where the next one begins: else each beginning would be tried over 10,000 characters.
"""
_BEARER: Final = re.compile(r"\b(?P<name>(?i:bearer|basic))\s+(?=\S{0,200}[\d=])[\w.~+/=-]{8,}")
_ASSIGNED: Final = re.compile(
    r"(?P<name>(?:api[_-]?key|access[_-]?key|private[_-]?key|secret|(?:auth|access|refresh)"
    r"[_-]?token|token|credentials?|passw(?:or)?d|passphrase|authorization)[\"']?\s{0,4}[:=]"
    r"\s{0,4}[\"']?)(?P<value>[^\s\"',;<>\[]{4,400})",
    re.IGNORECASE,
)
_SHAPES: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|nvapi|hf|r8|tgp|pplx|csk|jina|gh[oprsu]|glpat|npm|pypi|dop|lsv2)[-_]"
    r"(?=[\w.-]{0,200}\d)[\w.-]{12,}"
    r"|\b(?:sk|pk|gsk|xai|hf)[-_][\w-]{0,20}(?:\*|\.|\u2026){3,}[\w-]{0,20}"
    r"|\bgithub_pat_\w{20,}"
    r"|\bcomfyui-[0-9a-f]{32,}"
    r"|\bAIza[\w-]{30,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bxox[abeprs]-[\w-]{10,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|\bya29\.[\w-]{20,}"
    r"|\b(?:bot)?\d{8,10}:[\w-]{35}(?![\w-])"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9a-f]{32}\b"
    r"|\b(?:[0-9a-f]{32}|[0-9A-F]{32})\b"
    r"|(?<=hooks\.slack\.com/services/)[\w/]{10,}"
    r"|(?<=api/webhooks/)\d{10,}/[\w-]{20,}"
)


class PrivateText:
    """Takes what is private out of texts, and counts it in `found`. `secrets` are texts that must
    not be seen, `names` those of people."""

    def __init__(self, secrets: Iterable[str] = (), names: Iterable[str] = ()) -> None:
        self.found: Counter[Kind] = Counter()
        # The longest first: one may be the beginning of another.
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)
        self._names: set[str] = set()
        # The lengths of the names that begin with a word, the longest first.
        self._lengths: dict[str, list[int]] = {}
        for name in names:
            self._add(name)

    def learn(self, text: str) -> None:
        """Note the names that stand in paths to home folders in this text."""
        text = _substituted(_FILE_ADDRESS, lambda _: " ", text)
        for pattern in (_WINDOWS_PATH, _UNIX_PATH):
            for found in _found(pattern, text):
                self._add(_person(found[0]))

    def without(self, text: str) -> str:
        """The text without what is private."""
        for secret in self._secrets:
            if count := text.count(secret):
                self.found["keys"] += count
                text = text.replace(secret, KEY)
        text = self._replaced(_PEM, text, KEY, "keys")
        text = _substituted(_DATA_ADDRESS, lambda _: DATA, text)
        text = _substituted(_ADDRESS, self._address, text)
        text = _substituted(_BEARER, self._assigned, text)
        text = _substituted(_ASSIGNED, self._assigned, text)
        text = self._replaced(_SHAPES, text, KEY, "keys")
        text = self._replaced(_MAIL, text, MAIL, "names")
        text = self._replaced(_PROMPT, text, USER, "names")
        text = _substituted(_VARIABLE, self._variable, text)
        text = _substituted(_WINDOWS_PATH, self._path, text)
        text = _substituted(_UNIX_PATH, self._path, text)
        return self._without_names(text)

    def _replaced(self, pattern: re.Pattern[str], text: str, by: str, kind: Kind) -> str:
        def mark(_: re.Match[str]) -> str:
            self.found[kind] += 1
            return by

        return _substituted(pattern, mark, text)

    def _add(self, name: str) -> None:
        """Note a name, and of a name of several words also the longer words."""
        name = name.strip(_AROUND_NAME)
        for one in (name, *(word for word in name.split() if len(word) > SHORTEST_NAME)):
            first = _LETTERS.match(one)
            if first and len(one) >= SHORTEST_NAME and one.lower() not in NOBODY:
                self._names.add(one.lower())
                lengths = self._lengths.setdefault(first[0].lower(), [])
                if len(one) not in lengths:
                    lengths.append(len(one))
                    lengths.sort(reverse=True)

    def _without_names(self, text: str) -> str:
        # No regular expression of all names: its time grows with their number at each character.
        pieces: list[str] = []
        done = 0
        for word in _LETTERS.finditer(text) if self._names else ():
            start = word.start()
            for length in self._lengths.get(word[0].lower(), ()) if start >= done else ():
                end = start + length
                if text[start:end].lower() in self._names and not _LETTERS.match(text, end):
                    pieces += (text[done:start], USER)
                    done = end
                    break
        self.found["names"] += len(pieces) // 2
        return "".join((*pieces, text[done:]))

    def _address(self, found: re.Match[str]) -> str:
        """A web address without sign-in data, query and fragment."""
        scheme, rest = found["scheme"], found["rest"]
        end = rest[len(rest.rstrip(_CLOSING)) :]
        rest = rest[: len(rest) - len(end)]
        if scheme.lower() == "file":
            self.found["paths"] += 1
            return f"{_kept(rest)}{end}"
        place, cut = re.split(r"([?#]|\Z)", rest, maxsplit=1)[:2]
        authority, slash, path = place.partition("/")
        _, at, host = authority.rpartition("@")
        if at or cut:
            self.found["keys"] += 1
        mark = f"{cut}..." if cut else ""
        return f"{scheme}://{host if at else authority}{slash}{path}{mark}{end}"

    def _assigned(self, found: re.Match[str]) -> str:
        """What is assigned to the name of a secret, unless it is a number such as a count of
        tokens, or a word."""
        parts = found.groupdict()
        name, value = parts["name"], parts.get("value")
        if value is None:
            self.found["keys"] += 1
            return f"{name} {KEY}"
        is_password = name.lower().startswith(("passw", "passphrase"))
        is_key = any(map(str.isdigit, value)) and not (value.isdecimal() and len(value) < 10)
        if not (is_password or is_key or len(value) >= 20):
            return found[0]
        self.found["keys"] += 1
        return f"{name}{KEY}"

    def _variable(self, found: re.Match[str]) -> str:
        self.found["names"] += 1
        return f"{found['name']}={USER}"

    def _path(self, found: re.Match[str]) -> str:
        path = found[0]
        end = path[len(path.rstrip(_CLOSING)) :]
        self.found["paths"] += 1
        return f"{_kept(path[: len(path) - len(end)])}{end}"


def _found(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What the pattern finds, piece by piece: within one call a regular expression keeps the
    interpreter, and with it the event loop."""
    place = 0
    while place < len(text):
        end = place + PIECE + AHEAD
        found = pattern.search(text, place, end)
        if found is None or found.start() >= place + PIECE:
            place += PIECE
            continue
        if found.end() == end:  # The end of the piece may have cut it off, or have made it one.
            start = found.start()
            found = pattern.match(text, start)
            if found is None:
                place = start + 1
                continue
        yield found
        place = found.end()


def _substituted(pattern: re.Pattern[str], by: Callable[[re.Match[str]], str], text: str) -> str:
    pieces: list[str] = []
    done = 0
    for found in _found(pattern, text):
        pieces += (text[done : found.start()], by(found))
        done = found.end()
    return "".join((*pieces, text[done:]))


def _person(path: str) -> str:
    """The name of the person in whose home folder the path leads; empty for other paths."""
    parts = [part for part in _BETWEEN.split(path) if part]
    for place, part in enumerate(parts[:-1]):
        is_above = place == 0 or path.startswith("\\") or parts[0].lower() in _ABOVE_HOME
        if part.lower() in _HOMES and (is_above or parts[0].endswith(":")):
            return parts[place + 1].rstrip(_CLOSING)
    return ""


def _kept(path: str) -> str:
    """The mark of a path, with what of the path stays: from a folder of ComfyUI on, or else the
    name of a file. The folder below all home folders is a person's name, whatever it is called."""
    parts = [part for part in _BETWEEN.split(path) if part]
    first = next((n + 2 for n, part in enumerate(parts) if part.lower() in _HOMES), 0)
    below = parts[first:]
    known = [n for n, part in enumerate(below) if part.lower() in KEPT_FROM]
    if known:
        return "/".join((PATH, *below[known[0] :]))
    return f"{PATH}/{below[-1]}" if below and _FILE.fullmatch(below[-1]) else PATH
