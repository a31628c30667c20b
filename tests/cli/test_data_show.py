"""superfed data show, as a user calls it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import Program

PATHOLOGICAL = ("demo", "data.num_clients=10", "data.partition=pathological")


def test_it_draws_on_the_terminal(superfed: Program) -> None:
    done = superfed("data", "show", *PATHOLOGICAL)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "digits, 10 clients, pathological"
    assert "seed 0 (seeds 1, 2: dealt anew by the same settings)" in " ".join(lines[:4])
    assert sum(line[:6].strip().isdigit() for line in lines) == 10
    assert "samples: 10 clients hold 1,797 samples of 10 classes" in lines
    assert "\x1b" not in done.stdout


def test_columns_are_heeded(superfed: Program) -> None:
    environment = os.environ | {"COLUMNS": "50"}
    command = [sys.executable, "-m", "superfed.cli.main", "data", "show", *PATHOLOGICAL]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert max(map(len, done.stdout.splitlines())) <= 50


def test_each_way_of_dealing_once_in_every_form(superfed: Program, tmp_path: Path) -> None:
    changes = ("demo", "data.partition=[{name: dirichlet, alpha: [0.1, 10]}, iid]")
    expected = [
        "digits, 20 clients, dirichlet, alpha=0.1",
        "digits, 20 clients, dirichlet, alpha=10.0",
        "digits, 20 clients, iid",
    ]
    svg = superfed("data", "show", *changes, "--out", tmp_path / "all.svg")
    assert [line for line in svg.stdout.splitlines() if line.startswith("digits,")] == expected
    assert svg.stdout.splitlines()[-1] == f"picture: {tmp_path / 'all.svg'}"
    drawn = ElementTree.fromstring((tmp_path / "all.svg").read_text())
    assert [text.text for text in drawn.iter() if text.attrib.get("class") == "heading"] == expected
    html = superfed("data", "show", *changes, "--json", "--out", tmp_path / "all.html")
    assert html.stderr == f"picture: {tmp_path / 'all.html'}\n"
    page = (tmp_path / "all.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert all(f"<h2>{title}</h2>" in page for title in expected)
    settings = json.loads(html.stdout)
    assert [one["data"]["partition"]["name"] for one in settings] == ["dirichlet", "dirichlet", "iid"]
    assert settings[0]["summary"]["label_skew"] > settings[1]["summary"]["label_skew"]
    assert all(len(one["clients"]) == 20 and one["seeds"] == [0, 1, 2] for one in settings)


def test_the_first_clients(superfed: Program) -> None:
    done = superfed("data", "show", "scale", "data.num_clients=500", "--clients", 3)
    assert "The first 3 of 500 clients:" in done.stdout
    assert superfed("data", "show", "demo", "--clients", 400).returncode == 0  # more than there are


def test_a_hundred_thousand_clients(superfed: Program, tmp_path: Path) -> None:
    done = superfed("data", "show", "scale", "--out", tmp_path / "many.SVG")
    assert "20 of 100,000 clients, evenly spaced:" in done.stdout
    assert "samples: 10,000 of 100,000 clients, drawn at random, hold" in done.stdout
    assert "10,000 of 100,000 clients, drawn at random" in (tmp_path / "many.SVG").read_text()


def test_no_model_needs_to_fit(superfed: Program) -> None:
    assert (
        superfed(
            "data", "show", "demo", "data.num_clients=3", "data.partition=iid", "training.clients_per_round=5"
        ).returncode
        == 0
    )


MISTAKES = [
    (["demo", "--out", "x.pdf"], "--out: x.pdf must end in .html or .svg"),
    (["demo", "--out", "nowhere/x.svg"], "--out: the folder nowhere does not exist"),
    (["demo", "--clients", "0"], "--clients: must be from 1 to 400, not 0"),
    (["demo", "--clients", "401"], "--clients: must be from 1 to 400, not 401"),
    (["nothing"], "nothing: is no file, and no shipped config; those are"),
    (["demo", "data.partition.alpa=1", "--out", "x.svg"], "data.partition.alpa: unknown"),
    (["demo", "data.num_clients=5000", "--out", "x.svg"], "data.num_clients: "),
    (["demo", "data.partition={name: dirichlet, alpha: 0}"], "data.partition.alpha: must be above 0, got 0.0"),
    (["mnist", "--data-root", "nowhere"], "mnist: "),
]


@pytest.mark.parametrize(("words", "sentence"), MISTAKES, ids=[sentence for _, sentence in MISTAKES])
def test_a_mistake_is_one_sentence(superfed: Program, words: list[str], sentence: str, tmp_path: Path) -> None:
    done = superfed("data", "show", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: {sentence}"), done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_one_sentence(superfed: Program, tmp_path: Path) -> None:
    (tmp_path / "taken.svg").mkdir()
    done = superfed("data", "show", "demo", "--out", tmp_path / "taken.svg")
    assert done.returncode == 2
    assert done.stderr.startswith(f"superfed: --out: {tmp_path / 'taken.svg'} is a folder")
