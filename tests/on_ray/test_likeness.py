"""Machines that would not compute the same are refused in a sentence."""

import importlib.util
from pathlib import Path

import pytest

from superfed.deploy.ray.likeness import PACKAGES, asking, difference

FILES = "superfed's files"
MINE = {"python": "3.11", "superfed": "1.0", "torch": "2.13.0", "numpy": "2.3.5", "numba": None}


def test_other_files_of_the_same_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = asking()(PACKAGES)
    (tmp_path / "superfed").mkdir()
    (tmp_path / "superfed" / "__init__.py").write_text("changed = True\n")
    spec = importlib.util.spec_from_file_location("superfed", tmp_path / "superfed" / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    problem = difference(mine, asking()(PACKAGES))
    assert problem is not None
    assert problem.startswith("has superfed's files ")
    assert f"({mine[FILES]} here); runs that move" in problem


def test_like_machines() -> None:
    assert difference(MINE, dict(MINE)) is None
    assert difference(asking()(PACKAGES), asking()(PACKAGES)) is None


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        ({"superfed": None}, "has no superfed; install superfed 1.0 there"),
        ({"torch": "2.11.0"}, "has torch 2.11.0 (2.13.0 here); runs that move between such machines would not stay"),
        ({"numba": "0.68"}, "has numba 0.68 (none here); runs that move"),
        ({"numpy": None}, "has numpy not at all (2.3.5 here); runs that move"),
    ],
)
def test_unlike_machines(theirs: dict[str, str | None], words: str) -> None:
    problem = difference(MINE, MINE | theirs)
    assert problem is not None
    assert problem.startswith(words)
