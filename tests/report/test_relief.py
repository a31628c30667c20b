"""The relief shows the surface that the contour plot shows: its colours, its spots, nothing in front of what is nearer."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from superfed.report.figure_parts import LETTER
from superfed.report.relief import TURNS, best_turn, relief
from superfed.report.relief_view import View
from superfed.report.terrain import Scale, Spot, Terrain

SVG = "{http://www.w3.org/2000/svg}"
XS, YS = np.linspace(-2, 2, 21), np.linspace(-1.5, 1.5, 16)
X, Y = np.meshgrid(XS, YS)
SPOTS = [Spot("global model", 0, 0, 0.1), Spot("local model of client 3", 1.2, 0.0, 1.54), Spot("b", 0.7, 1.1, 1.8)]
BOWL = Terrain("A bowl", XS, YS, 0.1 + X**2 + Y**2, SPOTS, [(0, 1), (0, 2)])
RIDGE = 0.1 + 5 * np.exp(-20 * (Y + 0.8) ** 2)
TERRAINS = {
    "bowl": BOWL,
    "capped": replace(BOWL, values=np.exp(3 * (X**2 + Y**2))),
    "flat": replace(BOWL, values=np.full((16, 21), 0.7)),
    "gaps": replace(BOWL, values=np.where(X > 1, np.nan, 0.1 + X**2 + Y**2)),
    "infinite": replace(BOWL, values=np.where(Y > 1, np.inf, 0.1 + X**2 + Y**2)),
    "empty": replace(BOWL, values=np.full((16, 21), np.nan), spots=[], lines=[]),
    "crowded": replace(BOWL, spots=[Spot(f"local model of client {i}", 0.02 * i, 0.0, 0.1) for i in range(3)]),
}


@pytest.mark.parametrize("terrain", TERRAINS.values(), ids=TERRAINS)
@pytest.mark.parametrize("azimuth", [None, 0.0, 75.0, 210.0])
def test_a_well_formed_picture_with_all_labels_inside(terrain: Terrain, azimuth: float | None) -> None:
    text = relief(terrain, azimuth=azimuth)
    assert "nan" not in text
    drawn = ElementTree.fromstring(text)
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    for label in drawn.findall(f".//{SVG}text"):
        long = LETTER * float(label.attrib["font-size"]) * len(label.text or "")
        left = float(label.attrib["x"]) - {"start": 0.0, "middle": long / 2, "end": long}[label.attrib["text-anchor"]]
        assert left >= 0, label.text
        assert left + long <= width, label.text
        assert 10 <= float(label.attrib["y"]) <= height - 3
    for path in drawn.findall(f".//{SVG}path"):
        places = re.findall(r"(-?[\d.]+) (-?[\d.]+)", path.attrib["d"].replace("V", " ").split("a")[0])
        for x, y in places[:1]:
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height


def test_spots_are_marked_and_named() -> None:
    texts = [label.text for label in ElementTree.fromstring(relief(BOWL)).findall(f".//{SVG}text")]
    assert {spot.name for spot in SPOTS} <= set(texts)
    assert texts.count("λ = 0.5") == 2


def test_the_same_picture_every_time() -> None:
    assert relief(BOWL) == relief(BOWL)


def test_cells_without_a_height_are_left_out() -> None:
    def cells(terrain: Terrain) -> int:
        return len(
            ElementTree.fromstring(relief(terrain, Scale.of([BOWL]), 30)).findall(
                f"{SVG}path[@stroke-width='0.8'][@stroke!='#5b6470']"
            )
        )

    assert 0 < cells(TERRAINS["gaps"]) < cells(BOWL)
    assert cells(TERRAINS["empty"]) == 0


def test_higher_is_further_up_and_nearer_further_down() -> None:
    view = View.of(BOWL, Scale.of([BOWL]), 30)
    assert view.seen(0, 0, 1.0)[1] < view.seen(0, 0, 0.0)[1]
    assert view.seen(0, 0, 1.0)[0] == view.seen(0, 0, 0.0)[0]
    assert view.seen(0, 0, 7.0) == view.seen(0, 0, 1.0)  # above the cap all is level
    places = [(x, y) for x in XS[::5] for y in YS[::5]]
    by_depth = sorted(places, key=lambda place: view.depth(*place))
    downs = [view.seen(x, y, 0.0)[1] for x, y in by_depth]
    assert all(a >= b - 1e-9 for a, b in pairwise(downs))


def test_orthographic_lengths_are_the_same_all_over() -> None:
    view = View.of(BOWL, Scale.of([BOWL]), 120)

    def step(x: float, y: float) -> np.ndarray:
        return np.subtract(view.seen(x + 0.5, y, 0.2), view.seen(x, y, 0.2))

    np.testing.assert_allclose(step(-1, -1), step(1, 0.7))


def test_heights_between_grid_points() -> None:
    scale = Scale.of([BOWL])
    view = View.of(replace(BOWL, values=2 + 0.2 * X + 0.1 * Y), Scale((), 0.0, 4.0, log=False, capped=False), 30)
    assert view.height_at(0.33, -0.71) == pytest.approx((2 + 0.2 * 0.33 - 0.071) / 4)
    assert np.isnan(view.height_at(2.5, 0))
    assert View.of(BOWL, scale, 30).height_at(2, 1.5) == pytest.approx(1.0)


def test_what_stands_behind_a_ridge_is_hidden_and_its_spot_on_a_stem() -> None:
    terrain = replace(BOWL, values=RIDGE, spots=[Spot("low", 0, -0.3, 0.1)], lines=[])
    scale = Scale.of([terrain], cap=6)
    view = View.of(terrain, scale, 0)  # seen from where y is least
    assert view.hidden(0, -0.4, view.height_at(0, -0.4))
    assert not view.hidden(0, -0.8, view.height_at(0, -0.8))
    assert not view.hidden(0, 1.4, view.height_at(0, 1.4))
    stems = ElementTree.fromstring(relief(terrain, scale, 0)).findall(f"{SVG}path[@stroke-dasharray='2 2']")
    assert len(stems) == 1


def test_the_turn_has_low_ground_in_front() -> None:
    for slope in (X, -X, Y, -Y):
        terrain = replace(BOWL, values=3 + slope, spots=[])
        scale = Scale.of([terrain], cap=10)
        turn = best_turn([terrain], scale)
        assert turn in TURNS
        view = View.of(terrain, scale, turn)
        assert view.in_front < float(np.median(view.heights))


def test_every_band_that_is_there_is_painted_in_its_colour_family() -> None:
    """Level ground gets no shade, so that its colour is the legend's."""
    terrain = TERRAINS["capped"]
    scale = Scale.of([terrain])
    fills = [path.get("fill") for path in ElementTree.fromstring(relief(terrain, scale)).findall(f"{SVG}path")]
    assert fills.count(scale.colours[-1]) > 50


def test_lambda_lines_end_where_the_surface_does() -> None:
    """Beyond there is nothing they could lie on."""

    def drawn(terrain: Terrain) -> int:
        return relief(terrain, Scale.of([BOWL]), 30).count('stroke-dasharray="6 3.5"')

    gone = replace(BOWL, values=np.full((16, 21), np.nan))
    assert drawn(BOWL) >= 2
    assert drawn(gone) == 0


@pytest.mark.parametrize("azimuth", [0.0, 30.0, 120.0, 245.0])
def test_cells_are_painted_from_the_back_to_the_front(azimuth: float) -> None:
    drawn = ElementTree.fromstring(
        relief(replace(BOWL, values=np.full((16, 21), 0.7), spots=[], lines=[]), azimuth=azimuth)
    )
    cells = drawn.findall(f"{SVG}path[@stroke-width='0.8'][@stroke!='#5b6470']")
    assert len(cells) == 15 * 20
    downs = [np.mean([float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", cell.attrib["d"])]) for cell in cells]
    assert all(a <= b + 0.15 for a, b in pairwise(downs))  # coordinates are rounded to a tenth


@pytest.mark.parametrize("azimuth", TURNS)
def test_two_walls_face_the_viewer(azimuth: float) -> None:
    view = View.of(BOWL, Scale.of([BOWL]), azimuth)
    text = relief(BOWL, azimuth=azimuth)
    walls = [p for p in ElementTree.fromstring(text).findall(f"{SVG}path") if p.get("fill") in ("#c9ced6", "#dde1e7")]
    nearest = max((view.seen(x, y, 0.0) for x, y in view.corners), key=lambda place: place[1])
    assert len(walls) == 2
    for wall in walls:
        assert f"{nearest[0]:.1f} {nearest[1]:.1f}" in wall.attrib["d"]
