"""What an answer has beside its text, its reasoning and its calls: sources, pictures, and blocks of
the provider's own, such as a search that the provider ran. Pure.

Servers name these differently and may send them again with each chunk, so each addition is given
out once. All of them are bounded: what is too much is left out, and a notice says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from ..messages.fences import plain_line
from ..messages.json_text import json_value
from .caps import Written
from .stream_events import Event, Notice, Picture, ServerBlock, Source

Json = Mapping[str, Any]
Kind = Literal["sources", "pictures", "blocks"]

MOST: Final[Mapping[Kind, int]] = {"sources": 100, "pictures": 20, "blocks": 50}
"""Additions of each kind to one answer, all its rounds together."""
MOST_PICTURE_CHARS: Final = 28_000_000
"""Characters of the pictures of one answer: as many as the files of a message may have, so that a
client can send the answer back within one body."""
MOST_BLOCK_CHARS: Final = 16_000
"""Characters of one block as JSON; of a longer one the beginning is kept, as text."""
MOST_ENTRIES: Final = 1_000
"""Entries of one list that are read."""
LONGEST_URL: Final = 2_048
LONGEST_TITLE: Final = 300
LONGEST_KIND: Final = 60
SOURCE_LISTS: Final = ("search_results", "web_search", "citations")
"""Fields beside `choices` with a list of addresses, or of objects with an address and a title;
lists with titles first (Perplexity, xAI, Zhipu)."""
READ_ELSEWHERE: Final = frozenset(
    "role content refusal reasoning reasoning_content reasoning_details thinking_blocks tool_calls "
    "function_call audio annotations images".split()
)
"""Fields of a delta that are no blocks. Sound is not shown."""
_DATA: Final = re.compile(
    r"data:(image/[a-z0-9][a-z0-9.+-]{0,59})(?:;[^,;]{0,99})*,", re.IGNORECASE
)
UNKNOWN_PICTURE: Final = "image/*"
"""The media type of a picture that is at a web address: nobody fetches it to see."""


class AdditionReader:
    """Reads the additions of one request's answer. `written` is what the answer has from earlier
    requests."""

    def __init__(self, written: Written) -> None:
        self._titles: dict[str, str | None] = {}
        self._pictures: set[bytes] = set()
        self._blocks: dict[tuple[str, str], tuple[int, str]] = {}
        self._room: dict[Kind, int] = {
            "sources": MOST["sources"] - written.sources,
            "pictures": MOST["pictures"] - written.pictures,
            "blocks": MOST["blocks"] - written.blocks,
        }
        self._picture_chars = written.picture_chars
        self._said: set[Kind] = set()

    def of_chunk(self, chunk: Json) -> Iterator[Event]:
        """The sources that stand beside the choices of a chunk."""
        for name in SOURCE_LISTS:
            if name in chunk:
                for entry in _entries(chunk[name]):
                    yield from self._source(entry, "citation")

    def of_delta(self, delta: Json) -> Iterator[Event]:
        """The additions of a delta, or of an unstreamed message, without those of its content."""
        for entry in _entries(delta.get("annotations")):
            cited = entry.get("url_citation") if isinstance(entry, Mapping) else None
            yield from self._source(cited if isinstance(cited, Mapping) else entry, "annotation")
        for entry in _entries(delta.get("images")):
            if isinstance(entry, Mapping):
                yield from self.of_part(entry)
        for name, value in delta.items():
            if name in READ_ELSEWHERE or not isinstance(value, (Mapping, list)):
                continue
            for entry in _entries([value] if isinstance(value, Mapping) else value):
                if not isinstance(entry, Mapping):
                    continue
                if isinstance(entry.get("type"), str) or name.startswith("server_"):
                    yield from self._block(entry, str(name))

    def of_part(self, part: Json) -> Iterator[Event]:
        """The picture or the block that a part of the content is, which has no text."""
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, Mapping) else image
        media_type = _picture_type(url)
        if media_type is None:
            yield from self._block(part, "block")
            return
        assert isinstance(url, str)
        known = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if known in self._pictures:
            return
        if self._picture_chars + len(url) > MOST_PICTURE_CHARS:
            yield from self._left_out("pictures")
        elif (left_out := self._no_room("pictures")) is not None:
            yield from left_out
        else:
            self._pictures.add(known)
            self._picture_chars += len(url)
            yield Picture(url, media_type)

    def _source(self, entry: Any, kind: str) -> Iterator[Event]:
        """A source; a title that comes later is given out with the address again. What has no web
        address is a block of this `kind`."""
        named = entry if isinstance(entry, Mapping) else {}
        url = web_address(named.get("url") or named.get("link") if named else entry)
        if url is None:
            yield from self._block(entry, kind)
            return
        title = _title(named.get("title"))
        if url not in self._titles:
            if (left_out := self._no_room("sources")) is not None:
                yield from left_out
                return
        elif self._titles[url] is not None or title is None:
            return
        self._titles[url] = title
        yield Source(url, title)

    def _block(self, body: Any, kind: str) -> Iterator[Event]:
        """A block. A later block of the same type and id, or index, takes the place of the
        earlier."""
        named = body if isinstance(body, Mapping) else {}
        if isinstance(named.get("type"), str):
            kind = named["type"]
        kind = plain_line(kind[:LONGEST_KIND]) or "block"
        text = _beginning(body)
        own = next((named[n] for n in ("id", "tool_use_id", "index") if _is_id(named.get(n))), text)
        key = (kind, str(own))
        number, before = self._blocks.get(key, (len(self._blocks), None))
        if before == text:
            return
        if before is None and (left_out := self._no_room("blocks")) is not None:
            yield from left_out
            return
        self._blocks[key] = (number, text)
        whole = len(text) <= MOST_BLOCK_CHARS
        content = json_value(body) if whole else {"shortened": text[:MOST_BLOCK_CHARS]}
        yield ServerBlock(number, kind, content)

    def _no_room(self, kind: Kind) -> Iterator[Event] | None:
        """Takes a place for an addition of this kind: None, or what to say where none is left."""
        if self._room[kind] <= 0:
            return self._left_out(kind)
        self._room[kind] -= 1
        return None

    def _left_out(self, kind: Kind) -> Iterator[Event]:
        if kind not in self._said:
            self._said.add(kind)
            most = f"{MOST[kind]} {kind}"
            if kind == "pictures":
                most += f" and {MOST_PICTURE_CHARS // 1_000_000} MB of them"
            sentence = f"The provider sent more than {most} with this answer: the rest is left out."
            yield Notice(f"{kind}_left_out", sentence)


def web_address(value: object) -> str | None:
    """`value`, if it is an address of the web that a link can have; else None."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_URL:
        return None
    url = value.strip()
    if not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        return url if parts.scheme in ("http", "https") and parts.hostname else None
    except ValueError:
        return None


def _picture_type(url: object) -> str | None:
    """The media type of the picture at a `data:` URL or a web address; None for anything else."""
    if not isinstance(url, str):
        return None
    if found := _DATA.match(url):
        return found[1].lower()
    return UNKNOWN_PICTURE if web_address(url) is not None else None


def _title(value: object) -> str | None:
    return (plain_line(value[:LONGEST_TITLE]) or None) if isinstance(value, str) else None


def _entries(value: object) -> Iterator[Any]:
    """The entries of a list; nothing for any other value."""
    return islice(value, MOST_ENTRIES) if isinstance(value, list) else iter(())


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""


def _beginning(value: Any) -> str:
    """The JSON of a value, up to a little over MOST_BLOCK_CHARS characters: the rest of a long one
    is not encoded."""
    pieces: list[str] = []
    room = MOST_BLOCK_CHARS
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).iterencode(value):
            pieces.append(piece[: room + 1])
            room -= len(piece)
            if room < 0:
                break
    except (ValueError, RecursionError):
        pieces.append("...")
    return "".join(pieces)
