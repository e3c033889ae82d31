"""Pictures without the data that cameras and programs write beside the picture. Pure.

A photo says where and when it was taken, and a picture of ComfyUI holds its whole workflow. A
provider gets the picture alone; the log keeps the file that the user attached. Colour profiles
stay, and so does the orientation of a JPEG, without which a photo would lie on its side. JPEG, PNG
and WebP are read; other pictures, and a file that is none of its kind, stay as they are.

Formats: JPEG (ITU T.81, annex B; Exif 2.32), PNG (third edition, 5.3), WebP (RFC 9649).
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator
from typing import Final

_BASE64: Final = ";base64"
_JPEG: Final = b"\xff\xd8\xff"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_EXIF: Final = b"Exif\x00\x00"
_ICC: Final = b"ICC_PROFILE\x00"
_ORIENTATION: Final = 0x0112
_SHORT: Final = 3
"""The TIFF type of a number of 16 bits."""
_END, _SCAN = 0xD9, 0xDA
_APP1, _APP2, _APP14, _APP15, _COMMENT = 0xE1, 0xE2, 0xEE, 0xEF, 0xFE
_NEXT_MARKER: Final = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""The end of a scan: within it, 0xFF stands before 0x00 or a restart marker only."""
_PNG_KEPT: Final = frozenset(
    (
        b"IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT "
        b"acTL fcTL fdAT"
    ).split()
)
"""The chunks that draw the picture. Texts, times and Exif are among the others."""
_WEBP_DROPPED: Final = frozenset((b"EXIF", b"XMP "))
_WEBP_FLAGS: Final = 0x0C
"""In the chunk VP8X: there is Exif, there is XMP."""


class _NotOfItsKind(Exception):
    """The bytes are not a picture of the format that they begin as."""


def without_metadata(url: str) -> str:
    """The `data:` URL of the same picture without metadata; any other URL unchanged."""
    head, comma, body = url.partition(",")
    if not comma or not head.lower().startswith("data:") or not head.lower().endswith(_BASE64):
        return url
    try:
        content = base64.b64decode(body, validate=True)
        stripped = stripped_picture(content)
    except (binascii.Error, ValueError, _NotOfItsKind):
        return url
    if stripped == content:
        return url
    return f"{head},{base64.b64encode(stripped).decode('ascii')}"


def stripped_picture(content: bytes) -> bytes:
    """The picture without metadata. Raises _NotOfItsKind for a broken JPEG, PNG or WebP."""
    if content.startswith(_JPEG):
        return b"".join(_jpeg(content))
    if content.startswith(_PNG):
        return _PNG + b"".join(_png(content))
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        chunks = b"".join(_webp(content))
        return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks
    return content


def _jpeg(content: bytes) -> Iterator[bytes]:
    """The segments that draw the picture, up to its end: more pictures may follow it."""
    yield content[:2]
    place = 2
    while True:
        if content[place : place + 1] != b"\xff":
            raise _NotOfItsKind
        while content[place + 1 : place + 2] == b"\xff":
            place += 1  # Fill bytes.
        if place + 1 >= len(content):
            raise _NotOfItsKind
        marker = content[place + 1]
        if marker == _END:
            yield content[place : place + 2]
            return
        end = place + 2 + _number(content, place + 2, ">H")
        if end > len(content) or end < place + 4:
            raise _NotOfItsKind
        if marker == _SCAN:
            following = _NEXT_MARKER.search(content, end)
            if following is None:
                yield content[place:]  # Cut off in the scan: as far as it goes.
                return
            end = following.start()
        yield from _kept_segment(marker, content[place:end])
        place = end


def _kept_segment(marker: int, segment: bytes) -> Iterator[bytes]:
    body = segment[4:]
    if marker == _APP1 and body.startswith(_EXIF):
        orientation = _orientation(body[len(_EXIF) :])
        if orientation > 1:
            yield _exif_segment(orientation)
        return
    is_profile = marker == _APP2 and body.startswith(_ICC)
    is_metadata = _APP1 <= marker <= _APP15 or marker == _COMMENT
    if is_profile or marker == _APP14 or not is_metadata:
        yield segment


def _orientation(tiff: bytes) -> int:
    """The orientation of an Exif block, 1 to 8; 1 where it has none."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return 1
    try:
        start = _number(tiff, 4, order + "I")
        for entry in range(min(_number(tiff, start, order + "H"), 512)):
            place = start + 2 + 12 * entry
            if _number(tiff, place, order + "H") == _ORIENTATION:
                found = _number(tiff, place + 8, order + "H")
                return found if 1 <= found <= 8 else 1
    except _NotOfItsKind:
        pass
    return 1


def _exif_segment(orientation: int) -> bytes:
    """A segment with the orientation alone: a TIFF header, and a directory of one entry."""
    entry = struct.pack(">HHIHH", _ORIENTATION, _SHORT, 1, orientation, 0)
    body = _EXIF + b"MM\x00*" + struct.pack(">IH", 8, 1) + entry + struct.pack(">I", 0)
    return struct.pack(">BBH", 0xFF, _APP1, len(body) + 2) + body


def _png(content: bytes) -> Iterator[bytes]:
    place = len(_PNG)
    while place < len(content):
        kind = content[place + 4 : place + 8]
        end = place + 12 + _number(content, place, ">I")
        if end > len(content):
            raise _NotOfItsKind
        if kind in _PNG_KEPT:
            yield content[place:end]
        if kind == b"IEND":
            return
        place = end
    raise _NotOfItsKind


def _webp(content: bytes) -> Iterator[bytes]:
    place, last = 12, min(len(content), 8 + _number(content, 4, "<I"))
    while place < last:
        kind = content[place : place + 4]
        size = _number(content, place + 4, "<I")
        end = place + 8 + size + size % 2
        if place + 8 + size > last:
            raise _NotOfItsKind
        chunk = content[place:end]
        if kind == b"VP8X" and size:
            chunk = chunk[:8] + bytes((chunk[8] & ~_WEBP_FLAGS & 0xFF,)) + chunk[9:]
        if kind not in _WEBP_DROPPED:
            yield chunk
        place = end


def _number(content: bytes, place: int, form: str) -> int:
    try:
        (found,) = struct.unpack_from(form, content, place)
    except struct.error:
        raise _NotOfItsKind from None
    return int(found)
