"""superfed report: one page about any runs, or one sentence."""

import shutil
from pathlib import Path

from conftest import Program


def test_it_writes_the_page_that_the_experiment_has(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    done = superfed("report", experiment, "-o", tmp_path / "page.html")
    assert done.returncode == 0
    assert done.stdout.startswith(f"page: {tmp_path / 'page.html'} (0.")
    assert (tmp_path / "page.html").read_bytes() == (experiment / "report.html").read_bytes()


def test_some_runs_and_without_a_name_for_the_page(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    run = experiment / "superfed-mm-seed0"
    done = superfed("report", run, run, cwd=tmp_path)
    assert done.returncode == 0
    text = (tmp_path / "report.html").read_text()
    assert "1 run of SuPerFed-MM, seed 0" in text
    assert "FedAvg" not in text


def test_what_cannot_be_shown_is_said_in_a_sentence(superfed: Program, experiment: Path, tmp_path: Path) -> None:
    shutil.copytree(experiment / "fedavg-seed0", tmp_path / "unfinished")
    (tmp_path / "unfinished" / "summary.json").unlink()
    cases = {
        (tmp_path / "nowhere",): "there is no such folder",
        (tmp_path,): "is no run and no experiment",
        (tmp_path / "unfinished",): "has no results to show yet, after 3 rounds",
        (experiment, "-o", tmp_path): "is a folder; name a file",
        (experiment, "-o", experiment / "experiment.json" / "x.html"): "cannot be written",
    }
    for arguments, words in cases.items():
        done = superfed("report", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
        assert done.stderr.startswith("superfed: ")
        assert done.stderr.strip().count("\n") == 0
