"""Colours for heights."""

import math


def heat(share: float) -> str:
    """A colour from deep indigo, 0, over teal to pale yellow, 1: lightness grows evenly, so that grey print keeps the order.

    Written in OKLCH; chroma gives way where sRGB has not so much of it.
    """
    lightness = 0.30 + 0.66 * share
    hue = math.radians(285 - 185 * share)
    chroma = 0.145 - 0.05 * share
    while True:
        rgb = _srgb(lightness, chroma * math.cos(hue), chroma * math.sin(hue))
        if chroma <= 0 or all(-1e-4 <= part <= 1 + 1e-4 for part in rgb):
            break
        chroma -= 0.002
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, part))):02x}" for part in rgb)


def is_dark(colour: str) -> bool:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


def _srgb(lightness: float, a: float, b: float) -> list[float]:
    """From OKLab (Ottosson, 2020)."""
    l, m, s = (  # noqa: E741
        (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3,
        (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3,
        (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3,
    )
    linear = (
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    )
    return [12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055 for part in linear]
