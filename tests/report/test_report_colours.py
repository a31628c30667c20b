"""The claim in ``style``: its colours can be told apart by people who see few, and seen on their ground."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from superfed.report.style import DARK, LIGHT, STYLE

# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
PALETTES = {"light": (LIGHT, "#ffffff"), "dark": (DARK, "#14171a")}
Floats = NDArray[np.float64]
palettes = pytest.mark.parametrize(("palette", "ground"), PALETTES.values(), ids=PALETTES.keys())


def linear(colour: str) -> Floats:
    share = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb: Floats) -> Floats:
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@palettes
def test_colours_stand_out_from_their_ground(palette: tuple[str, ...], ground: str) -> None:
    assert f"--ground: {ground}" in STYLE
    for colour in palette:
        dark, light = sorted(float(TO_XYZ[1] @ linear(c)) for c in (colour, ground))
        assert (light + 0.05) / (dark + 0.05) > 3


@palettes
@pytest.mark.parametrize("vision", VISION.values(), ids=VISION.keys())
def test_colours_differ_from_each_other(palette: tuple[str, ...], ground: str, vision: Floats) -> None:
    seen = [lab(vision @ linear(colour)) for colour in palette]
    assert min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)) > 28
