"""The page: one file, whole, self-contained, in which names are only names."""

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from report_folders import demo, mixing_run, plain_run, unfinished_run

import superfed.report.page
from superfed.report.comparison import compare
from superfed.report.numbers import accuracy, aligned, amount, percent, spread
from superfed.report.page.assets import PROGRAM
from superfed.report.page.build import write_page
from superfed.store.layout import ExperimentFolder, RunFolder

SVG_SPACE = "http://www.w3.org/2000/svg"
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
        elif "style" not in self.open and "script" not in self.open:
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
            assert aligned(value) in document.text
        for size in (row.bytes_up, row.bytes_down):
            assert amount(size) in document.text
        for point in row.by_lambda:
            assert accuracy(point.mean, point.std) in document.text
        for run in row.runs:
            assert run in document.text
    assert "0123456789ab" in document.text
    assert "2.13.0" in document.text


def test_it_asks_for_nothing_from_outside(page: str) -> None:
    without = page.replace(f'"{SVG_SPACE}"', "")  # a name, not an address
    assert "http://" not in without
    assert "https://" not in without
    assert not re.search(r"""url\(|@import|\bsrc=|\bimport\(|href="(?!#)""", without)
    document = Document(page)
    assert [script.get("type") for script in document.all("script")] == ["application/json", None]
    assert not document.all("link")


def test_nothing_runs_but_the_pages_own_program(page: str) -> None:
    """By its hash, so that not even a script that slipped into the page would."""
    policies = [meta["content"] or "" for meta in Document(page).all("meta") if "http-equiv" in meta]
    (policy,) = policies
    (program,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "connect-src" not in policy


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
    assert len(document.all("script")) == 2
    assert not document.all("img")
    assert not document.all("i")
    assert not document.all("u")
    assert not any("onerror" in attributes for _, attributes in document.elements)
    assert document.text.count(evil) > 5
    assert quote in document.text
    assert "<i>late" in document.text
    assert evil in json.loads(re.findall(r'id="page-data">(.*?)</script>', text)[0])["methods"][0]["name"] + evil
    assert text.count("</script>") == 2


def test_tables_have_headers_with_scope(page: str) -> None:
    document = Document(page)
    scopes = [header.get("scope") for header in document.all("th")]
    assert set(scopes) == {"row", "col"}
    assert len(document.all("table")) == 7  # readings, metrics, differences, λ, barriers, cost, runs


def test_without_a_program_it_says_what_it_can(page: str) -> None:
    """Places for pictures and controls that would do nothing are not shown; every table is there."""
    assert "html:not(.js) .needs-js, html:not(.js) .plot { display: none; }" in page
    document = Document(page)
    hidden = [body for body in document.all("tbody") if "hidden" in body]
    shown = [body for body in document.all("tbody") if body.get("data-reading") == "validated"]
    assert len(hidden) == 4
    assert len(shown) == 1
    assert "hidden" not in shown[0]


def test_every_part_of_the_program_is_in_it_and_none_is_markup(page: str) -> None:
    """Names reach the page as text alone."""
    folder = Path(superfed.report.page.__file__).parent
    assert {path.name for path in folder.glob("*.js")} == set(PROGRAM)
    for name in PROGRAM:
        text = (folder / name).read_text()
        assert text in page
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function", text), name


def test_the_best_of_every_metric_is_bold(tmp_path: Path) -> None:
    """Of losses and calibration errors that is the lowest, and of rows on other data nobody's business."""
    text = written(demo(tmp_path), tmp_path)
    body = re.findall(r'<tbody data-reading="validated">(.*?)</tbody>', text, re.DOTALL)[0]
    best, other = (re.findall(r"<td([^>]*)>", row) for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL))
    assert ["best" in cell for cell in best] == [True, True, True, True, False, False, False]
    assert ["best" in cell for cell in other] == [False, False, False, False, True, True, False]


def test_settings_that_differ_are_laid_side_by_side(page: str) -> None:
    (table,) = (t for t in re.findall(r"<table>(.*?)</table>", page, re.DOTALL) if "algorithm.nu" in t)
    rows = re.findall(r"<tr><th[^>]*><code>(.*?)</code></th><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", table)
    assert ("algorithm.name", "superfed", "fedavg") in rows
    assert ("algorithm.nu", "1.0", "–") in rows
    assert not any(key.startswith(("data.", "training.")) for key, *_ in rows)


def test_without_curves_the_page_still_opens(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    for run in runs:
        run.curve.unlink()
    document = Document(written(runs, tmp_path))
    assert "No curve was kept." in document.text


def test_only_methods_without_lambda_need_no_explorer(tmp_path: Path) -> None:
    document = Document(written([plain_run(tmp_path / "a", (0.5, 0.1))], tmp_path))
    plots = {div.get("data-plot") for div in document.all("div") if "data-plot" in div}
    assert plots == {"rounds", "bytes", "seconds"}
    assert not any(section.get("id") == "explorer" for section in document.all("section"))
    assert not any(select.get("id") == "reading" for select in document.all("select"))


def test_what_is_not_a_number_is_left_out(tmp_path: Path) -> None:
    runs = [
        plain_run(tmp_path / "a", (math.nan, math.nan)),
        mixing_run(tmp_path / "b", [(0.9, math.nan)] * 5, [(0.9, math.nan), (math.nan, math.nan), (0.8, 0.1)]),
    ]
    text = re.sub(r"<script>.*?</script>", "", written(runs, tmp_path), flags=re.DOTALL)
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)


def test_the_command_that_makes_them_again(tmp_path: Path) -> None:
    runs = demo(tmp_path)
    ExperimentFolder(tmp_path).write_info(
        {"name": "trial", "runs": [run.name for run in runs]}, {"name": "trial", "algorithm": "<fedavg>"}
    )
    document = Document(written(runs, tmp_path))
    assert "superfed run config.yaml" in document.text
    assert "algorithm: <fedavg>" in document.text
