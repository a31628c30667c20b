"""Bars along time: as many as there are, where they belong; and an axis of ratios."""

import re

import pytest

from superfed.report.gantt import LEFT, RIGHT, WIDTH, Bar, gantt
from superfed.report.log_axis import LogAxis
from superfed.report.scale import Axis

TIME = Axis(0, 10, (0, 5, 10))


def drawn(*bars: Bar, rows: int = 2, height: float = 20.0) -> str:
    return gantt("Work & rest", bars, rows, ("one", "two", "three"), TIME, ("hours", "GPU"), height)


def test_bars_are_where_they_belong() -> None:
    svg = drawn(Bar(0, 0, 0, 5, 0, "first"), Bar(1, 5, 6, 10, 2, "second <b>"))
    rects = {
        note: tuple(map(float, place))
        for *place, note in re.findall(
            r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" [^>]*><title>([^<]*)</title>', svg
        )
    }
    inner = WIDTH - LEFT - RIGHT
    assert rects["first"][0] == LEFT
    assert rects["first"][2] == pytest.approx(inner / 2, abs=1)
    assert rects["second &lt;b&gt;"][0] == pytest.approx(LEFT + inner / 2, abs=0.1)
    assert rects["second &lt;b&gt;"][1] - rects["first"][1] == 20


def test_time_of_preparing_is_paler() -> None:
    assert drawn(Bar(0, 0, 0, 5, 0, "")).count("fill-opacity") == 0
    assert drawn(Bar(0, 0, 1, 5, 0, "")).count("fill-opacity") == 1


def test_the_legend_has_the_kinds_that_there_are() -> None:
    svg = drawn(Bar(0, 0, 0, 5, 0, ""), Bar(1, 0, 0, 5, 2, ""))
    assert ">one</text>" in svg
    assert ">three</text>" in svg
    assert ">two</text>" not in svg
    assert "Work &amp; rest" in svg


def test_thin_rows_are_not_all_named() -> None:
    names = re.findall(r'text-anchor="end"[^>]*>(\d+)</text>', drawn(rows=16, height=7.0))
    assert names == ["1", "8", "16"]
    assert re.findall(r'text-anchor="end"[^>]*>(\d+)</text>', drawn(rows=3)) == ["1", "2", "3"]


def test_equal_ratios_are_equally_far_apart() -> None:
    axis = LogAxis(1, 64, (1, 8, 64))
    assert [axis.share(value) for value in (1, 8, 64)] == pytest.approx([0, 0.5, 1])
    assert (axis.share(0), axis.share(-1), axis.share(1000)) == (0, 0, 1)
