"""superfed reproduce all: every table and figure, end to end, at the smallest scale.

One test, since the runs take longer than all else and are made once.
"""

import re
from pathlib import Path
from xml.etree import ElementTree

from conftest import Program
from superfed.reproduce.cells import TARGETS
from superfed.reproduce.keeping import read_all
from superfed.reproduce.published import published

FIGURES = ("figure3", "figureA", "figureB")


def test_everything(superfed: Program, tmp_path: Path) -> None:
    command = (
        "reproduce",
        "all",
        "engine.device=cpu",
        "engine.workers=1",
        "--scale",
        "smoke",
        "--out",
        tmp_path / "runs",
    )
    kept, where = tmp_path / "kept", tmp_path / "runs" / "smoke"
    done = superfed(*command, "--keep", "--kept", kept)
    assert done.returncode == 0, done.stderr
    assert len(list(where.glob("*/experiment.json"))) == 360

    for table in published().tables:
        count = sum(len(published().metrics(cell)) for cell in published().cells(table))
        assert f"{count} of {count} numbers are there" in done.stdout
        assert (where / f"{table}.tex").exists()
    for target in TARGETS:
        text = (where / f"{target}.html").read_text()
        links = set(re.findall(r'href="([^"]+)"', text))
        assert "index.html" in links
        links.remove("index.html")
        assert links
        assert all((where / link / "run.json").exists() for link in links)
        assert "How the runs were made" in text
    assert re.findall(r'href="([^"]+)"', (where / "index.html").read_text()) == [f"{target}.html" for target in TARGETS]
    files = {figure: [path.suffix for path in (where / figure).iterdir()] for figure in FIGURES}
    assert {figure: (f.count(".svg"), f.count(".csv")) for figure, f in files.items()} == {
        "figure3": (1, 1),
        "figureA": (16, 8),
        "figureB": (1, 1),
    }
    for path in where.glob("figure*/*.svg"):
        ElementTree.parse(path)

    counted = {target: len(found.records) for target, found in read_all(kept).items()}
    assert list(counted) == list(TARGETS)
    assert sum(counted.values()) == 447
    assert sum(path.stat().st_size for path in kept.iterdir()) < 1_350 * 447
    page = tmp_path / "docs" / "results.md"
    assert superfed("reproduce", "all", "--kept", kept, "--page", page).returncode == 0
    pictures = re.findall(r"\(results/([^)]+)\)", page.read_text())
    assert sorted(pictures) == sorted(path.name for path in (tmp_path / "docs" / "results").iterdir())
    assert len(pictures) == 18

    written = {path: path.stat().st_mtime_ns for path in where.rglob("*") if path.name in ("run.json", "surfaces.json")}
    again = superfed(*command)
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in written} == written
    assert "loss surface of" not in again.stdout
