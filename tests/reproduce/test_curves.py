"""Figures 3 and B: what is drawn, and the same in numbers."""

from xml.etree import ElementTree

import pytest
from rich.console import Console
from some_records import record

from superfed.reproduce.cells import cells
from superfed.reproduce.curves import curve, figure3, figure_b
from superfed.reproduce.terminal_figure import show_figure

SVG = "{http://www.w3.org/2000/svg}"
CELL = "figureB/mnist/k500/superfed_mm"


def texts(svg: str) -> list[str]:
    return [label.text or "" for label in ElementTree.fromstring(svg).findall(f".//{SVG}text")]


def test_a_curve_is_the_mean_over_seeds_of_means_over_clients() -> None:
    one = curve(CELL, [record(CELL, 0, 0.90), record(CELL, 1, 0.94)])
    lam, best = one.best
    assert lam == 0.5
    assert best.mean == pytest.approx(92.0)
    assert best.std == pytest.approx(5.0)
    assert best.over_seeds == pytest.approx(2.8284, abs=1e-3)
    assert [round(value.mean, 6) for _, value in one.at][:2] == [82.0, 84.0]


def test_figure_3_has_a_panel_for_each_pair_of_constants() -> None:
    drawn = figure3({cell.id: [record(cell.id)] for cell in cells("figure3", "full")})
    (picture,) = drawn.pictures
    words = texts(picture.svg)
    titles = [word for word in words if word.startswith("ν = ")]
    assert len(titles) == len(set(titles)) == 16
    assert titles[:5] == ["ν = 0, μ = 0", "ν = 0, μ = 0.01", "ν = 0, μ = 0.1", "ν = 0, μ = 1", "ν = 1, μ = 0"]
    assert words.count("90.00") == 32
    assert words.count("SuPerFed-LM") == 1  # the legend
    circles = ElementTree.fromstring(picture.svg).findall(f"{SVG}circle")
    assert len(circles) == 32 * 11 + 2
    assert len([mark for mark in circles if mark.get("r") == "4.2"]) == 32
    assert len(drawn.sections[0].rows) == 32
    assert drawn.sections[0].rows[0].words == (
        "ν = 0, μ = 0",
        "SuPerFed-MM",
        "80.00",
        "90.00",
        "80.00",
        "90.00 ±5.00",
        "0.5",
    )


def test_a_panel_without_a_run_says_so() -> None:
    found = {id: [record(id)] for id in ("figure3/cifar10/nu0_mu0/superfed_mm", "figure3/cifar10/nu1_mu1/superfed_lm")}
    words = texts(figure3(found).pictures[0].svg)
    assert words.count("not run") == 2
    assert "ν = 0, μ = 1" in words


def test_figure_b_has_a_panel_for_each_method() -> None:
    drawn = figure_b({cell.id: [record(cell.id)] for cell in cells("figureB", "full")})
    words = texts(drawn.pictures[0].svg)
    assert [word for word in words if word in ("APFL", "SuPerFed-MM", "SuPerFed-LM")] == [
        "APFL",
        "SuPerFed-MM",
        "SuPerFed-LM",
    ]
    assert words.count("90.00 at λ = 0.5") == 3


def test_the_data_has_a_row_for_each_lambda_and_two_columns_for_each_curve() -> None:
    drawn = figure_b({CELL: [record(CELL)]})
    lines = drawn.data["figureB.csv"].splitlines()
    assert lines[0] == "lambda,k500_superfed_mm,k500_superfed_mm_std"
    assert lines[1] == "0,80,5"
    assert len(lines) == 12


def test_a_run_without_finite_values_has_no_curve() -> None:
    whole = record(CELL)
    for place in whole.by_lambda:
        place["top1"] = {"mean": None, "std": None}
    assert curve(CELL, [whole]).at == ()


def test_nothing_to_draw() -> None:
    assert figure3({}).pictures == figure_b({}).pictures == []
    assert figure3({}).sentences == ("None of it has been run.",)


@pytest.mark.parametrize("target", ["figure3", "figureB"])
def test_the_terminal_shows_every_curve_in_eighty_columns(target: str) -> None:
    draw = {"figure3": figure3, "figureB": figure_b}[target]
    drawn = draw({cell.id: [record(cell.id, seed) for seed in (0, 1)] for cell in cells(target, "full")})
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        show_figure("Title", drawn, console)
    text = captured.get()
    assert max(len(row) for row in text.splitlines()) <= 80
    assert "…" not in text
    assert text.count("90.00 ±5.00 (0.00)") == len(drawn.sections[0].rows)
