"""Our numbers beside the published ones, in every form they are shown in."""

import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from superfed.reproduce.below import below
from superfed.reproduce.best_by_score import BY_SCORE
from superfed.reproduce.compare import Line, Summary, compare, told
from superfed.reproduce.latex import PAPER, escaped, latex
from superfed.reproduce.links import Runs
from superfed.reproduce.page import page
from superfed.reproduce.published import published
from superfed.reproduce.terminal import show
from superfed.reproduce.words import METHODS, cells_of, counts, headings, score_words, setting_words

CELL = "table1/cifar10/k100/superfed_mm"


def summary(mean: float, validated: float = 0.5, std: float = 0.1, clients: int = 100) -> Summary:
    def over(mean: float) -> dict[str, Any]:
        return {
            name: {"mean": mean, "std": std}
            for name in ("top1", "top5", "loss", "ece", "mce", "ece_batchwise", "mce_batchwise")
        }

    readings = {name: over(mean) for name in ("oracle", "best_shared")}
    readings |= {name: over(validated) for name in ("validated", "validated_shared")}
    return {"num_clients": clients, "readings": readings | {BY_SCORE: {}}}


def line_of(cell: str, summaries: dict[str, list[Summary]], metric: str = "top1") -> Line:
    (line,) = [one for one in compare(cell.split("/")[0], summaries) if (one.cell, one.metric) == (cell, metric)]
    return line


def test_every_printed_number_has_a_line_with_or_without_runs() -> None:
    for name in published().tables:
        lines = compare(name, {})
        assert len(lines) == sum(len(published().metrics(cell)) for cell in published().cells(name))
        assert all(line.verdict is None and not line.ours for line in lines)
        assert counts(lines) == f"0 of {len(lines)} numbers are there"


def test_accuracies_are_percent_and_the_reading_is_the_tables() -> None:
    line = line_of(CELL, {CELL: [summary(0.9, validated=0.8)]})
    assert line.reading == "oracle"
    (found,) = line.ours
    assert found.num_clients == 100
    assert found.mean == pytest.approx(90.0)
    assert found.std == pytest.approx(10.0)
    assert line.headline[0].mean == pytest.approx(80.0)
    assert line.verdict is not None
    assert line.verdict.difference == pytest.approx(90.0 - line.published.mean)
    errors = line_of("table4/mnist/pair0.1/superfed_mm", {"table4/mnist/pair0.1/superfed_mm": [summary(0.3)]}, "ece")
    assert errors.ours[0].mean == pytest.approx(0.3)


def test_errors_are_shown_as_they_were_printed_and_as_they_are_defined() -> None:
    cell = "table4/mnist/pair0.1/superfed_mm"
    run = summary(0.3)
    run["readings"]["oracle"]["ece"] = {"mean": 0.1, "std": 0.02}
    line, accuracy = (line_of(cell, {cell: [run]}, metric) for metric in ("ece", "top1"))
    assert dict(zip(headings([line]), cells_of(line, [line]), strict=True))["standard"] == "0.10 ±0.02"
    assert dict(zip(headings([line]), cells_of(line, [line]), strict=True))["ours"] == "0.30 ±0.10"
    assert "standard" not in headings([accuracy])
    assert len(cells_of(accuracy, [accuracy])) == len(headings([accuracy]))
    assert cells_of(accuracy, [accuracy, line])[2] == "–"  # in one LaTeX table with the errors


def test_a_cell_that_is_no_target_gets_no_verdict_and_its_reason_is_told() -> None:
    faulty = next(cell for cell in published().cells("table1") if published().fault_of(cell))
    line = line_of(faulty, {faulty: [summary(0.9)]})
    assert line.verdict is None
    assert cells_of(line)[-1] == "no target"
    assert cells_of(line)[2].endswith("*")


def test_several_seeds() -> None:
    line = line_of(CELL, {CELL: [summary(mean) for mean in (0.90, 0.92, 0.94)]})
    value = told(line.ours)
    assert value is not None
    assert score_words(value) == "92.00 ±10.00 (2.00)"
    assert line.verdict is not None
    assert line.verdict.by == "seeds"


def test_a_mean_that_could_not_be_told_is_no_figure() -> None:
    nothing = {"mean": None, "std": None}
    broken: dict[str, Any] = {
        "num_clients": 5,
        "readings": {r: {"top1": nothing} for r in ("oracle", "validated", "validated_shared", BY_SCORE)},
    }
    assert line_of(CELL, {CELL: [broken]}).ours == ()


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("k500", "K = 500"),
        ("alpha10", "α = 10"),
        ("pair0.4", "pair noise 0.4"),
        ("symmetric0.2", "symmetric noise 0.2"),
        ("start0.4", "L/R = 0.4"),
        ("natural", "natural"),
    ],
)
def test_settings_in_words(setting: str, words: str) -> None:
    assert setting_words(setting) == words


SUMMARIES = {cell: [summary(0.9), summary(0.91)] for name in published().tables for cell in published().cells(name)}


@pytest.mark.parametrize("name", published().tables)
def test_the_terminal_shows_every_cell_in_eighty_columns(name: str) -> None:
    console = Console(width=80, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as captured:
        show("Title", compare(name, SUMMARIES), console)
    text = captured.get()
    assert max(len(row) for row in text.splitlines()) <= 80
    assert text.count("SuPerFed-MM") >= len({cell.rsplit("/", 1)[0] for cell in published().cells(name)})
    assert "…" not in text


@pytest.mark.parametrize("name", published().tables)
def test_the_page_is_sound_and_says_why(name: str) -> None:
    lines = compare(name, SUMMARIES)
    html = page({"Table <1>": lines}, Runs({}))
    body = html[html.index("<main>") : html.index("</main>") + len("</main>")]
    rows = ElementTree.fromstring(body).findall(".//tbody/tr")
    assert len(rows) == len(lines) + sum(len(aside.rows) for aside in below(lines))
    assert "Table &lt;1&gt;" in html
    for line in lines:
        if line.faults:
            assert line.faults.split(".")[0][:40] in re.sub(r"&#x27;", "'", html)


@pytest.mark.parametrize("name", published().tables)
def test_latex_is_balanced(name: str) -> None:
    lines = compare(name, SUMMARIES)
    text = latex("Title", lines)
    assert text.count(r"\begin{") == text.count(r"\end{")
    rows = [row for row in text.splitlines() if row.endswith(r"\\") and "caption" not in row]
    assert len(rows) == len(lines) + 2  # the headings, on the first page and on later ones
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(headings(lines)) - 1}
    plain = re.sub(r"\\.", "", text)
    assert plain.count("{") == plain.count("}")
    assert text.isascii(), {c for c in text if not c.isascii()}


def test_columns_of_which_nothing_was_run_are_named_and_not_laid_out() -> None:
    one = {cell: runs for cell, runs in SUMMARIES.items() if cell == "table1/mnist/k100/fedavg"}
    lines = compare("table1", one)
    html, tex = page({"Table": lines}, Runs({})), latex("Title", lines)
    assert "nothing yet: MNIST, K = 50 (top-1, %); MNIST, K = 500 (top-1, %); CIFAR-10, K = 50" in html
    assert html.count("SCAFFOLD</th>") == 1
    assert "nothing yet: MNIST, K = 50 (top-1, \\%); MNIST, K = 500 (top-1, \\%); CIFAR-10, K = 50" in tex
    assert tex.count("SCAFFOLD &") == 1
    none = latex("Title", compare("table1", {}))
    assert none.startswith(r"\noindent nothing yet: MNIST, K = 50")
    assert "longtable" not in none


def test_what_latex_would_take_for_its_own_is_escaped() -> None:
    assert escaped(r"50% & a_b {c} \d ±1") == r"50\% \& a\_b \{c\} \textbackslash{}d $\pm$1"


def test_a_sign_is_no_hyphen() -> None:
    assert escaped("-0.16 (-.2) CIFAR-10, 1-2, top-1") == "$-$0.16 ($-$.2) CIFAR-10, 1-2, top-1"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
def test_latex_can_be_typeset_and_fits_a_page(tmp_path: Path) -> None:
    tables = [latex(f"{PAPER}, {name}", compare(name, SUMMARIES)) for name in published().tables]
    packages = r"\usepackage[a4paper, margin=1in]{geometry} \usepackage{booktabs,longtable}"
    lines = [r"\documentclass{article}", packages, r"\begin{document}", *tables, r"\end{document}"]
    (tmp_path / "all.tex").write_text("\n".join(lines), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    for _ in range(3):  # longtable looks up its widths in what it wrote the last time
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="latin-1", check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


@pytest.mark.parametrize("width", [40, 60, 80])
def test_nothing_is_cut_off_in_a_narrow_terminal(width: int) -> None:
    out = StringIO()
    lines = compare("table1", SUMMARIES)
    show("Title", lines, Console(file=out, width=width))
    assert "…" not in out.getvalue()
    for line in lines:
        assert all(word in out.getvalue() for word in (METHODS[line.method], f"{line.published.mean:.2f} ±"))
