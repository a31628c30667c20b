"""The page: one file, whole, self-contained, in which names are only names."""

import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from report_folders import demo, mixing_run, plain_run, unfinished_run

from superfed.report.comparison import compare
from superfed.report.numbers import accuracy, amount, decimal, percent, spread
from superfed.report.page import write_page
from superfed.store.layout import RunFolder

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Document(HTMLParser):
    """Elements in order, text, and a complaint about any that is not closed where it should be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.notes: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title" and "svg" in self.open:
            self.notes.append(data)
        elif "style" not in self.open:
            self.text += data + " "

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def written(runs: list[RunFolder], folder: Path) -> str:
    path = folder / "page.html"
    write_page(runs, path)
    return path.read_text()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    return written(demo(folder), folder)


def test_it_is_well_formed_and_says_its_language(page: str) -> None:
    assert page.startswith("<!DOCTYPE html>\n")
    document = Document(page)
    assert document.all("html") == [{"lang": "en"}]
    assert {"charset": "utf-8"} in document.all("meta")
    assert any(meta.get("name") == "viewport" for meta in document.all("meta"))
    assert len(document.all("h1")) == 1


def test_it_holds_every_number_of_the_comparison(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    document = Document(written(runs, tmp_path))
    for row in compare(runs).rows:
        for found in row.readings.values():
            assert accuracy(found.mean, found.std) in document.text
            assert spread(found.spread) in document.text
        for share in (row.worst10, row.top5):
            assert percent(share) in document.text
        for value in (row.loss, row.ece, row.mce):
            assert decimal(value) in document.text
        for size in (row.bytes_up, row.bytes_down):
            assert amount(size) in document.text
        for point in row.by_lambda:
            where = row.title if point.lam is None else f"{row.title}, λ = {point.lam:g}"
            note = f"{where}: {accuracy(point.mean, point.std)} {spread(point.spread)}"
            assert document.notes.count(note) == 2  # on the wide chart and the narrow one
        for run in row.runs:
            assert run in document.text
    assert "0123456789ab" in document.text
    assert "2.13.0" in document.text


def test_it_asks_for_nothing_from_outside(page: str) -> None:
    assert "http://" not in page
    assert "https://" not in page
    assert not re.search(r"""url\(|@import|\bsrc=|\bhref=""", page)
    document = Document(page)
    assert not document.all("script")
    assert not document.all("link")
    policy = next(meta for meta in document.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert (policy["content"] or "").startswith("default-src 'none'")


def test_names_and_settings_are_only_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    quote = '"><img src=x onerror=alert(1)>'
    sections: dict[str, Any] = {"name": evil, "description": quote}
    data = {"dataset": {"name": evil}, "num_clients": 5}
    runs = [
        plain_run(tmp_path / "a", (0.5, 0.1), title=evil, **sections),
        plain_run(tmp_path / "b", (0.6, 0.1), title=quote, data=data, **sections),
        mixing_run(tmp_path / "c", [(0.9, 0.1)] * 5, [(0.9, 0.1)] * 3, **sections),
        unfinished_run(tmp_path / "<i>late", {}, evil, status=evil),
    ]
    runs[0].write_info(runs[0].info() | {"fingerprint": "<u>1", "status": "stopped", "reason": evil})
    text = written(runs, tmp_path)
    document = Document(text)
    assert not document.all("script")
    assert not document.all("img")
    assert not document.all("i")
    assert not document.all("u")
    assert not any("onerror" in attributes for _, attributes in document.elements)
    assert document.text.count(evil) > 5
    assert quote in document.text
    assert "<i>late" in document.text
    assert any(evil in note for note in document.notes)


def test_tables_have_headers_with_scope(page: str) -> None:
    document = Document(page)
    scopes = [header.get("scope") for header in document.all("th")]
    assert set(scopes) == {"row", "col"}
    assert len(document.all("table")) == 4


def test_figures_are_described_for_those_who_cannot_see_them(page: str) -> None:
    document = Document(page)
    assert len(document.all("figure")) == len(document.all("figcaption")) == 2
    charts = [svg for svg in document.all("svg") if (svg.get("class") or "").startswith("chart")]
    assert [svg.get("class") for svg in charts] == ["chart wide", "chart narrow"] * 2
    for svg in charts:
        assert svg.get("role") == "img"
        assert "SuPerFed-MM and FedAvg" in (svg.get("aria-label") or "")


def test_a_method_without_lambda_is_a_dashed_line(page: str) -> None:
    document = Document(page)
    levels = [path for path in document.all("path") if (path.get("class") or "") == "stroke c1 level"]
    # in both charts, at the name in the wide one, and in the legend
    assert len(levels) == 4
    bands = [path for path in document.all("path") if (path.get("class") or "") == "band c0"]
    assert len(bands) == 4  # over λ and over rounds, wide and narrow


def test_rounds_are_read_at_one_half(page: str) -> None:
    notes = Document(page).notes
    assert notes.count("SuPerFed-MM, after 40 rounds: 92.00 (±1.63)") == 2
    assert notes.count("SuPerFed-MM, after 0 rounds: 9.20 (±0.16)") == 2
    assert notes.count("FedAvg, after 40 rounds: 60.00 (±8.16)") == 2


def marks(page: str) -> dict[str, tuple[float, float]]:
    """Where the best method's points stand in the first chart, by their notes."""
    found: dict[str, tuple[float, float]] = {}
    pattern = r'd="M([\d.]+) ([\d.]+)a4[^"]*" class="mark c0"><title>([^<:]*):'
    for x, y, note in re.findall(pattern, page):
        found.setdefault(note, (float(x) + 4, float(y)))
    return found


def band_top(page: str) -> float:
    """Where the first band begins, at λ = 0."""
    band = re.search(r'd="M[\d.]+ ([\d.]+)L[^"]*" class="band c0"', page)
    assert band is not None
    return float(band[1])


def test_points_stand_where_the_axes_say(page: str) -> None:
    """λ = 0 is at the left end of the axis, λ = 1 at its right end, and higher is better."""
    axis = re.search(r'd="M([\d.]+) ([\d.]+)H([\d.]+)" class="axis"', page)
    assert axis is not None
    left, right = marks(page)["SuPerFed-MM, λ = 0"], marks(page)["SuPerFed-MM, λ = 1"]
    assert left[0] == pytest.approx(float(axis[1]), abs=0.11)
    assert right[0] == pytest.approx(float(axis[3]), abs=0.11)
    assert right[1] < left[1]


def test_the_band_is_one_deviation_over_clients_either_way(page: str) -> None:
    low, high = marks(page)["SuPerFed-MM, λ = 0"], marks(page)["SuPerFed-MM, λ = 1"]
    one_percent = (low[1] - high[1]) / (94 - 62)
    band = re.search(r'd="M[\d.]+ ([\d.]+)L[^"]* ([\d.]+)Z" class="band c0"', page)
    assert band is not None
    assert low[1] - float(band[1]) == pytest.approx(30 * one_percent, abs=0.3)
    assert float(band[2]) - low[1] == pytest.approx(30 * one_percent, abs=0.3)


def test_without_curves_the_page_still_opens(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    for run in runs:
        run.curve.unlink()
    document = Document(written(runs, tmp_path))
    assert len(document.all("figure")) == 1
    assert "As training went on" not in document.text


def test_one_lost_curve_leaves_the_others(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    next(run for run in runs if run.name == "superfed-mm-seed0").curve.unlink()
    notes = Document(written(runs, tmp_path)).notes
    assert "SuPerFed-MM, after 40 rounds: 93.00 (±1.00)" in notes


def test_only_methods_without_lambda_need_no_lambda_chart(tmp_path: Path) -> None:
    document = Document(written([plain_run(tmp_path / "a", (0.5, 0.1))], tmp_path))
    assert len(document.all("figure")) == 1
    assert "λ" not in document.text


def test_what_is_not_a_number_is_left_out(tmp_path: Path) -> None:
    runs = [
        plain_run(tmp_path / "a", (math.nan, math.nan)),
        mixing_run(tmp_path / "b", [(0.9, math.nan)] * 5, [(0.9, math.nan), (math.nan, math.nan), (0.8, 0.1)]),
    ]
    text = written(runs, tmp_path)
    document = Document(text)
    assert {note.split(":")[0] for note in document.notes if "λ" in note} == {
        "SuPerFed-MM, λ = 0",
        "SuPerFed-MM, λ = 1",
    }
    assert marks(text)["SuPerFed-MM, λ = 0"][1] == pytest.approx(band_top(text))
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)


def test_many_rows_are_named_in_a_legend(tmp_path: Path) -> None:
    stats = [(0.9, 0.1)] * 5
    runs = [mixing_run(tmp_path / f"{nu}", stats, stats[:3], nu=nu) for nu in range(12)]
    text = written(runs, tmp_path)
    assert 'class="named"' not in text
    document = Document(text)
    assert 'class="name"' not in text
    assert len([ul for ul in document.all("ul") if ul.get("class") == "legend"]) == 2
    assert "of the best 4 only" in document.text
