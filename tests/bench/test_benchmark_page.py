"""The documentation's benchmark page shows what the stored results hold."""

from pathlib import Path

from superfed.bench.chart import chart
from superfed.bench.page import section
from superfed.bench.report import Report

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "benchmark.md"
RESULTS = {path.stem: Report.read(path) for path in sorted((ROOT / "benchmarks" / "results").glob("*.json"))}


def test_the_page_is_the_stored_results() -> None:
    assert RESULTS
    assert section(PAGE, RESULTS) in PAGE.read_text()


def test_the_charts_are_the_stored_results() -> None:
    stored = {path.stem: path.read_text() for path in (PAGE.parent / "benchmark").glob("*.svg")}
    assert stored == {name: chart(report) for name, report in RESULTS.items()}
