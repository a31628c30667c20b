"""Marching squares on functions whose level lines are known, and a picture in which nothing lies outside."""

import math
import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from superfed.report.contour import Frame, contour
from superfed.report.figure_parts import LETTER
from superfed.report.heat import heat
from superfed.report.isolines import isolines, regions
from superfed.report.terrain import Scale, Spot, Terrain

SVG = "{http://www.w3.org/2000/svg}"
XS, YS = np.linspace(-2, 2, 41), np.linspace(-1.5, 1.5, 31)
X, Y = np.meshgrid(XS, YS)


def bowl(**changes: object) -> Terrain:
    spots = [Spot("global model", 0, 0, 0.1), Spot("local model of client 3", 1.2, 0.0, 1.54), Spot("b", 0.7, 1.1, 1.8)]
    made = Terrain("A bowl", XS, YS, 0.1 + X**2 + Y**2, spots, [(0, 1), (0, 2)], x_title="along u", y_title="along v")
    return replace(made, **changes)  # type: ignore[arg-type]


def area(rings: list[list[tuple[float, float]]]) -> float:
    """Signed by direction, so that holes count against what is around them."""
    return sum((a[1] * b[0] - b[1] * a[0]) / 2 for ring in rings for a, b in pairwise(ring))


def test_a_circle() -> None:
    (line,) = isolines(X**2 + Y**2, 1.0)
    assert line[0] == line[-1]
    places = np.array(line)
    radius = np.hypot(-1.5 + 0.1 * places[:, 0], -2 + 0.1 * places[:, 1])
    np.testing.assert_allclose(radius, 1.0, atol=2e-3)
    turned = np.unwrap(np.arctan2(-1.5 + 0.1 * places[:, 0], -2 + 0.1 * places[:, 1]))
    assert abs(turned[-1] - turned[0]) == pytest.approx(2 * math.pi)


def test_a_slope_has_a_straight_line_from_border_to_border() -> None:
    (line,) = isolines(X, 0.33)
    assert {round(column, 9) for _, column in line} == {23.3}
    assert sorted((line[0][0], line[-1][0])) == [0, 30]


def test_a_line_through_grid_points_is_one_line() -> None:
    (line,) = isolines(X, float(XS[20]))
    assert {round(column, 9) for _, column in line} == {20}
    assert len(line) == 31


@pytest.mark.parametrize(("level", "joined"), [(0.4, True), (0.6, False)])
def test_saddles_are_settled_by_the_mean_of_the_corners(level: float, joined: bool) -> None:
    """High corners in the south-west and north-east; the mean is a half."""
    lines = isolines(np.array([[1.0, 0.0], [0.0, 1.0]]), level)
    assert len(lines) == 2
    for line in lines:
        middle = np.mean(line, axis=0)
        around = {(1, 0), (0, 1)} if joined else {(0, 0), (1, 1)}  # the corners that are cut off
        nearest = min([(0, 0), (0, 1), (1, 0), (1, 1)], key=lambda corner: float(np.hypot(*(middle - corner))))
        assert nearest in around


@pytest.mark.parametrize("level", [0.25, 0.5, 0.75])
def test_every_line_of_a_chequered_field_is_closed_or_ends_on_the_border(level: float) -> None:
    values = np.indices((7, 8)).sum(axis=0) % 2 * 1.0
    for line in isolines(values, level):
        for row, column in (line[0], line[-1]):
            assert line[0] == line[-1] or row in (0, 6) or column in (0, 7)


def test_a_constant_field_has_no_lines() -> None:
    flat = np.full((4, 5), 2.0)
    assert isolines(flat, 1.0) == isolines(flat, 2.0) == isolines(flat, 3.0) == []
    assert abs(area(regions(flat, 1.0))) == pytest.approx(3 * 4)
    assert regions(flat, 3.0) == []


def test_regions_have_the_right_area_and_holes() -> None:
    inside = abs(area(regions(-(X**2) - Y**2, -1.0))) * 0.01
    assert inside == pytest.approx(math.pi, rel=5e-3)
    outside = abs(area(regions(X**2 + Y**2, 1.0))) * 0.01
    assert outside == pytest.approx(4 * 3 - math.pi, rel=5e-3)


def test_what_has_no_height_is_in_no_region() -> None:
    values = np.full((6, 6), 2.0)
    values[:, 3:] = np.nan
    assert abs(area(regions(values, 1.0))) <= 5 * 3


@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_cells_without_a_height_have_no_lines_and_are_blank(gap: float) -> None:
    values = X**2 + Y**2
    values[15, 30] = gap  # on the circle: (1, 0)
    lines = isolines(values, 1.0)
    assert lines
    for line in lines:
        assert all(not (14 < row < 16 and 29 < column < 31) for row, column in line)
    drawn = ElementTree.fromstring(contour(bowl(values=values)))
    (blank,) = drawn.findall(f"{SVG}path[@class='gap']")
    assert blank.get("d", "").count("M") == 4
    assert "nan" not in contour(bowl(values=values))


def test_a_field_without_any_height() -> None:
    drawn = contour(bowl(values=np.full((31, 41), np.nan), spots=[], lines=[]))
    assert "nan" not in drawn
    ElementTree.fromstring(drawn)


def test_a_constant_picture() -> None:
    drawn = ElementTree.fromstring(contour(bowl(values=np.full((31, 41), 0.7), spots=[], lines=[])))
    assert "0.7" in [label.text for label in drawn.findall(f".//{SVG}text")]
    assert len({rect.get("fill") for rect in drawn.findall(f"{SVG}rect")} - {"none", "#ffffff"}) == 1


def test_bands_of_the_picture_cover_what_they_should() -> None:
    """The path of the highest band, measured in the picture, has the area of its region."""
    terrain = bowl()
    scale = Scale.of([terrain], cap=2)
    drawn, frame = ElementTree.fromstring(contour(terrain, scale)), Frame.of(terrain)
    (band,) = drawn.findall(f"{SVG}path[@fill='{scale.colours[-1]}']")
    rings = [
        [tuple(map(float, place.split())) for place in ring.split("L")]
        for ring in re.findall("M([^Z]+)Z", band.attrib["d"])
    ]
    found = abs(area([[*ring, ring[0]] for ring in rings]))  # type: ignore[list-item]
    unit = frame.box.width / 4
    expected = frame.box.width * frame.box.height - math.pi * (2 - 0.1) * unit**2
    assert found == pytest.approx(expected, rel=0.01)


TERRAINS = {
    "bowl": bowl(),
    "crowded": bowl(spots=[Spot(f"local model of client {i}", 0.02 * i, 0.01 * i, 0.2) for i in range(3)]),
    "corners": bowl(
        spots=[
            Spot(f"local model of client {i}", x, y, 1) for i, (x, y) in enumerate([(-2, -1.5), (2, 1.5), (2, -1.5)])
        ]
    ),
    "high": bowl(values=0.1 * np.exp(3 * (X**2 + Y**2))),
    "narrow": bowl(values=5 + 0.01 * X),
    "negative": bowl(values=X),
    "thin": bowl(xs=np.linspace(0, 0.01, 41), spots=[], lines=[]),
}


@pytest.mark.parametrize("terrain", TERRAINS.values(), ids=TERRAINS)
def test_all_that_is_written_lies_in_the_picture(terrain: Terrain) -> None:
    drawn = ElementTree.fromstring(contour(terrain))
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    labels = drawn.findall(f".//{SVG}text")
    assert terrain.title in [label.text for label in labels]
    for label in labels:
        long = LETTER * float(label.attrib["font-size"]) * len(label.text or "")
        x, y = float(label.attrib["x"]), float(label.attrib["y"])
        if "transform" in label.attrib:  # turned about its own middle
            assert 0 < x < width
            assert 0 < y < height
            continue
        left = x - {"start": 0.0, "middle": long / 2, "end": long}[label.attrib["text-anchor"]]
        assert left >= 0, label.text
        assert left + long <= width + 1, label.text
        assert 10 <= y <= height - 3


def test_names_do_not_cover_each_other() -> None:
    drawn = ElementTree.fromstring(contour(TERRAINS["crowded"]))
    boxes = [[float(r.attrib[k]) for k in ("x", "y", "width", "height")] for r in drawn.findall(f"{SVG}rect[@rx]")]
    assert len(boxes) == 5
    for i, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[i + 1 :]:
            apart_x = x + width <= other_x or other_x + other_width <= x
            assert apart_x or y + height <= other_y or other_y + other_height <= y


def test_names_are_escaped() -> None:
    drawn = contour(bowl(title="<script>", spots=[Spot("a & b", 0, 0, 1)], lines=[]))
    assert "<script>" not in drawn
    ElementTree.fromstring(drawn)


def test_the_same_picture_every_time() -> None:
    assert contour(bowl()) == contour(bowl())


def test_the_three_models_and_the_lambda_lines_are_there() -> None:
    texts = [label.text for label in ElementTree.fromstring(contour(bowl())).findall(f".//{SVG}text")]
    assert {"global model", "local model of client 3", "b"} <= set(texts)
    assert texts.count("λ = 0.5") == 2


def test_losses_that_explode_are_capped_and_the_cap_is_stated() -> None:
    terrain = TERRAINS["high"]
    scale = Scale.of([terrain])
    assert scale.capped
    assert scale.log
    assert scale.cap == scale.levels[-1] == 2  # just above the highest spot, 1.8
    texts = [label.text for label in ElementTree.fromstring(contour(terrain, scale)).findall(f".//{SVG}text")]
    assert {"2", "higher", "loss, log"} <= set(texts)


def test_a_cap_can_be_given_and_one_scale_serves_several() -> None:
    scale = Scale.of([bowl(), bowl(values=10 * (X**2 + Y**2 + 0.1))], cap=5)
    assert scale.levels[-1] == 5
    assert scale.low == pytest.approx(0.1)
    assert scale.height(np.array([0.1, 5.0])).tolist() == pytest.approx([0, 1])
    assert np.isnan(scale.height(np.array([np.inf, np.nan]))).all()


def test_levels_are_round_and_few() -> None:
    for low, high in ((0.01, 10), (0.5, 2), (0.9, 30), (1e-3, 1e3)):
        scale = Scale.of([bowl(values=np.geomspace(low, high, 41 * 31).reshape(31, 41), spots=[])], cap=high)
        assert 3 <= len(scale.levels) <= 12
        assert all(len(f"{level:g}".replace(".", "").strip("0")) <= 2 for level in scale.levels)
        assert list(scale.levels) == sorted(set(scale.levels))


def test_colours_grow_lighter_evenly() -> None:
    """In CIE lightness too, so that a grey print keeps their order."""
    linear = [
        [((int(c[i : i + 2], 16) / 255 + 0.055) / 1.055) ** 2.4 for i in (1, 3, 5)]
        for c in (heat(share / 10) for share in range(11))
    ]
    lightness = [116 * (0.2126 * r + 0.7152 * g + 0.0722 * b) ** (1 / 3) - 16 for r, g, b in linear]
    steps = np.diff(lightness)
    assert steps.min() > 0.6 * steps.mean() > 0
