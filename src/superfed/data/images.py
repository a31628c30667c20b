"""Compressed images, as bytes, to pixels."""

import io
from typing import Literal

import numpy as np
import numpy.typing as npt

from superfed.core.errors import UserError

FORMATS = ("JPEG", "PNG")  # no others: Pillow starts programs for some of them


def decode_image(data: bytes, where: str, mode: Literal["L", "RGB"]) -> npt.NDArray[np.uint8]:
    """The pixels [H, W] or [H, W, 3] of a JPEG or PNG, made grey or colour; ``where`` is named if it is broken."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise UserError(f'{where}: reading this image needs Pillow; run pip install "superfed[images]"') from error
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            return np.array(image.convert(mode))
    except UnidentifiedImageError as error:
        raise UserError(f"{where}: is not a JPEG or PNG image; fetch it again") from error
    except Exception as error:  # a damaged image can fail in any way whatever
        raise UserError(f"{where}: is a damaged image; fetch it again") from error


def decode_shaped(data: bytes, where: str, shape: tuple[int, int, int]) -> npt.NDArray[np.uint8]:
    """The pixels with the channels first, in exactly this shape [1 or 3, H, W]."""
    channels, height, width = shape
    pixels = decode_image(data, where, "L" if channels == 1 else "RGB")
    if pixels.shape[:2] != (height, width):
        raise UserError(
            f"{where}: is an image of {pixels.shape[1]}×{pixels.shape[0]} pixels, expected {width}×{height}"
        )
    return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)
