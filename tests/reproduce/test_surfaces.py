"""Figure A: loss surfaces as numbers, pictures and data."""

import math
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console
from some_records import landscape, record

from superfed.experiments.surface import Corner, Surface
from superfed.metrics.plane import Window
from superfed.reproduce.cells import cells
from superfed.reproduce.landscape import Landscape
from superfed.reproduce.record import Record
from superfed.reproduce.surfaces import figure_a
from superfed.reproduce.terminal_figure import show_figure

SVG = "{http://www.w3.org/2000/svg}"


def found() -> dict[str, list[Record]]:
    return {cell.id: [record(cell.id)] for cell in cells("figureA", "full")}


def test_a_surface_becomes_text_and_back() -> None:
    grid = Window(-1, 3, 0, 2).grid(5)
    loss = np.arange(15.0).reshape(3, 5) / 7
    loss[0, 0] = math.inf
    line = np.linspace(0.123456789, 1, 11)
    corners = tuple(Corner(name, 0.5, 1.0, loss=0.25, top1=0.5) for name in ("global model", "a", "b"))
    surface = Surface("X", grid, loss, loss, corners, (line, line[::-1]), True, "train", (4, 5), 99)  # type: ignore[arg-type]
    one = Landscape.of(surface)
    np.testing.assert_allclose(one.xs, grid.xs)
    np.testing.assert_allclose(one.ys, grid.ys)
    assert one.loss[0][0] is None
    assert math.isnan(one.heights[0, 0])
    np.testing.assert_allclose(one.heights[1:], loss[1:], rtol=1e-3)
    assert one.extremes(0) == one.extremes(1) == (0.123457, 1.0)
    assert (one.num_clients, one.num_samples) == (2, 99)


def test_a_way_that_is_not_finite_has_no_extremes() -> None:
    one = replace(landscape("X"), lines=[[0.0, None, 1.0], [0.0, 2.0, 1.0]])
    assert one.extremes(0) == (None, None)
    assert one.extremes(1) == (0.0, 2.0)


def test_every_view_has_both_pictures_of_every_method() -> None:
    drawn = figure_a(found())
    assert [section.heading for section in drawn.sections] == [
        "Through the clients' own models",
        "Through the clients' updates",
    ]
    for section in drawn.sections:
        assert [len(row) for row in section.pictures] == [3, 3]
    names = [picture.name for picture in drawn.pictures]
    assert names[0] == "figureA-personal-fedavg-relief"
    assert len(set(names)) == 12
    for picture in drawn.pictures:
        ElementTree.fromstring(picture.svg)


def test_all_pictures_have_one_scale() -> None:
    records = found()
    (cell, (one,)), *_ = records.items()
    records[cell] = [replace(one, surfaces={"personal": landscape("high", lift=3.0), "updates": landscape("high")})]
    legends = set()
    for picture in figure_a(records).pictures:
        fills = [part.get("fill") for part in ElementTree.fromstring(picture.svg).findall(f"{SVG}rect[@width='15']")]
        legends.add(tuple(fills))
    assert len(legends) == 1


def test_a_later_seed_serves_where_the_first_has_none() -> None:
    cell = "figureA/cifar10/k100/fedavg"
    first = replace(record(cell, seed=0), surfaces={})
    second, third = (
        replace(record(cell, seed), surfaces={"personal": landscape("X", lift)}) for seed, lift in ((1, 0.5), (2, 9))
    )
    (section,) = figure_a({cell: [first, second, third]}).sections
    assert section.rows[0].words[2] == "0.5"


def test_in_numbers() -> None:
    rows = figure_a(found()).sections[0].rows
    assert rows[0].words == ("FedAvg", "3", "0.1", "1.1", "0.1", "1.1")
    assert rows[1].words == ("FedAvg", "7", "0.1", "1.35", "0.1", "1.35")
    assert len(rows) == 6


def test_the_data_is_what_is_drawn() -> None:
    text = figure_a(found()).data["figureA-personal-superfed_mm.csv"]
    lines = text.splitlines()
    assert lines[:3] == ["x,y,loss", "-1,-1,2.1", "-0.5,-1,1.35"]
    assert len(lines) == 1 + 49


@pytest.mark.parametrize("missing", [1, 3])
def test_what_is_missing_is_said(missing: int) -> None:
    records = found()
    for cell in list(records)[:missing]:
        records[cell] = [replace(records[cell][0], surfaces={})]
    drawn = figure_a(records)
    assert len(drawn.sections) == (0 if missing == 3 else 2)
    assert "computed" in drawn.sentences[-1]


def test_the_terminal_has_room() -> None:
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        show_figure("Title", figure_a(found()), console)
    assert "…" not in captured.get()
