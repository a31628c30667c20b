"""Small multiples: panels side by side on the same axes."""

from xml.etree import ElementTree

from superfed.report.panels import Panel, panels
from superfed.report.scale import Axis
from superfed.report.svg import Line, Point

SVG = "{http://www.w3.org/2000/svg}"
X, Y = Axis(0, 1, (0, 0.5, 1)), Axis(0, 100, (0, 50, 100))


def line(name: str, index: int, *heights: float) -> Line:
    points = [Point(i / (len(heights) - 1), y, y - 5, y + 5, f"{name} {y:g}") for i, y in enumerate(heights)]
    return Line(name, points, index)


def drawn(*rows: list[Panel]) -> ElementTree.Element:
    return ElementTree.fromstring(panels("Title", rows, X, Y, "across", "up", (200.0, 100.0)))


def test_the_same_height_is_the_same_place_in_every_panel_of_a_row() -> None:
    picture = drawn([Panel("a", [line("one", 0, 10, 60)]), Panel("b", [line("one", 0, 60, 20)])])
    marks = {(mark.findtext(f"{SVG}title"), mark.attrib["cy"]) for mark in picture.findall(f"{SVG}circle")}
    assert len(marks) == 3  # both 60 at one height


def test_everything_is_inside_the_picture() -> None:
    rows = [[Panel(f"{i} {j}", [line("one", 0, 0, 100), line("two", 1, 100, 0)]) for j in range(4)] for i in range(3)]
    picture = drawn(*rows)
    width, height = (float(picture.attrib[side]) for side in ("width", "height"))
    for label in picture.findall(f"{SVG}text"):
        assert 0 < float(label.attrib["x"]) < width
        assert 0 < float(label.attrib["y"]) < height
    for mark in picture.findall(f"{SVG}circle"):
        assert 0 < float(mark.attrib["cx"]) < width
        assert 0 < float(mark.attrib["cy"]) < height


def test_a_legend_is_there_where_a_panel_has_several_lines() -> None:
    both = [
        label.text for label in drawn([Panel("a", [line("one", 0, 1, 2), line("two", 1, 3, 4)])]).findall(f"{SVG}text")
    ]
    assert [both.count(name) for name in ("one", "two")] == [1, 1]
    apart = drawn([Panel("a", [line("one", 0, 1, 2)]), Panel("b", [line("two", 1, 3, 4)])])
    assert not {"one", "two"} & {label.text for label in apart.findall(f"{SVG}text")}


def test_one_point_of_a_line_is_ringed() -> None:
    picture = drawn([Panel("a", [line("one", 0, 1, 9, 2)], rings=(0.5,))])
    ringed = [mark for mark in picture.findall(f"{SVG}circle") if mark.attrib["fill"] == "#ffffff"]
    assert [mark.findtext(f"{SVG}title") for mark in ringed] == ["one 9"]


def test_remarks_have_the_colours_of_their_lines() -> None:
    picture = drawn(
        [Panel("a", [line("one", 0, 1, 2), line("two", 1, 3, 4)], ["first", "second"]), Panel("b", [], ["none"])]
    )
    fills = {label.text: label.attrib["fill"] for label in picture.findall(f"{SVG}text")}
    assert len({fills["first"], fills["second"], fills["none"]}) == 3
    places = {label.text: float(label.attrib["x"]) for label in picture.findall(f"{SVG}text")}
    assert places["first"] < places["second"]
