"""Anyone's images, which share a size that nobody knows beforehand."""

import io
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError
from superfed.data.images import FORMATS, decode_image, decode_shaped

GREY, COLOUR = ("1", "L", "LA"), ("RGB", "RGBA", "P", "PA", "CMYK", "YCbCr")
"""Pillow's names for pixels of at most eight bits a channel."""


def read_images(contents: Callable[[], Iterable[bytes | None]], count: int, where: str) -> npt.NDArray[np.uint8]:
    """The pixels [count, channels, height, width] of files that ``contents`` gives as often as it is asked.

    There is one channel if all images are grey, and three otherwise.
    """
    looks = [_look(content, f"{where}, row {row}") for row, content in enumerate(contents())]
    channels = 3 if any(colour for _, colour in looks) else 1
    (width, height), _ = looks[0]
    pixels = np.empty((count, channels, height, width), dtype=np.uint8)
    for row, content in enumerate(contents()):
        if looks[row][0] != looks[0][0]:
            raise UserError(
                f"{where}, row {row}: is an image of {looks[row][0][0]}×{looks[row][0][1]} pixels, but row 0 has "
                f"{width}×{height}; make them all the same size"
            )
        pixels[row] = decode_shaped(content or b"", f"{where}, row {row}", (channels, height, width))
    return pixels


def _look(content: bytes | None, where: str) -> tuple[tuple[int, int], bool]:
    """An image's width and height and whether it has colour, without decoding it."""
    if content is None:
        raise UserError(f"{where}: has no bytes of an image")
    try:
        from PIL import Image

        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            size, mode = image.size, image.mode
    except Exception:
        decode_image(content, where, "L")  # says what is wrong
        raise
    if mode not in (*GREY, *COLOUR):
        raise UserError(f"{where}: is an image of the kind '{mode}'; turn it into eight-bit grey or colour")
    return size, mode in COLOUR
