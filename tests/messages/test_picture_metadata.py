"""Pictures without metadata: the same pixels, and nothing of what a camera or ComfyUI wrote."""

import base64
import io
import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps, PngImagePlugin
from plugin.assistant.messages.conversion import to_prompt
from plugin.assistant.messages.parts import FilePart, Message
from plugin.assistant.messages.picture_metadata import stripped_picture, without_metadata

WORDS = b"Secret place"
KINDS = ["JPEG", "PNG", "WEBP"]


def picture() -> Image.Image:
    image = Image.effect_mandelbrot((40, 24), (-2, -1, 1, 1), 20).convert("RGB")
    image.putpixel((0, 0), (255, 0, 0))
    return image


def exif_of(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010E] = WORDS.decode()
    exif.get_ifd(0x8825)[1] = "N"
    exif.get_ifd(0x8825)[2] = (48.0, 8.0, 1.5)
    return exif


def saved(kind: str, orientation: int = 1, **more: Any) -> bytes:
    """A picture of this kind with places, texts and a colour profile."""
    texts = PngImagePlugin.PngInfo()
    texts.add_text("workflow", json.dumps({"nodes": [WORDS.decode()]}))
    texts.add_itxt("prompt", WORDS.decode(), zip=True)
    every: dict[str, dict[str, Any]] = {
        "JPEG": {"comment": WORDS, "xmp": WORDS, "quality": 95},
        "PNG": {"pnginfo": texts},
        "WEBP": {"xmp": WORDS, "lossless": True},
    }
    held = io.BytesIO()
    profile = b"colour profile" * 9
    picture().save(
        held, kind, exif=exif_of(orientation), icc_profile=profile, **{**every[kind], **more}
    )
    return held.getvalue()


def opened(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


@pytest.mark.parametrize("more", [{}, {"progressive": True}])
@pytest.mark.parametrize("kind", KINDS)
def test_the_pixels_stay_and_the_metadata_goes(kind: str, more: dict[str, Any]) -> None:
    content = saved(kind, **more)
    if kind != "PNG":
        assert WORDS in content
    stripped = stripped_picture(content)
    assert WORDS not in stripped
    before, after = opened(content), opened(stripped)
    assert before.tobytes() == after.tobytes()
    assert after.info["icc_profile"] == before.info["icc_profile"]
    assert not set(after.info) & {"exif", "xmp", "comment", "workflow", "prompt"}
    assert not dict(after.getexif())
    assert stripped_picture(stripped) == stripped


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_does_not_lie_on_its_side(orientation: int) -> None:
    content = saved("JPEG", orientation)
    stripped = opened(stripped_picture(content))
    assert dict(stripped.getexif()) == ({0x0112: orientation} if orientation > 1 else {})
    upright = ImageOps.exif_transpose(opened(content))
    assert upright is not None
    assert upright.tobytes() == ImageOps.exif_transpose(stripped).tobytes()


def test_what_follows_a_picture_is_cut_off() -> None:
    for kind in KINDS:
        stripped = stripped_picture(saved(kind) + WORDS + saved(kind))
        assert WORDS not in stripped
        assert stripped == stripped_picture(saved(kind))


def test_a_chunk_that_nobody_knows_is_dropped() -> None:
    body = b"prVt" + WORDS
    chunk = len(WORDS).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    content = saved("PNG")
    assert WORDS not in stripped_picture(content[:33] + chunk + content[33:])


def test_the_provider_gets_the_stripped_picture_and_the_message_keeps_its_own() -> None:
    url = "data:image/jpeg;base64," + base64.b64encode(saved("JPEG", 6)).decode()
    part = FilePart("image/jpeg", url)
    [row] = to_prompt([Message("u", "user", (part,))])
    [image] = row.images
    assert WORDS not in base64.b64decode(image.url.partition(",")[2])
    assert image.url == without_metadata(url) == without_metadata(image.url)
    assert part.url == url


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a.jpg",
        "data:image/png;base64,AAAA",
        "data:image/png;base64,====",
        "data:image/png,abc",
        "data:image/jpeg;base64," + base64.b64encode(b"\xff\xd8\xff").decode(),
        "data:image/gif;base64," + base64.b64encode(b"GIF89a").decode(),
        "data:",
        "",
    ],
)
def test_what_is_no_picture_of_these_kinds_stays_as_it_is(url: str) -> None:
    assert without_metadata(url) is url


@given(
    st.sampled_from(KINDS).map(saved),
    st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 255)), max_size=6),
    st.integers(0, 4_000),
)
def test_a_broken_picture_is_no_error(
    content: bytes, changes: list[tuple[int, int]], length: int
) -> None:
    broken = bytearray(content)
    for place, value in changes:
        broken[place % len(broken)] = value
    for some in (bytes(broken), bytes(broken[:length])):
        url = "data:image/png;base64," + base64.b64encode(some).decode()
        assert len(without_metadata(url)) <= len(url) + 64
