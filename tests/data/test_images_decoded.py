"""Bytes of images to pixels."""

import sys
import zlib

import numpy as np
import pytest

from superfed.core.errors import UserError
from superfed.data.images import decode_image
from support.pictures import encoded, pixels

GREY, COLOUR = pixels(6, 4), pixels(6, 4, 3)


def test_grey_and_colour_are_what_was_saved() -> None:
    grey, colour = decode_image(encoded(GREY), "here", "L"), decode_image(encoded(COLOUR), "here", "RGB")
    assert np.array_equal(grey, GREY)
    assert np.array_equal(colour, COLOUR)
    assert grey.flags.writeable  # torch warns about any other
    assert colour.flags.writeable


def test_one_is_made_of_the_other() -> None:
    assert np.array_equal(decode_image(encoded(GREY), "here", "RGB"), np.repeat(GREY[:, :, None], 3, axis=2))
    assert decode_image(encoded(COLOUR), "here", "L").shape == (6, 4)


def test_a_jpeg_comes_close() -> None:
    smooth = np.add.outer(np.arange(32), np.arange(32)).astype(np.uint8)
    assert np.abs(decode_image(encoded(smooth, "JPEG"), "here", "L").astype(int) - smooth).max() < 4


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_cut_image_is_a_sentence_wherever_it_is_cut(kind: str) -> None:
    content = encoded(pixels(16, 16, 3), kind)
    tail = 20 if kind == "PNG" else 2  # the last chunk of a PNG holds nothing that is needed
    for length in range(0, len(content) - tail, 7):
        with pytest.raises(UserError, match=r"^here: is (not a JPEG or PNG|a damaged) image; fetch it again$"):
            decode_image(content[:length], "here", "RGB")


def test_formats_that_need_other_programs_are_not_opened() -> None:
    with pytest.raises(UserError, match="here: is not a JPEG or PNG image"):
        decode_image(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 4\n%%EndComments\n", "here", "RGB")


def test_a_vast_image_is_refused_before_memory_is_set_aside() -> None:
    content = bytearray(encoded(GREY))
    content[16:24] = b"\x00\x01\x00\x00" * 2  # its header now promises 65,536 × 65,536 pixels
    content[29:33] = zlib.crc32(content[12:29]).to_bytes(4, "big")
    with pytest.raises(UserError, match="here: is a damaged image; fetch it again"):
        decode_image(bytes(content), "here", "L")


def test_without_pillow_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    content = encoded(GREY)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UserError) as caught:
        decode_image(content, "here", "L")
    assert str(caught.value) == 'here: reading this image needs Pillow; run pip install "superfed[images]"'
